"""Lists that `setup` fills bit by bit: single items, and what the passes of loops append, in their order.

    layers = [nn.Dense(8)]                      Chain((Dense, Repeated(Cycle((Dense, relu)))))
    for width in self.widths:
      layers.append(nn.Dense(width))
      layers.append(nn.relu)

What goes through such a list (a loop, nn.Sequential) sees its items one after the other, each with what the one before
it gave.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

from ...frozen import frozen
from ...trees import subtree
from ..shapes.shape_keeping import keeps_shape
from ..values.environment import Env
from ..values.presence import Step, step_of
from ..values.sites import Abs, Function, Module, Repeated
from ..values.values import Array, Global, Int, Shape, Slice, Tup, Unknown, Value
from .conditional_items import Sometimes, counted, filled, run_items


@frozen(eq=False)
class Cycle(Value):
    """What every pass of a loop appends, in this order."""

    items: tuple[Value, ...]


@frozen(eq=False)
class Chain(Value):
    """A list of items and of `Repeated` ones."""

    parts: tuple[Value, ...]


def parts_of(value: Value) -> tuple[Value, ...] | None:
    """The parts of a list that may be one of these; None for anything else."""
    if isinstance(value, Chain):
        return value.parts
    if isinstance(value, Repeated):
        return (value,) if value.in_order and not value.part and value.kind == "list" else None
    return value.items if isinstance(value, Tup) else None


def joined(parts: tuple[Value, ...], kind: str = "list") -> Value:
    """The list of these parts, as simply as it can be said."""
    if not any(isinstance(part, Repeated | Sometimes) for part in parts):
        return Tup(parts, kind)
    return parts[0] if len(parts) == 1 else Chain(parts)


def appended(run: Any, old: Value, added: Value) -> Value:
    """A list of `setup` after `append(added)`."""
    parts = parts_of(old)
    if parts is None:
        return Unknown("a list that is not known")
    if not run.running_loops:
        return joined((*parts, added), getattr(old, "kind", "list"))
    loop = run.running_loops[-1]
    steps = tuple(run.path[run.loop_depths[-1] :])
    if any(_is_changed(loop, name) for step in steps for name in step.deps):
        return Unknown("a list that grows under conditions whose names a pass changes")
    last = parts[-1] if parts else None
    if isinstance(last, Repeated) and last.grown is not None:
        node, path = last.grown
        if node is loop and path == tuple(run.path):
            grown = dataclasses.replace(last, element=Cycle((*_items(last), added)))
            return joined((*parts[:-1], grown))
        if node is loop and not last.turned:
            more = (*_perhaps_items(last), *_perhaps((added,), steps))
            return joined((*parts[:-1], _of_all_passes(run, last, more)))
        if any(inner is node for inner in subtree(loop)):  # in a loop of this loop
            return Unknown("a list that grows in several ways in one loop")
    if len(run.running_loops) > 1 and parts:
        return Unknown("a list that grows in several loops around one another")
    return joined((*parts, dataclasses.replace(repeated(run, added), under=steps)))


def _is_changed(loop: ast.AST, name: str) -> bool:
    """Has a name more than one meaning in a pass?"""
    stores = [n for n in subtree(loop) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    return len(stores) > 1


def _items(part: Repeated) -> tuple[Value, ...]:
    return part.element.items if isinstance(part.element, Cycle) else (part.element,)


def _perhaps(items: tuple[Value, ...], steps: tuple[Step, ...]) -> tuple[Value, ...]:
    """Items that a pass appends under some conditions."""
    for step in reversed(steps):
        items = tuple(Sometimes(item, step) for item in items)
    return items


def _perhaps_items(part: Repeated) -> tuple[Value, ...]:
    """What a pass appends, each item with its conditions."""
    return _perhaps(_items(part), part.under)


def _of_all_passes(run: Any, part: Repeated, items: tuple[Value, ...]) -> Repeated:
    """The same part with these items, whose conditions they say themselves."""
    grown = (run.running_loops[-1], tuple(run.path[: run.loop_depths[-1]]))
    return dataclasses.replace(part, element=Cycle(items), grown=grown, under=())


def repeated(run: Any, added: Value, turned: bool = False) -> Repeated:
    """The items that a loop adds, one in every pass."""
    grown = (run.running_loops[-1], tuple(run.path)) if run.running_loops else None
    return Repeated(added, run.loops[-1] if run.loops else None, turned=turned, grown=grown)


def either_in_pass(run: Any, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, env: Env) -> Cycle | None:
    """What `[nn.Dense(n) if i % 2 == 0 else nn.relu for i in range(k)]` adds in a pass, whose item was evaluated: either
    side under its condition; None for other items.
    """
    item = node.elt
    if not isinstance(item, ast.IfExp) or not isinstance(node, ast.ListComp) or len(node.generators) != 1:
        return None
    test, *sides = (run.evaluated.get(part) for part in (item.test, item.body, item.orelse))
    if test is None or None in sides or not any(isinstance(side.value, Module) for side in sides):
        return None
    if not all(isinstance(side.value, Module | Function | Global) for side in sides):
        return None
    steps = step_of(run, item.test, test, "", env)
    if steps is None:
        return None
    return Cycle(tuple(Sometimes(side.value, step) for side, step in zip(sides, steps)))


def extended(run: Any, a: Value, b: Value) -> Value | None:
    """`a + b` of lists of `setup`; None where they cannot be followed."""
    left, right = parts_of(a), parts_of(b)
    if left is None or right is None:
        return None
    if not run.running_loops:
        return joined((*left, *right), getattr(a, "kind", "list"))
    if any(isinstance(part, Repeated) for part in right):
        return None
    for item in right:
        a = appended(run, a, item)
    return a


def merged(run: Any, a: Value, b: Value, sides: tuple[Step, Step] | None) -> Value | None:
    """A list to which the sides of a condition added items; None for anything else."""
    parts, others = parts_of(a), parts_of(b)
    if parts is None or others is None or sides is None:
        return None
    if run.running_loops:
        return _merged_in_loop(run, parts, others)
    if not any(run.modules_in(a)) and not any(run.modules_in(b)):
        return None
    found = filled(parts, others, sides, not run.in_setup)
    return Chain(found) if found is not None else None


def _merged_in_loop(run: Any, parts: tuple[Value, ...], others: tuple[Value, ...]) -> Value | None:
    """A list to which a pass of a loop appends under a condition: the items know under which."""
    own = [_grown_here(run, side) for side in (parts, others)]
    rest = [side[:-1] if part is not None else side for side, part in zip((parts, others), own)]
    if len(rest[0]) != len(rest[1]) or any(x is not y for x, y in zip(*rest)) or own == [None, None]:
        return None
    one, other = own
    if one is None or other is None:
        return joined((*rest[0], one or other or Unknown("")))
    items, more = _perhaps_items(one), _perhaps_items(other)
    same = 0
    while same < min(len(items), len(more)) and _is_same(items[same], more[same]):
        same += 1
    return joined((*rest[0], _of_all_passes(run, one, (*items, *more[same:]))))


def _grown_here(run: Any, parts: tuple[Value, ...]) -> Repeated | None:
    """The last part of a list, where it is what passes of the present loop appended."""
    last = parts[-1] if parts else None
    here = isinstance(last, Repeated) and last.grown is not None and last.grown[0] is run.running_loops[-1]
    return last if here and isinstance(last, Repeated) and not last.turned else None


def _is_same(a: Value, b: Value) -> bool:
    if isinstance(a, Sometimes) and isinstance(b, Sometimes):
        return a.step == b.step and _is_same(a.item, b.item)
    return a is b


def item(run: Any, value: Chain, key: Value) -> Value:
    """`layers[0]`, `layers[-1]`, `layers[1:]`, where single items stand at that end."""
    parts = counted(run, value.parts)
    position = key.dim.value if isinstance(key, Int) else None
    if position is not None and -len(parts) <= position < len(parts):
        before = parts[: position + 1] if position >= 0 else parts[position:]
        if not any(isinstance(part, Repeated | Sometimes) for part in before):
            return parts[position]
        return Unknown("an item of a list")
    if not all(isinstance(part, Repeated) or part is old for part, old in zip(parts, value.parts)):
        return Unknown("an item of a list")
    if isinstance(key, Slice) and key.step is None:
        start = key.start.dim.value if isinstance(key.start, Int) else 0 if key.start is None else None
        stop = key.stop.dim.value if isinstance(key.stop, Int) else 0 if key.stop is None else None
        if start is not None and stop is not None and start >= 0 >= stop and start - stop < len(value.parts):
            end = len(value.parts) + stop
            if not any(isinstance(part, Repeated | Sometimes) for part in (*value.parts[:start], *value.parts[end:])):
                return joined(value.parts[start:end])
    return Unknown("an item of a list")


def listed(run: Any, iterator: ast.expr, iterated: Abs) -> tuple[Value, bool] | None:
    """(the list, is it counted) of a loop over one of these, or over its enumeration; None for another loop."""
    counted = is_enumerated(iterator)
    inner = iterator.args[0] if isinstance(iterator, ast.Call) and counted and len(iterator.args) == 1 else iterator
    value = run.evaluated[inner].value if inner is not iterator and inner in run.evaluated else iterated.value
    several = isinstance(value, Repeated) and (isinstance(value.element, Cycle) or value.under or _is_cut(run, inner))
    if isinstance(value, Chain) or (several and (parts_of(value) is not None or _is_turned(value))):
        return value, counted
    together = _zipped(run, inner)
    return (together, counted) if together is not None else None


def _is_turned(value: Value) -> bool:
    """Is it all of what passes of a loop appended, from its end: `reversed(self.flows)`?"""
    return isinstance(value, Repeated) and value.turned and not value.part and isinstance(value.element, Cycle)


def without_last(run: Any, value: Value, env: Env) -> Value | None:
    """A list without its last item, a function that changes no shape and that every pass appends behind its modules:

        for width in self.widths:
          layers += [nn.Dense(width), nn.relu]
        nn.Sequential(layers[:-1])

    Sizes are those along the whole list. None for anything else.
    """
    if not isinstance(value, Repeated) or not isinstance(value.element, Cycle) or parts_of(value) is None or value.under:
        return None
    *before, last = value.element.items
    if not before or not keeps_shape(run, last, Array(Shape.unknown()), env):
        return None
    return value


def is_all_but_one(key: Slice) -> bool:
    """`[:-1]`"""
    return key.start is None and key.step is None and isinstance(key.stop, Int) and key.stop.dim.value == -1


def _is_cut(run: Any, node: ast.expr) -> bool:
    """Is it what is left of such a list without its ends: `layers[:-1]`, behind which a single item stands?"""
    cut = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.value in run.evaluated
    return cut and isinstance(node, ast.Subscript) and isinstance(run.evaluated[node.value].value, Chain)


def is_enumerated(iterator: ast.expr) -> bool:
    """`enumerate(layers)`, `enumerate(layers, 1)`"""
    named = isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and iterator.func.id == "enumerate"
    return named and bool(iterator.args) and not isinstance(iterator.args[0], ast.Starred)  # type: ignore[attr-defined]


def _zipped(run: Any, iterator: ast.expr) -> Chain | None:
    """`zip(downs, convs)` of lists that are filled alike, item by item and loop by loop."""
    if not isinstance(iterator, ast.Call) or not isinstance(iterator.func, ast.Name) or iterator.func.id != "zip":
        return None
    if iterator.keywords or not all(argument in run.evaluated for argument in iterator.args):
        return None
    values = [run.evaluated[argument].value for argument in iterator.args]
    if len(values) < 2 or not all(isinstance(v, Chain) and len(v.parts) == len(values[0].parts) for v in values):
        return None
    parts: list[Value] = []
    for one in zip(*[value.parts for value in values]):
        if not any(isinstance(part, Repeated | Sometimes) for part in one):
            parts.append(Tup(one))
            continue
        if not all(isinstance(part, Repeated) and not isinstance(part.element, Cycle) for part in one):
            return None
        plain = all(part.in_order and not part.part and not part.under and part.loop is one[0].loop for part in one)
        if not plain or one[0].loop is None:
            return None
        parts.append(dataclasses.replace(one[0], element=Tup(tuple(part.element for part in one))))
    return Chain(tuple(parts))


def run_through(
    run: Any,
    node: ast.For | ast.comprehension,
    target: ast.expr,
    iterator: ast.expr,
    env: Env,
    body: Callable[[Env], None],
    value: Value,
    counted: bool = False,
) -> None:
    """Execute a loop body for the items of such a list, one after the other."""

    def one(part: Value, inner: Env) -> None:
        element: Value = Tup((Unknown("the number of a pass"), part)) if counted else part
        run.bind(target, Abs(element), inner)
        body(inner)

    for part in (value,) if _is_turned(value) else parts_of(value) or ():
        if not isinstance(part, Repeated):
            run_items(run, (part,), env, one)
            continue
        items = _perhaps_items(part)[:: -1 if part.turned else 1]

        def passed(inner: Env, items: tuple[Value, ...] = items) -> None:
            run_items(run, items, inner, one)

        run.loop(node, target, iterator, env, passed, over=Abs(part))


def sequence(run: Any, value: Value, first: Value, call: Callable[[Value, Value], Value], source: Any) -> Value:
    """What the items of a list give, each called with what the one before gave, the first with `first`."""
    loop = ast.parse("for item in items:\n  result = item(result)").body[0]
    assert isinstance(loop, ast.For)
    env = Env({"items": Abs(value), "result": Abs(first), "item": Abs(Unknown("an item"))}, source)
    run.evaluated[loop.iter] = Abs(value)

    def body(inner: Env) -> None:
        inner.names["result"] = Abs(call(inner.names["item"].value, inner.names["result"].value))

    run_through(run, loop, loop.target, loop.iter, env, body, value)
    return env.names["result"].value


__all__ = [
    "Chain",
    "Cycle",
    "appended",
    "extended",
    "is_all_but_one",
    "is_enumerated",
    "item",
    "joined",
    "listed",
    "merged",
    "parts_of",
    "repeated",
    "run_through",
    "sequence",
    "without_last",
]
