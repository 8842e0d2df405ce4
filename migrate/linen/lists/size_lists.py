"""Lists of arrays that loops fill and empty (the skips of a U-Net): the constructor keeps the list of their widths.

`skips = []` is a `Tup` like any other list until a loop changes it. Then it is a `SizeList`: how many items it has is
not known, but a list of the constructor's own goes along with it, one width for each array, through every `append`,
`pop`, `+=` and slice. What is read from it is the width at that place.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from ...frozen import frozen
from ...trees import subtree
from ..shapes import shapes
from ..values.dims import Dim
from ..values.merging import dependencies_of
from ..values.presence import OptionalArray, whole_argument
from ..values.sites import Block, Localized, LocalizedPart, SizeStep, Track
from ..values.values import Array, Int, Lead, Pieces, Shape, Tup, Unknown, Value
from . import list_ends, skip_lists

_CHANGED = "a list of arrays that is changed in a way that cannot be followed"
UNLOOPED = "a list of arrays that a loop changes which the constructor does not have"  # what is put in it is known


@frozen
class SizeList(Value):
    """A list of arrays; the constructor has their last dimensions in a list called `variable`."""

    variable: str
    kind: str = dataclasses.field(default="list", compare=False)


@frozen
class SizeItem(Value):
    """What a loop over a `SizeList` binds: an array whose width the constructor's loop binds to the same name."""

    variable: str
    width: Dim | None = None  # where it is the same for all


def noticed(run: Any, value: Value, name: str) -> Value:
    """A list or tuple of arrays that is assigned to a name: from now on its changes are noted."""
    if run.model.qualname in run.analyser.by_passes:
        return value  # their sizes are found by the call
    if not (isinstance(value, Tup) and not run.in_setup and all(is_certain(run, i) for i in value.items)):
        return value
    return dataclasses.replace(value, variable=made_of(run, value.items, name))


def noticed_each(run: Any, value: Value, target: ast.expr, node: ast.expr) -> Value:
    """`outs, states = [], []`."""
    names = [t.id for t in target.elts if isinstance(t, ast.Name)] if isinstance(target, ast.Tuple | ast.List) else []
    if not (isinstance(value, Tup) and isinstance(node, ast.Tuple) and len(names) == len(node.elts) == len(value.items)):
        return value
    fresh = [isinstance(part, ast.List | ast.Call) for part in node.elts]  # no other name holds them
    items = zip(names, value.items, fresh)
    return dataclasses.replace(value, items=tuple(noticed(run, item, name) if new else item for name, item, new in items))


def is_certain(run: Any, value: Value) -> bool:
    """Is this an array, and never None?"""
    optional = isinstance(value, OptionalArray) or whole_argument(value) in run.optional_arguments
    return isinstance(value, Array) and not optional


def made_of(run: Any, arrays: Sequence[Value], name: str = "list") -> str:
    """The constructor's list of the widths of these arrays."""
    variable: str = run.tracker(f"{name.strip('_') or 'list'}_features")
    run.block.steps.append(SizeStep("new", variable, tuple(_width(i) for i in arrays)))
    for array in arrays:
        _note(run, variable, array)
    return variable


def _width(value: Value) -> Dim | None:
    return value.shape.dim(-1) if isinstance(value, Array) else None


def _note(run: Any, variable: str, value: Value) -> None:
    rank = value.shape.rank if isinstance(value, Array) else None
    run.list_ranks.setdefault(variable, set()).add(rank)
    run.list_widths.setdefault(variable, set()).add(_width(value))
    run.list_shapes.setdefault(variable, set()).add(value.shape if isinstance(value, Array) else None)


def _is_settled(run: Any, variable: str) -> bool:
    """Is what was noted of the list what is in it, whatever pass of a loop this is?"""
    return not run.repeating and run.broken_lists.get(variable, UNLOOPED) == UNLOOPED


def _one_width(run: Any, variable: str) -> Dim | None:
    """The width of all arrays of the list, where it is the same in every pass of every loop."""
    widths = run.list_widths.get(variable, set())
    (width,) = widths if len(widths) == 1 and _is_settled(run, variable) else (None,)
    return width if width is not None and not width.dependencies() else None


def _one_array(run: Any, variable: str) -> Array | None:
    """What every array of the list is like, where all sizes are the same in every pass of every loop."""
    shapes_of = run.list_shapes.get(variable, set())
    (shape,) = shapes_of if len(shapes_of) == 1 and _is_settled(run, variable) else (None,)
    return Array(shape) if shape is not None and not dependencies_of(Array(shape)) else None


def broken(run: Any, variables: set[str], why: str = _CHANGED) -> None:
    """These lists change in a way that the constructor cannot repeat: sizes from them are not known."""
    for variable in variables:
        if run.broken_lists.get(variable, UNLOOPED) == UNLOOPED:
            run.broken_lists[variable] = why


def changed_in(steps: list[Any]) -> set[str]:
    """The lists that steps of a skeleton change."""
    found: set[str] = set()
    for step in steps:
        if isinstance(step, SizeStep) and step.kind not in ("new", "read"):
            found.add(step.variable)
        for name in ("body", "then", "orelse"):
            inner = getattr(step, name, None)
            if isinstance(inner, Block):
                found |= changed_in(inner.steps)
    return found


def variable_of(value: Value) -> str:
    """The constructor's list that goes along with a value, if one does."""
    return value.variable if isinstance(value, SizeList | Tup) else ""


def item(run: Any, variable: str, width: Dim) -> Array:
    """An array of the list, with the width that the constructor finds for it."""
    ranks = run.list_ranks.get(variable, set())
    if len(ranks) == 1:
        (rank,) = ranks
        if rank:
            return Array(Shape((*[None] * (rank - 1), width)))
    return Array(Shape((width,), Lead.unknown()))


def before_statement(run: Any, step: Any, variable: str) -> None:
    """Put a look into a list before the statement: `nn.Dense(2)(skips.pop())` makes its layer before it pops."""
    block, place = run.mark
    if block is not run.block:
        place = len(run.block.steps)
    if variable in changed_in(run.block.steps[place:]):  # what stands there would come after it
        broken(run, {variable})
    run.block.steps.insert(place, step)
    run.mark = (run.block, place + 1)


# changes ---------------------------------------------------------------------------------------------------------
def extended(run: Any, old: Value, added: list[Value]) -> Value | None:
    """After `append`, `+=` and the like; None where the list is none of ours."""
    variable = variable_of(old)
    if not variable or not all(isinstance(v, Array) for v in added):
        if variable and isinstance(old, SizeList):
            broken(run, {variable})
            return Unknown(_CHANGED)
        return None
    for value in added:
        run.block.steps.append(SizeStep("append", variable, (_width(value),)))
        _note(run, variable, value)
    if isinstance(old, Tup) and not run.repeating:
        return dataclasses.replace(old, items=(*old.items, *added))
    return SizeList(variable, old.kind)  # type: ignore[attr-defined]


def grown(run: Any, old: Value, added: Value, one: bool) -> Value | None:
    """After `append(added)` (`one`), `extend(added)` or `+= added`; None where these are no arrays."""
    if one:
        return extended(run, old, [added])
    if isinstance(added, Tup):
        return extended(run, old, list(added.items))
    if isinstance(added, SizeList):
        variable = variable_of(old)
        run.block.steps.append(SizeStep("extend", variable, (), "", added.variable))
        for noted in (run.list_ranks, run.list_widths, run.list_shapes):
            noted.setdefault(variable, set()).update(noted.get(added.variable, ()))
        return SizeList(variable, getattr(old, "kind", "list"))
    if isinstance(old, SizeList):
        broken(run, {old.variable})
        return Unknown(_CHANGED)
    return None


def popped(run: Any, old: Value, node: ast.Call, env: Any) -> tuple[Value, Value] | None:
    """(what `pop` gives, the list after it)."""
    variable = variable_of(old)
    if not variable or len(node.args) > 1 or node.keywords:
        return None
    if isinstance(old, Tup) and not run.repeating:
        place = _constant(run, node.args[0], env) if node.args else -1
        if place is None or not -len(old.items) <= place < len(old.items):
            return None
        step = SizeStep("pop", variable, (), run.tracker("features"), str(place) if node.args else "")
        before_statement(run, step, variable)
        rest = list(old.items)
        taken = rest.pop(place)
        return taken, dataclasses.replace(old, items=tuple(rest))
    end = ast.unparse(node.args[0]) if node.args else "-1"
    name = _name_of(node.func)
    mirrored = skip_lists.width_at(run, variable, name, node, end == "-1", env) if end in ("-1", "0") else None
    if mirrored is not None:
        return item(run, variable, mirrored), SizeList(variable, old.kind)  # type: ignore[attr-defined]
    where = run.localize(node.args[0], env) if node.args else None
    if node.args and where is None:
        return None
    tracker = run.tracker("features")
    before_statement(run, SizeStep("pop", variable, (), tracker, "", where), variable)
    width = _of_all(run, variable, name, env) or Dim.local(tracker)
    return item(run, variable, width), SizeList(variable, old.kind)  # type: ignore[attr-defined]


def _of_all(run: Any, variable: str, name: str, env: Any) -> Dim | None:
    """The width of all arrays of a list that is called `name`, in a loop that puts nothing into it."""
    widths = run.list_widths.get(variable, set())
    (width,) = widths if len(widths) == 1 else (None,)
    names = [n for n, bound in env.names.items() if variable_of(bound.value) == variable]
    if width is None or width.dependencies() or names != [name] or not run.running_loops:
        return None
    outermost = run.running_loops[0]
    mentioned = [n for n in subtree(outermost) if isinstance(n, ast.Name) and n.id == name]
    return width if all(_only_takes(env.source.parents.get(n)) for n in mentioned) else None


def _only_takes(around: ast.AST | None) -> bool:
    """Is it `skips.pop` or `skips[i]`?"""
    read = isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Load)
    return read or (isinstance(around, ast.Attribute) and around.attr == "pop")


def _name_of(method: ast.expr) -> str:
    """`skips` of `skips.pop`."""
    return method.value.id if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name) else ""


def _constant(run: Any, node: ast.expr, env: Any) -> int | None:
    value = run.evaluate(node, env).value
    return value.dim.value if isinstance(value, Int) else None


def cut(run: Any, target: str, node: ast.expr, env: Any) -> Value | None:
    """`skips = skips[:-1]`, `skips = skips + [x]`; `few = skips[-n:]` is a list of its own."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.left, ast.Name):
        grows = env.get(target)
        if node.left.id != target or grows is None or not variable_of(grows.value):
            return None
        right = run.evaluated[node.right].value
        list_ends.changed(run, variable_of(grows.value), list_ends.added(right, False), env)
        return grown(run, grows.value, right, False)
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Slice)):
        return None
    bound = env.get(node.value.id)
    old = bound.value if bound is not None else None
    if not isinstance(old, SizeList):
        return None
    said = _slice_text(run, node.slice, env)
    if said is None:
        return Unknown(_CHANGED)
    if node.value.id == target:
        variable = old.variable
        list_ends.changed(run, variable, None, env)
    else:
        variable = run.tracker(f"{target.strip('_')}_features")
        for noted in (run.list_ranks, run.list_widths, run.list_shapes):
            noted[variable] = noted.get(old.variable, set())
    run.block.steps.append(SizeStep("cut", variable, (), old.variable, "", said))
    return SizeList(variable, old.kind)


def _slice_text(run: Any, node: ast.Slice, env: Any) -> Localized | None:
    """The slice as the constructor says it; its bounds must be its own."""
    needs: set[str] = set()
    replaced: list[Any] = []
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            inner = run.localize(part, env)
            if inner is None:
                return None
            needs |= inner.needs
            replaced.append((inner.span, (LocalizedPart(inner),)))
    return Localized(env.source.span(node), env.source, tuple(replaced), frozenset(needs))


# reads -----------------------------------------------------------------------------------------------------------
def indexed(run: Any, value: SizeList, node: ast.Subscript, env: Any) -> Value:
    """`skips[-1]`, `skips[i]`."""
    last = list_ends.last_of(run, value.variable, env) if ast.unparse(node.slice) == "-1" else None
    if last is not None and run.broken_lists.get(value.variable, UNLOOPED) == UNLOOPED:
        return last
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    mirrored = skip_lists.item_at(run, value.variable, name, node, env)
    if mirrored is None and not isinstance(node.slice, ast.Slice):
        mirrored = _of_all(run, value.variable, name, env)
    if mirrored is not None:
        return item(run, value.variable, mirrored)
    one = _one_array(run, value.variable) if not isinstance(node.slice, ast.Slice) else None
    if one is not None:
        return one
    where = run.localize(node.slice, env) if not isinstance(node.slice, ast.Slice) else None
    if where is None:
        return Unknown(_CHANGED)
    tracker = run.tracker("features")
    before_statement(run, SizeStep("read", value.variable, (), tracker, "", where), value.variable)
    return item(run, value.variable, Dim.local(tracker))


def last_item(run: Any, value: SizeList) -> Array:
    """The last array of the list: where all are alike, any of them."""
    one = _one_array(run, value.variable)
    if one is not None:
        return one
    width = _one_width(run, value.variable)
    if width is not None:
        return item(run, value.variable, width)
    tracker = run.tracker("features")
    step = Track(tracker, Dim.opaque(f"{value.variable}[-1]", frozenset({value.variable})))
    before_statement(run, step, value.variable)
    return item(run, value.variable, Dim.local(tracker))


def put_together(run: Any, function: str, value: SizeList, rest: list[Value], keywords: dict[str, Value]) -> Value | None:
    """One array of all of the list; None where `function` does not make one."""
    axis = axis_of(rest, keywords)
    module, _, name = function.rpartition(".")
    if module == "jax.numpy" and name in ("array", "asarray", "stack"):
        return _stacked(run, value, axis if name == "stack" else Int(Dim.of(0)))
    if function in JOINS:
        return _joined(run, value, axis)
    return None


def axis_of(rest: list[Value], keywords: dict[str, Value]) -> Value:
    """The axis that arrays are joined along."""
    return keywords.get("axis", keywords.get("dimension", rest[0] if rest else Int(Dim.of(0))))


JOINS = frozenset({"jax.numpy.concatenate", "jax.lax.concatenate"})


def _stacked(run: Any, value: SizeList, axis: Value) -> Value:
    """Arrays of one shape, along an axis of their own."""
    one = last_item(run, value)
    count = Dim.opaque(f"len({value.variable})", frozenset({value.variable}))
    tracker = run.tracker("count")
    before_statement(run, Track(tracker, count), value.variable)
    return shapes.call("jax.numpy.stack", [Pieces(one, Dim.local(tracker)), axis], {})


def summed(run: Any, value: SizeList) -> Value:
    """`sum(skips)`: arrays that are added one by one have one shape, or one that keeps it."""
    one = last_item(run, value)
    total = shapes.binary("+", one, one)
    return total if total == one else Unknown(_CHANGED)


def is_last(run: Any, value: SizeList, axis: Value) -> bool | None:
    """Is this the last axis of the arrays of a list? None where that is not known."""
    number = axis.dim.value if isinstance(axis, Int) else None
    ranks = run.list_ranks.get(value.variable, set())
    (rank,) = ranks if len(ranks) == 1 else (None,)
    if number is None or (number >= 0 and rank is None):
        return None
    return number in (-1, (rank or 0) - 1)


def _joined(run: Any, value: SizeList, axis: Value) -> Value:
    """All arrays side by side along their last axis; along another one they keep their width."""
    last = is_last(run, value, axis)
    one = _one_array(run, value.variable)
    if one is not None and not last:
        return shapes.call("jax.numpy.concatenate", [Pieces(one), axis], {})
    if last is None:
        return Unknown(_CHANGED)
    tracker = run.tracker("features")
    text = f"sum({value.variable})" if last else f"{value.variable}[-1]"
    step = Track(tracker, Dim.opaque(text, frozenset({value.variable})))
    before_statement(run, step, value.variable)
    return item(run, value.variable, Dim.local(tracker))


def loop_iterator(run: Any, node: ast.expr, env: Any) -> tuple[Localized, Value] | None:
    """(the iterator as the constructor says it, the element) for a loop over such a list, reversed, zipped, counted."""
    parts: list[Any] = []
    needs: set[str] = set()
    element = _iterated(run, node, env, parts, needs)
    if element is None or not _has_item(element):
        return None
    span = env.source.span(node)
    return Localized(span, env.source, ((span, tuple(parts)),), frozenset(needs)), element


def _has_item(value: Value) -> bool:
    return isinstance(value, SizeItem) or (isinstance(value, Tup) and any(_has_item(i) for i in value.items))


def _iterated(run: Any, node: ast.expr, env: Any, parts: list[Any], needs: set[str]) -> Value | None:
    if isinstance(node, ast.Name):
        bound = env.get(node.id)
        variable = variable_of(bound.value) if bound is not None else ""
        if variable:
            parts.append(variable)
            needs.add(variable)
            return SizeItem(variable)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        inner = _iterated(run, node.value, env, parts, needs) if isinstance(node.value, ast.Name) else None
        if isinstance(inner, SizeItem):
            said = _slice_text(run, node.slice, env)
            if said is None:
                return None
            needs |= said.needs
            parts += ["[", LocalizedPart(said), "]"]
            return inner
    strict = ""
    if isinstance(node, ast.Call) and [k.arg for k in node.keywords] == ["strict"]:
        given = node.keywords[0].value
        strict = f", strict={ast.unparse(given)}" if isinstance(given, ast.Constant) else ""
    builtin = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and (strict or not node.keywords)
    if builtin and env.get(node.func.id) is None:  # type: ignore[attr-defined]
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        name = node.func.id
        if name in ("reversed", "list", "tuple", "enumerate") and len(node.args) == 1 and not strict:
            parts.append(f"{name}(")
            inner = _iterated(run, node.args[0], env, parts, needs)
            parts.append(")")
            from ..execution.iteration import COUNT

            return Tup((COUNT, inner)) if name == "enumerate" and inner is not None else inner
        if name == "zip":
            parts.append("zip(")
            found: list[Value] = []
            for position, argument in enumerate(node.args):
                parts.append(", " if position else "")
                inner = _iterated(run, argument, env, parts, needs)
                if inner is None:
                    return None
                found.append(inner)
            parts.append(f"{strict})")
            return Tup(tuple(found))
    evaluated = run.evaluated[node] if node in run.evaluated else run.evaluate(node, env)
    said = run.localize(node, env) if evaluated.static else None
    if said is None:
        from .size_displays import followed

        return followed(run, node, env, parts, needs)
    needs |= said.needs
    parts.append(LocalizedPart(said))
    element: Value = run.elements(node, evaluated, env).value
    return element
