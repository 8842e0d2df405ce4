"""A function applied to several arrays: `q, k, v = map(split_heads, (q, k, v))`, `jax.tree.map(split, (q, k, v))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...catalog.tree_functions import TREE_MAPS
from ..lifted.lifting import lift_method
from ..shapes import shapes
from ..values.apart import run_apart
from ..values.arguments import Arguments, defaults_of, function_env, parameters_of
from ..values.sites import Abs, Function, Table, Unmigratable
from ..values.values import Array, Global, Tup, Unknown, Value


def over_items(run: Any, arguments: Arguments) -> Abs | None:
    """`map(f, items, ...)` where some of the items are arrays; None for anything else."""
    columns = [found.value for _, found in arguments.positional[1:]]
    if arguments.starred() or arguments.keywords or not columns or not all(isinstance(c, Tup) for c in columns):
        return None
    rows = list(zip(*[c.items for c in columns if isinstance(c, Tup)]))
    if not any(isinstance(value, Array) for row in rows for value in row):
        return None
    results = [_called(run, arguments, row) for row in rows]
    made = [value for value in results if value is not None]
    return Abs(Tup(tuple(made)), False, arguments.flags) if len(made) == len(rows) else None


def over_tree(run: Any, arguments: Arguments) -> Abs | None:
    """`jax.tree.map(f, tree, ...)` of tuples, lists and dicts of arrays."""
    if arguments.starred() or arguments.keywords or len(arguments.positional) < 2:
        return None
    found = _leaves(run, arguments, [given.value for _, given in arguments.positional[1:]])
    return Abs(found, False, arguments.flags) if found is not None else None


def _leaves(run: Any, arguments: Arguments, values: Sequence[Value]) -> Value | None:
    """`values`: the same place of every tree; the first tree says how far down the function is applied."""
    first = values[0]
    if isinstance(first, Array):
        return _called(run, arguments, values)
    if isinstance(first, Table):
        if not first.items or any(not isinstance(v, Table) or v.maybe for v in values):
            return None
        if any(run.holds_module(v) for v in values):
            return None
        if any(isinstance(v, Table) and v.items.keys() != first.items.keys() for v in values):
            return None
        parts = {key: [v.items[key] for v in values if isinstance(v, Table)] for key in first.items}
        found = {key: _leaves(run, arguments, row) for key, row in parts.items()}
        if all(item is None for item in found.values()):
            return None
        return Table({key: item or Unknown("what a function gives") for key, item in found.items()})
    if any(type(v) is not Tup for v in values) or not isinstance(first, Tup) or not first.items:
        return None
    rows = [v.items for v in values if isinstance(v, Tup)]
    if len({len(row) for row in rows}) > 1:
        return None
    items = [_leaves(run, arguments, row) for row in zip(*rows)]
    known = [item for item in items if item is not None]
    return Tup(tuple(known), first.kind) if len(known) == len(items) else None


def _called(run: Any, arguments: Arguments, row: Sequence[Value]) -> Value | None:
    """What the function gives for one item; None for functions that are not followed."""
    function = arguments.positional[0][1].value
    if any(run.holds_module(value) for value in row):
        return None
    values = [run.plain(value) for value in row]
    if isinstance(function, Global):
        return shapes.call(function.name, values, {})
    if not isinstance(function, Function) or function.node.args.vararg is not None:
        return None
    names = parameters_of(function.node)
    method = function.method
    if method is not None:
        if lift_method(run, method):
            return None
        names = names if "staticmethod" in method.decorators else names[1:]
        run.inlined.add(method)
    if len(values) > len(names):
        return None
    bound = {name: Abs(value) for name, value in zip(names, values)}
    for name, default in defaults_of(function.node).items():
        if name not in bound:
            bound[name] = run.constant(default, function.source)
    for name in names:
        bound.setdefault(name, Abs(Unknown(f"argument {name}")))
    before = len(run.sites)
    result = run_apart(run, function.node, function_env(run, function, bound))
    if len(run.sites) > before:
        where = arguments.node
        raise Unmigratable("NNX134", "modules are made in a function that is applied to several things", where)
    return result.value


__all__ = ["TREE_MAPS", "over_items", "over_tree"]
