"""The sizes that a pass of a loop leaves to the next: all change at once, while the constructor assigns one after another.

    for i in range(3):                        for i in range(3):
        x = nn.Dense(width)(x)                    self.Dense.append(nnx.Linear(features, width, rngs=rngs))
        width = width * 2                         features = width
                                                  width = 2 * width
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from ...trees import subtree
from ..values.arguments import stored_names
from ..values.dims import Dim
from ..values.environment import Env
from ..values.merging import dependencies_of, dim_at, grown, with_dim
from ..values.sites import Abs, For, Function, Static, Track, Unmigratable
from ..values.values import OPAQUE, Array, Int, Value, size_stem


def in_order(tracks: Sequence[Track], fresh: Callable[[str], str], loop: ast.expr) -> list[Track]:
    """The same assignments in an order in which each still reads what the others had before.

    Where two read each other (`x, y = y, x`), what one had is kept under a name that `fresh` makes. Raises Unmigratable
    where a text that cannot be changed reads it. `loop`: what it runs over.
    """
    left, found = list(tracks), []
    while left:
        ready = next((t for t in left if not any(t.name in o.dim.dependencies() for o in left if o is not t)), None)
        if ready is not None:
            left.remove(ready)
            found.append(ready)
            continue
        name = left[0].name
        kept = fresh(name)
        found.append(Track(kept, Dim.local(name)))
        left = [left[0], *[Track(t.name, _replaced(t.dim, {name: Dim.local(kept)})) for t in left[1:]]]
        if any(name in t.dim.dependencies() for t in left[1:]):
            raise Unmigratable(
                "NNX114", f"sizes that change along a loop follow from each other: `{ast.unparse(loop)}`", loop
            )
    return found


def changes_number(before: Abs, after: Value) -> bool:
    """Is it a size of an array before a loop, and another number after a pass: `resolution // 2`, an item of a field?"""
    number = type(after) is Int or (type(after) is Static and not after.sequence)
    return type(before.value) is Int and number and not before.static


def left_behind(
    run: Any, start: Env, inner: Env, following: list[Track], before: Sequence[Track], steps: list[Any], loop: For
) -> dict[str, Value]:
    """What names that a loop makes hold behind it, where they say it in sizes that change at the end of a pass: `prev = x`.

    Each such size gets a name of its own, which the constructor sets ahead of the loop and in every pass. `before`: the
    sizes ahead of it. `steps`: in which the loop stands; nothing is known of such names where the constructor lacks it, or
    where a pass may leave a name as it is.
    """
    changed = {track.name for track in following}
    place = next((i for i, step in enumerate(steps) if step is loop), None)
    first = {track.name: track.dim for track in before}
    found: dict[str, Value] = {}
    for name, bound in inner.names.items() if changed else ():
        if name in start.names or not _says(bound.value, inner, changed):
            continue
        value: Value = bound.value
        count = len(value.shape.dims) if isinstance(value, Array) else 1
        if place is None or type(value) not in (Int, Array) or not _in_every_pass(loop.node, name):
            found[name] = OPAQUE
            continue
        for index in range(-count, 0) if isinstance(value, Array) else (0,):
            dim = dim_at(value, index)
            if dim is not None and dim.dependencies() & changed:
                held = run.tracker(size_stem(index, value.shape) if isinstance(value, Array) else name)
                steps.insert(place, Track(held, _replaced(dim, first) if dim.dependencies() <= first.keys() else Dim.of(0)))
                following.append(Track(held, dim))
                value = with_dim(value, index, Dim.local(held))
        found[name] = value
    return found


def _says(value: Value, inner: Env, sizes: Set[str]) -> bool:
    """Is a value said in such sizes, or a function that reads what is?"""
    if isinstance(value, Function):
        read = {n.id for n in subtree(value.node) if isinstance(n, ast.Name)} & inner.names.keys()
        return any(dependencies_of(inner.names[name].value) & sizes for name in read)
    return bool(dependencies_of(value) & sizes)


def _in_every_pass(loop: ast.AST, name: str) -> bool:
    """Does every pass give a name something? Else it may hold what an earlier one has left in it."""
    return isinstance(loop, ast.For) and _always(loop.body, name)


def _always(statements: Sequence[ast.stmt], name: str) -> bool:
    for statement in statements:
        if isinstance(statement, ast.If):
            if _always(statement.body, name) and _always(statement.orelse, name):
                return True
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and name in stored_names(statement):
            return True
    return False


def grew(before: Value, after: Value, changing: set[str]) -> bool:
    """Is it a list that grew in a loop, by items of one kind in every iteration?"""
    element = grown(before, after)
    return element is not None and not dependencies_of(element) & changing


def _replaced(dim: Dim, sizes: Mapping[str, Dim]) -> Dim:
    """A size with others in the place of local names."""
    return dim.substitute(lambda atom: sizes.get(str(atom.args[0])) if atom.kind == "local" else None)


__all__ = ["changes_number", "grew", "in_order", "left_behind"]
