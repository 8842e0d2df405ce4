"""Results of several parts that differ with the call: tuples that flags make longer, records read like tuples.

`outputs = (x,)`, `if output_attentions: outputs += (weights,)`, `return Output(last=x)`: what every way has in common
stays known: the first items, and the attributes.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

from ...frozen import frozen
from ...trees import subtree
from .arguments import Arguments
from .presence import OptionalArray
from .sites import Abs, Static
from .values import Array, Const, Global, Int, NeedsRank, Real, Shape, ShapeOf, Slice, Tup, Unknown, Value

# Packages whose capitalised callables are no records.
_NO_RECORDS = ("jax.", "flax.", "numpy.", "optax.", "builtins.", "functools.", "collections.")


@frozen
class Bundle(Value):
    """A tuple, or a record that may be read as one, of which the first items and some attributes are known."""

    items: tuple[Value, ...] = ()
    names: tuple[tuple[str, Value], ...] = ()
    tail: tuple[Value, ...] = ()  # the last items

    def attribute(self, name: str) -> Value:
        return dict(self.names).get(name, Unknown(f"the attribute {name}"))

    def item(self, position: int) -> Value:
        if 0 <= position < len(self.items):
            return self.items[position]
        if -len(self.tail) <= position < 0:
            return self.tail[position]
        return Unknown("an item that may be there or not")


@frozen
class Changed(Bundle):
    """An argument that holds arrays, with some of them replaced: `graph._replace(nodes=h)`; `argument` says which it was."""

    argument: str = ""

    def attribute(self, name: str) -> Value:
        found = dict(self.names).get(name)
        return Array(Shape.argument(f"{self.argument}.{name}")) if found is None else found


def with_parts(value: Value, given: Mapping[str, Value]) -> Changed | None:
    """`obs.replace(state=h)` of an argument of the call, changed before or not; None for anything else."""
    whole = _as_changed(value)
    if whole is None or not given or any(_opaque(v) for v in given.values()):
        return None
    return Changed((), tuple({**dict(whole.names), **given}.items()), (), whole.argument)


def argument_of(value: Value) -> str:
    """The argument of the call that a value is, changed or as it came; "" for anything else."""
    whole = _as_changed(value)
    return "" if whole is None else whole.argument


def _as_changed(value: Value) -> Changed | None:
    """A changed argument; so is one as it came, of which nothing but its parts is known."""
    if isinstance(value, Changed):
        return value
    lead = value.shape.lead if type(value) is Array and not value.shape.dims else None
    whole = lead is not None and lead.known and not (lead.dropped or lead.head or lead.skipped)
    return Changed((), (), (), lead.argument) if lead is not None and whole and lead.argument[:1] != "=" else None


def _both_changed(a: Value, b: Value, merge: Any) -> Value | None:
    """What two records have in common of which one at least is a changed argument."""
    left, right = _as_changed(a), _as_changed(b)
    if left is not None and right is not None and left.argument == right.argument:
        names = dict.fromkeys([*dict(left.names), *dict(right.names)])
        return Changed((), tuple((n, merge(left.attribute(n), right.attribute(n))) for n in names), (), left.argument)
    return Unknown("a record that differs between branches")


def map_values(bundle: Bundle, change: Any) -> Bundle:
    """Apply `change` to every value in it; the same object where nothing changed."""
    items = tuple(change(item) for item in bundle.items)
    names = tuple((name, change(value)) for name, value in bundle.names)
    tail = tuple(change(item) for item in bundle.tail)
    pairs = [*zip(items, bundle.items), *zip(tail, bundle.tail), *((a[1], b[1]) for a, b in zip(names, bundle.names))]
    return bundle if all(a is b for a, b in pairs) else dataclasses.replace(bundle, items=items, names=names, tail=tail)


def _opaque(value: Value) -> bool:
    """Something that must not be lost sight of: a module in a tuple."""
    if isinstance(value, Tup):
        return any(_opaque(item) for item in value.items)
    return not isinstance(value, Array | Const | Int | Real | Bundle | ShapeOf | Unknown | Static | Global)


def common(a: Value, b: Value, merge: Any) -> Value | None:
    """What two tuples of different lengths, or a tuple and a record, have in common; None for anything else."""
    if isinstance(a, Changed) or isinstance(b, Changed):
        return _both_changed(a, b, merge)
    if not (isinstance(a, Tup | Bundle) and isinstance(b, Tup | Bundle)):
        return None
    if any(isinstance(v, Tup) and (_opaque(v) or v.kind != "tuple") for v in (a, b)):
        return None
    items = tuple(merge(x, y) for x, y in zip(a.items, b.items))
    ends = [v.items if isinstance(v, Tup) else v.tail for v in (a, b)]
    tail = tuple(merge(x, y) for x, y in zip(ends[0][::-1], ends[1][::-1]))[::-1]
    left = dict(a.names) if isinstance(a, Bundle) else {}
    right = dict(b.names) if isinstance(b, Bundle) else {}
    # A plain tuple has no attributes: whoever reads one has the record.
    names = {k: merge(left[k], right[k]) if k in left and k in right else {**left, **right}[k] for k in {**left, **right}}
    return Bundle(items, tuple(names.items()), tail)


def index(value: Bundle, key: Value) -> Value:
    """`outputs[0]`, `outputs[1:]`, `outputs["last"]`."""
    if isinstance(key, Int) and key.dim.value is not None:
        return value.item(key.dim.value)
    if isinstance(key, Const) and isinstance(key.value, str):
        return value.attribute(key.value)
    if isinstance(key, Slice) and key.step is None:
        bounds = [part.dim.value if isinstance(part, Int) else None for part in (key.start, key.stop)]
        start = 0 if key.start is None else bounds[0]
        if start is None or start < 0:
            return Unknown("a part of a tuple")
        if key.stop is None:
            return Bundle(value.items[start:], (), value.tail if start <= len(value.items) else ())
        if bounds[1] is not None and 0 <= bounds[1] <= len(value.items):
            return Tup(value.items[start : bounds[1]])
    return Unknown("a part of a tuple")


def added(left: Value, right: Value, node: ast.AST) -> Value | None:
    """`+` where one side is a tuple of unknown length; None for anything else."""
    if isinstance(left, Bundle):
        if isinstance(right, Tup) and not _opaque(right):
            return Bundle(left.items, (), (*left.tail, *right.items))
        if isinstance(right, Bundle):
            return Bundle(left.items, (), right.tail)
        return Bundle(left.items) if isinstance(right, Unknown) else None
    if isinstance(left, Tup) and isinstance(right, Bundle) and not _opaque(left):
        return Bundle((*left.items, *right.items), (), right.tail)
    if isinstance(left, Tup) and type(right) is Unknown and left.kind == "tuple" and not _opaque(left):
        # (x,) + something: only a tuple can be added to a tuple, unless it is an array.
        return Bundle(left.items) if not all(isinstance(i, Int) for i in left.items) else None
    if isinstance(left, Unknown) and isinstance(right, Tup) and isinstance(node, ast.BinOp) and right.items:
        # x.shape[:2] + (heads, size): how long it is in all is not known, how it ends is.
        dims = [item.dim if isinstance(item, Int) else None for item in right.items]
        if any(isinstance(n, ast.Attribute) and n.attr == "shape" for n in subtree(node.left)) and dims[-1] is not None:
            needs = getattr(left, "arguments", ())
            return ShapeOf(Shape(tuple(dims), Shape.unknown(*needs).lead))
    return None


def without_none(items: tuple[Value, ...], complete: bool) -> Value:
    """`tuple(v for v in items if v is not None)`."""
    kept: list[Value] = []
    for item in items:
        if isinstance(item, Const) and item.value is None:
            continue
        certain = isinstance(item, Array | Tup | Int | NeedsRank) and not isinstance(item, OptionalArray)
        if not certain:
            return Bundle(tuple(kept))
        kept.append(item)
    return Tup(tuple(kept)) if complete else Bundle(tuple(kept))


def filtered(node: ast.ListComp | ast.GeneratorExp | ast.SetComp, iterated: Value) -> Value | None:
    """The value of `v for v in items if v is not None`; None for any other comprehension."""
    if len(node.generators) != 1 or len(node.generators[0].ifs) != 1 or isinstance(node, ast.SetComp):
        return None
    generator = node.generators[0]
    test = generator.ifs[0]
    if not (
        isinstance(generator.target, ast.Name)
        and isinstance(node.elt, ast.Name)
        and node.elt.id == generator.target.id
        and isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == generator.target.id
        and isinstance(test.ops[0], ast.IsNot)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    ):
        return None
    if isinstance(iterated, Tup) and not _opaque(iterated):
        return without_none(iterated.items, True)
    return without_none(iterated.items, False) if isinstance(iterated, Bundle) else None


# Records ---------------------------------------------------------------------------------------------------------


def record(run: Any, qualname: str, arguments: Arguments, env: Any) -> Abs | None:
    """An instance of a class that only holds what it is given: a dataclass, a named tuple, a model's output.

    The constructor has it too, where it has what the record holds and nobody changes that later on.
    """
    if not qualname.rpartition(".")[2].lstrip("_")[:1].isupper() or qualname.startswith(_NO_RECORDS):
        return None
    if arguments.starred() or not (arguments.keywords or arguments.positional):
        return None
    found = _fields(run, qualname)
    if found is None:
        return None
    order, indexable = found
    given: dict[str, Value] = {}
    for name, (_, value) in zip(order, arguments.positional):
        given[name] = value.value
    if len(arguments.positional) > len(order):
        return None
    for key, _, value in arguments.keywords:
        assert key is not None
        given[key] = value.value
    if any(_opaque(value) for value in given.values()):
        return None
    items: tuple[Value, ...] = ()
    if indexable:
        listed = tuple(given.get(name, Const(None)) for name in (order or given))
        shown = without_none(listed, False)
        items = shown.items if isinstance(shown, Bundle) else ()
    kept = arguments.static and not indexable and _stays_as_made(run, arguments.node, env)
    return Abs(Bundle(items, tuple(given.items())), kept, arguments.flags)


def _stays_as_made(run: Any, made: ast.Call, env: Any) -> bool:
    """Does the text show that nothing changes the record: is it given to modules alone, and its attributes are read?"""
    parent = env.source.parents.get(made)
    if not isinstance(parent, ast.Assign):
        return _is_given_to_module(run, made, env)
    scope = env.source.function_of(made)
    if scope is None or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return False
    name = parent.targets[0].id
    uses = [n for n in subtree(scope) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return all(_is_read(use, env) or _is_given_to_module(run, use, env) for use in uses)


def _is_read(use: ast.Name, env: Any) -> bool:
    """`config.size`, which is neither assigned nor called, and of which nothing is changed in its turn."""
    node = env.source.parents.get(use)
    read = isinstance(node, ast.Attribute)
    while isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        use, node = node, env.source.parents.get(node)  # type: ignore[assignment]
    called = isinstance(node, ast.Call) and node.func is use
    changed = isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
    return read and not called and not changed


def _is_given_to_module(run: Any, node: ast.expr, env: Any) -> bool:
    """Is it an argument of a class of modules, as the text names it?"""
    call = env.source.parents.get(node)
    call = env.source.parents.get(call) if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    name = run.project.qualname(env.source, call.func)
    return name is not None and run.analyser.classes.get(name) is not None


def _fields(run: Any, qualname: str) -> tuple[list[str], bool] | None:
    """(field names in order, may it be indexed by position) of a class that only holds values; None if it is not one.

    A class from elsewhere is taken to be one where its name says so (`FlaxBaseModelOutput`): its own first argument
    is then its first item.
    """
    last = qualname.rpartition(".")[2]
    if run.project.definition(qualname) is None:
        inside = qualname.partition(".")[0] in {module.partition(".")[0] for module in run.project.files}
        return ([], True) if "Output" in last and not inside else None
    fields: list[str] = []
    indexable = holds = False
    waiting, seen = [qualname], set[str]()
    while waiting:
        name = waiting.pop(0)
        found = run.project.definition(name)
        if name in seen or found is None:
            last = name.rpartition(".")[2]
            indexable |= last == "NamedTuple" or "Output" in last
            holds |= last == "NamedTuple"
            continue
        seen.add(name)
        source, statement = found
        if not isinstance(statement, ast.ClassDef):
            return None
        marks = [d.func if isinstance(d, ast.Call) else d for d in statement.decorator_list]
        holds |= any((run.project.qualname(source, mark) or "").endswith("dataclass") for mark in marks)
        methods = {child.name for child in statement.body if isinstance(child, ast.FunctionDef)}
        indexable |= "__getitem__" in methods
        if methods & {"__init__", "__new__", "__post_init__"} and not indexable:
            return None
        own = [s.target.id for s in statement.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        fields = [*[name for name in own if name not in fields], *fields]  # those of a base come first
        waiting += [run.project.qualname(source, base) or ast.unparse(base) for base in statement.bases]
    return (fields, indexable) if holds and fields else None


__all__ = [
    "Bundle",
    "Changed",
    "added",
    "argument_of",
    "common",
    "filtered",
    "index",
    "map_values",
    "record",
    "with_parts",
]
