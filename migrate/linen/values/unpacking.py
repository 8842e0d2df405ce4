"""`**mapping` and `*sizes` in the construction of a module: by keys and sizes where they are known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...names import is_attribute_name
from ...trees import subtree
from . import mutation
from .arguments import Arguments
from .sites import Abs, BoundArg, DimPart, Entry, Localized, Table, Unmigratable
from .values import Int, Tup, Value

Keyword = tuple[str, ast.expr, Abs]
# Layers whose every keyword means the same in NNX, so that an unknown mapping can be handed on: what NNX does not take
# raises a TypeError.
HANDED_ON = frozenset(
    f"flax.linen.{name}"
    for name in ("Dense", "Conv", "ConvTranspose", "LSTMCell", "OptimizedLSTMCell", "GRUCell", "MGUCell", "SimpleCell")
)
# Layers of which these keywords mean the same, and change no size: a mapping that holds no others is handed on.
_PLAIN_LAYERS = frozenset(
    f"flax.linen.{name}"
    for name in ("Conv", "ConvTranspose", "DenseGeneral", "Embed", "LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm")
)
# Norms: of an unknown mapping `linen_parity.norm_options` takes what means the same, and raises on all else.
NORMS = frozenset(f"flax.linen.{name}" for name in ("LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm"))
# Attention: of an unknown mapping `linen_parity.attention_options` takes initializers and the like.
_ATTENTION = frozenset(
    f"flax.linen.{name}" for name in ("MultiHeadDotProductAttention", "MultiHeadAttention", "SelfAttention")
)
_SPATIAL = ("strides", "padding", "input_dilation", "kernel_dilation")  # what an unknown mapping may say of a convolution
_PLAIN = frozenset(
    {"kernel_init", "bias_init", "scale_init", "embedding_init", "use_bias", "use_scale", "precision", "epsilon", "momentum"}
)


def entry(run: Any, node: ast.expr, found: Abs, env: Any) -> Entry:
    """An item of a dict, with what its expression reads as it is now."""
    names = {n.id for n in subtree(node) if isinstance(n, ast.Name)}
    return Entry(node, found, env.scope, {n: bound for n in names if (bound := env.get(n)) is not None})


def starred_sizes(run: Any, arguments: Arguments, env: Any) -> list[tuple[ast.expr, Abs] | BoundArg] | None:
    """The positional arguments of a construction, `*x.shape[-3:]` as the sizes that it stands for; None where those are
    not known, or the constructor keeps the words of `setup`."""
    found: list[tuple[ast.expr, Abs] | BoundArg] = []
    for node, given in arguments.positional:
        if not isinstance(node, ast.Starred):
            found.append((node, given))
            continue
        value = run.plain(given.value)
        if run.in_setup or run.apart or not isinstance(value, Tup):
            return None
        for item in value.items:
            if not isinstance(item, Int):
                return None
            span = env.source.span(node.value)
            said = Localized(span, env.source, ((span, (DimPart(item.dim),)),), frozenset())
            found.append(BoundArg(None, Abs(item, False, given.flags), said))
    return found


def unpacked(run: Any, target: str, arguments: Arguments, env: Any) -> tuple[list[Keyword], ast.expr | None]:
    """All keywords of a construction, those of mappings too; and a mapping that is handed on as it is."""
    found: list[Keyword] = []
    rest: list[ast.expr] = []
    for key, node, value in arguments.keywords:
        items = [(key, node, value)] if key is not None else _items(run, node, value, env)
        if items is None:
            rest.append(node)
        else:
            found += items
    twice = {k for k, _, _ in found if [k for k, _, _ in found].count(k) > 1}
    if twice or len(rest) > 1:
        raise Unmigratable("NNX137", f"`{ast.unparse(arguments.node.func)}` is given keywords twice", arguments.node)
    of_package = target in run.analyser.foreign.get(run.model.qualname, ())
    handed_on = target in HANDED_ON | NORMS | _ATTENTION or of_package or run.analyser.classes.get(target) is not None
    handed_on &= not any(_changed_later(run, mapping) for mapping in rest)
    if rest and not handed_on and not (target in _PLAIN_LAYERS and _holds_only(run, rest[0], env)):
        what = f"`{ast.unparse(arguments.node.func)}` is given `**{ast.unparse(rest[0])}`, whose keys are not known"
        raise Unmigratable("NNX137", what, arguments.node)
    return found, rest[0] if rest else None


def _items(run: Any, node: ast.expr, value: Abs, env: Any) -> list[Keyword] | None:
    """The items of a mapping that is written out in the same function, and whose expressions still mean the same."""
    if not isinstance(value.value, Table) or value.value.maybe or not _is_own(node):
        return None
    found: list[Keyword] = []
    for key, item in value.value.entries.items():
        if not isinstance(key, str) or not is_attribute_name(key):
            return None
        if isinstance(item.node, ast.Name) and item.node.id == "self":
            return None
        sized = isinstance(item.found.value, Int) and not item.found.static and not isinstance(item.node, ast.Name)
        changed = any(env.get(name) is not bound for name, bound in item.reads.items())
        if item.scope not in _scopes(env) or (changed and not sized):  # a size is said by its value
            return None
        found.append((key, item.node, item.found))
    return found if len(found) == len(value.value.items) else None


def options_part(run: Any, target: str, mapping: ast.expr | None, env: Any) -> str:
    """What of linen_parity takes a mapping of which the text does not show that all in it means the same in NNX, or ""."""
    if mapping is None or target not in NORMS | _ATTENTION or _holds_only(run, mapping, env):
        return ""
    return "norm_options" if target in NORMS else "attention_options"


def sizes_left_open(run: Any, mapping: ast.expr, env: Any) -> tuple[str, ...]:
    """The keywords by which a mapping that is handed on may decide the sizes of what a convolution gives."""
    table = _attribute(run, mapping)
    if table is not None:
        return tuple(key for key in _SPATIAL if key in table.items)
    return () if _holds_only(run, mapping, env) else _SPATIAL


def _attribute(run: Any, mapping: ast.expr) -> Table | None:
    """The dict that `setup` keeps in an attribute, where it is written out and nothing of the class changes it."""
    if not isinstance(mapping, ast.Attribute) or ast.unparse(mapping.value) != "self":
        return None
    held = run.attributes.get(mapping.attr)
    if held is None or not isinstance(held.value, Table) or held.value.maybe or _changed_later(run, mapping):
        return None
    for method in run.model.methods().values():
        for node in method.nodes:
            if isinstance(node, ast.Attribute) and node.attr == mapping.attr and isinstance(node.ctx, ast.Load):
                parent = method.source.parents.get(node)
                if not isinstance(parent, ast.keyword) or parent.arg is not None:
                    return None  # it may be changed there
    return held.value


def _changed_later(run: Any, mapping: ast.expr) -> bool:
    """Is it an attribute of which Linen keeps a copy, made of a dict that `setup` changes by another name as well?"""
    setup = run.model.method("setup")
    if setup is None or not isinstance(mapping, ast.Attribute):
        return False
    changed = mutation.changed_anywhere(setup.node)
    for node in setup.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in changed:
            if any(ast.unparse(target) == ast.unparse(mapping) for target in node.targets):
                return True
    return False


def _holds_only(run: Any, mapping: ast.expr, env: Any) -> bool:
    """Does the text show that a mapping holds no other keywords: `kw = {"kernel_init": zeros} if self.zero else {}`?"""
    table = _attribute(run, mapping)
    if table is not None:
        return table.items.keys() <= _PLAIN
    if not isinstance(mapping, ast.Name):
        return _shown(mapping)
    name, around = mapping.id, [a for a in env.source.ancestors(mapping) if isinstance(a, ast.FunctionDef | ast.Lambda)]
    if not around or not isinstance(around[0], ast.FunctionDef):
        return False
    if env.source.names.binding_scope(name, mapping) is not around[0]:
        return False
    for node in subtree(around[0]):
        if isinstance(node, ast.arg) and node.arg == name:
            return False
        if not isinstance(node, ast.Name) or node.id != name or node is mapping:
            continue
        parent = env.source.parents[node]
        if isinstance(node.ctx, ast.Load):
            if (isinstance(parent, ast.keyword) and parent.arg is None) or _adds(env.source, parent):
                continue
            return False  # it may be changed there
        if not isinstance(parent, ast.Assign | ast.AnnAssign) or parent.value is None or not _shown(parent.value):
            return False
    return True


def _adds(source: Any, use: ast.AST) -> bool:
    """`kw["use_bias"] = False`, `kw.update(use_bias=False)`: is one of these keywords given a value there?"""
    if isinstance(use, ast.Subscript):
        assigned = isinstance(use.ctx, ast.Store) and isinstance(source.parents[use], ast.Assign)
        return assigned and isinstance(use.slice, ast.Constant) and use.slice.value in _PLAIN
    call = source.parents.get(use)
    if not isinstance(use, ast.Attribute) or use.attr != "update" or not isinstance(call, ast.Call):
        return False
    alone = isinstance(source.parents[call], ast.Expr)
    return alone and all(_shown(a) for a in call.args) and {k.arg for k in call.keywords} <= _PLAIN


def _shown(value: ast.expr) -> bool:
    """Is it a dict, or one of two, with these keys alone?"""
    if isinstance(value, ast.IfExp):
        return _shown(value.body) and _shown(value.orelse)
    if isinstance(value, ast.Call):
        keys = {k.arg for k in value.keywords}
        return isinstance(value.func, ast.Name) and value.func.id == "dict" and not value.args and keys <= _PLAIN
    return isinstance(value, ast.Dict) and all(isinstance(k, ast.Constant) and k.value in _PLAIN for k in value.keys)


def _is_own(node: ast.expr) -> bool:
    """A dict written out, or the name of one: a call may give another each time."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "dict"
    return isinstance(node, ast.Name | ast.Dict)


def _scopes(env: Any) -> Sequence[object]:
    found = []
    while env is not None:
        found.append(env.scope)
        env = env.parent
    return found


def merged(tables: Sequence[Table]) -> Table:
    """One dict from several, the last one first."""
    items: dict[object, Any] = {}
    entries: dict[object, Entry] = {}
    maybe: set[object] = set()
    for table in tables:
        for key in table.items:
            entries.pop(key, None)
        items.update(table.items)
        entries.update(table.entries)
        maybe = (maybe - (table.items.keys() - table.maybe)) | table.maybe
    return Table(items, entries, frozenset(maybe))


def of_either(a: Value, b: Value) -> Table | None:
    """A dict that has more items on one side of a condition than on the other; None for anything else."""
    if not isinstance(a, Table) or not isinstance(b, Table):
        return None
    if any(a.items[key] != b.items[key] for key in a.items.keys() & b.items.keys()):
        return None
    one_sided = frozenset(a.items.keys() ^ b.items.keys())
    return Table({**a.items, **b.items}, {**a.entries, **b.entries}, a.maybe | b.maybe | one_sided)


def dict_call(run: Any, arguments: Arguments, env: Any) -> Abs | None:
    """`dict(a=1, **other)`, `dict(table, a=1)`; None where a part is not known."""
    tables: list[Table] = []
    for _, value in arguments.positional:
        if not isinstance(value.value, Table):
            return None
        tables.append(value.value)
    for key, node, value in arguments.keywords:
        if key is not None:
            tables.append(Table({key: value.value}, {key: entry(run, node, value, env)}))
        elif isinstance(value.value, Table):
            tables.append(value.value)
        else:
            return None
    return Abs(merged(tables), arguments.static, arguments.flags)
