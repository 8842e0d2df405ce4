"""Lists, dicts and states as attributes of early NNX modules."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..nnx.program.early import Types, is_self_attribute
from ..nnx.text.branches import exclusive
from ..rule import Example, Rule
from ..trees import subtree

RULE = Rule(
    code="NNX907",
    name="nnx-container",
    summary="containers of modules or variables are nnx.List, nnx.Dict or nnx.data",
    what="Wraps a list, dict, tuple or State of modules or variables that an nnx.Module keeps in an attribute, and a"
    " None that a later assignment replaces by a module.",
    why="Since flax 0.12 a module's attribute is either data or static: a plain container with arrays in it raises.",
    how_sure="by construction; containers whose contents are not known are left",
    examples=(
        Example(
            title="lists and dicts",
            before="""\
from flax import nnx


class Net(nnx.Module):
    def __init__(self, n, rngs: nnx.Rngs):
        self.head: nnx.Linear | None = None
        self.layers = [nnx.Linear(2, 2, rngs=rngs) for _ in range(n)]
        self.more = []
        for _ in range(n):
            self.more.append(nnx.Linear(2, 2, rngs=rngs))
        self.named = {'a': nnx.Linear(2, 2, rngs=rngs)}
        self.filled = {}
        for name in 'bc':
            self.filled[name] = nnx.Linear(2, 2, rngs=rngs)
        self.head = nnx.Linear(2, 1, rngs=rngs)
        self.sizes = [1, 2]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        for layer in self.more:
            x = layer(x)
        return self.head(self.filled['b'](self.named['a'](x)))


net = Net(2, nnx.Rngs(0))
paths = [path for path, _ in nnx.to_flat_state(nnx.state(net))]
""",
            after="""\
from flax import nnx


class Net(nnx.Module):
    def __init__(self, n, rngs: nnx.Rngs):
        self.head: nnx.Linear | None = nnx.data(None)
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(n)])
        self.more = nnx.List([])
        for _ in range(n):
            self.more.append(nnx.Linear(2, 2, rngs=rngs))
        self.named = nnx.Dict({'a': nnx.Linear(2, 2, rngs=rngs)})
        self.filled = nnx.Dict({})
        for name in 'bc':
            self.filled[name] = nnx.Linear(2, 2, rngs=rngs)
        self.head = nnx.Linear(2, 1, rngs=rngs)
        self.sizes = [1, 2]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        for layer in self.more:
            x = layer(x)
        return self.head(self.filled['b'](self.named['a'](x)))


net = Net(2, nnx.Rngs(0))
paths = [path for path, _ in nnx.to_flat_state(nnx.state(net))]
""",
            run="""\
def check(before, after):
    assert ('layers', 1, 'kernel') in after['paths'] and ('named', 'a', 'bias') in after['paths']
    assert after['net'](after['nnx'].initializers.ones(after['nnx'].Rngs(0)(), (1, 2))).shape == (1, 1)
""",
        ),
    ),
    words=frozenset({"nnx"}),  # also of files that use what others, which say it, define
)


@RULE.register(ast.ClassDef)
def containers(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.ClassDef)
    types = Types.of(ctx)
    if node not in types.classes.values() or any(ctx.qualname(base) == "flax.nnx.Object" for base in node.bases):
        return
    if any(k.arg == "pytree" for k in node.keywords):
        return
    for stmt in subtree(node):
        if isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
            target: ast.expr = stmt.target
        elif isinstance(stmt, ast.Assign) and len(stmt.targets) == 1:
            target = stmt.targets[0]
        else:
            continue
        if not is_self_attribute(target):
            continue
        assert isinstance(target, ast.Attribute) and stmt.value is not None
        wrapper = _wrapper(stmt.value, target.attr, node, types, ctx)
        if wrapper:
            ctx.replace(stmt.value, f"{ctx.name('flax.nnx')}.{wrapper}(", ctx.span(stmt.value), ")", code=RULE.code)


def _wrapper(value: ast.expr, attribute: str, cls: ast.ClassDef, types: Types, ctx: FileContext) -> str:
    if isinstance(value, ast.Constant) and value.value is None:
        others = [v for v in types.attribute_values(cls, attribute) if v is not value and not exclusive(v, value, cls)]
        given = any(_is_data(v, known) for v, known in types.values_from_outside(cls, attribute))
        return "data" if given or any(_is_data(v, types) for v in others) else ""
    if isinstance(value, ast.List) and not value.elts:
        return "List" if _appended(attribute, cls, types) else ""
    if isinstance(value, ast.List) and any(_is_data(item, types) for item in value.elts):
        return "List"
    if isinstance(value, ast.ListComp) and _is_data(value.elt, types):
        return "List"
    if isinstance(value, ast.Tuple) and any(_is_data(item, types) for item in value.elts):
        return "data"
    if isinstance(value, ast.Dict) and not value.keys:
        return "Dict" if _filled(attribute, cls, types) else ""
    if isinstance(value, ast.Dict) and any(_is_data(item, types) for item in value.values):
        return "Dict"
    if isinstance(value, ast.DictComp) and _is_data(value.value, types):
        return "Dict"
    found = types.kind(value)
    if found is not None and found.what == "state" and ctx.qualname(getattr(value, "func", value)) != "flax.nnx.data":
        return "data"
    return ""


def _is_data(value: ast.expr, types: Types) -> bool:
    found = types.kind(value)
    return found is not None and found.what in ("model", "variable", "number", "state")


def _appended(attribute: str, cls: ast.ClassDef, types: Types) -> bool:
    for node in subtree(cls):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr == "append" and is_self_attribute(node.func.value, attribute):
                return _is_data(node.args[0], types)
    return False


def _filled(attribute: str, cls: ast.ClassDef, types: Types) -> bool:
    """`self.heads[name] = nnx.Linear(...)`"""
    for node in subtree(cls):
        if isinstance(node, ast.Assign) and _is_data(node.value, types):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and is_self_attribute(target.value, attribute):
                    return True
    return False
