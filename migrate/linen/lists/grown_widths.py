"""The widths of a list of arrays together, said in fields: `for head in self.heads: outs.append(head(x))`.

The constructor keeps a list of widths along with such a list (`size_lists`). What joins the arrays may be made before that
list is known, in `setup`: there the sum is said by how often the loop runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ...trees import subtree
from ..execution.iteration import widths_along
from ..values.dims import Dim
from ..values.sites import Block, Branch, For, Local, SizeStep, Track, steps_of
from ..values.values import Value
from . import size_lists


def joined(
    run: Any, function: str, value: size_lists.SizeList, rest: list[Value], keywords: dict[str, Value]
) -> Value | None:
    """All arrays of a list side by side along their last axis; None where nothing says their widths together."""
    if function not in size_lists.JOINS or not size_lists.is_last(run, value, size_lists.axis_of(rest, keywords)):
        return None
    total = total_width(run, value.variable)
    return size_lists.item(run, value.variable, total) if total is not None else None


def total_width(run: Any, variable: str) -> Dim | None:
    """The sum of a list's widths, where it is made in this block, and loops of it put as many arrays in with every pass."""
    steps = run.block.steps
    made = [place for place, step in enumerate(steps) if isinstance(step, SizeStep) and step.variable == variable]
    first = steps[made[0]] if made else None
    unlooped = [(block, total) for block, changed, total in run.unlooped if changed == variable]
    known = variable not in run.broken_lists or (unlooped and run.broken_lists[variable] == size_lists.UNLOOPED)
    if first is None or first.kind != "new" or not known or any(block is not run.block for block, _ in unlooped):
        return None
    return _sum([_sum(first.dims), *[total for _, total in unlooped], _added(run, steps[made[0] + 1 :], variable)])


def _added(run: Any, steps: Iterable[Any], variable: str) -> Dim | None:
    """The widths of what statements put into a list."""
    parts: list[Dim | None] = []
    for step in steps:
        if variable not in size_lists.changed_in([step]):
            continue
        if isinstance(step, SizeStep) and step.kind == "append":
            parts.append(_sum(step.dims))
        elif isinstance(step, Branch) and step.step is not None:  # `if actions is not None: inputs.append(actions)`
            sides = [_added(run, block.steps, variable) for block in (step.then, step.orelse)]
            then, other = sides if step.step.holds else sides[::-1]
            parts.append(None if then is None or other is None else Dim.cond(step.step.text, then, other))
        else:
            parts.append(_of_loop(run, step, variable))
    return _sum(parts)


def _sum(dims: Iterable[Dim | None]) -> Dim | None:
    total = Dim.of(0)
    for dim in dims:
        if dim is None:
            return None
        total = total + dim
    return total


def _of_loop(run: Any, step: Any, variable: str) -> Dim | None:
    """What all passes of a loop that the constructor has add, where each adds one array."""
    if not isinstance(step, For) or step in run.joined_loops.values():
        return None
    return _of_passes(run, step.node, step.body, variable)


def _of_passes(run: Any, loop: ast.For | ast.comprehension, body: Block, variable: str) -> Dim | None:
    changes = [s for s in steps_of(body) if isinstance(s, SizeStep) and s.variable == variable and s.kind != "read"]
    plain = all(change.kind == "append" and change in body.steps for change in changes)
    width = _sum(dim for change in changes for dim in change.dims) if plain else None
    left = any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in subtree(loop))
    if width is None or left or not isinstance(loop, ast.For):
        return None
    changing = {s.name for s in steps_of(body) if isinstance(s, Track)}
    changing |= {name for s in steps_of(body) if isinstance(s, Local) for name in s.names}
    changing |= {s.tracker for s in steps_of(body) if isinstance(s, SizeStep)}
    return None if width.dependencies() & changing else widths_along(run, loop, width)


def note_unlooped(run: Any, loop: ast.For | ast.comprehension, body: Block, around: Block) -> None:
    """A loop that the constructor does not have: what it adds to lists is not in theirs, but may be known."""
    changed = size_lists.changed_in(body.steps)
    for variable in changed:
        run.unlooped.append((around, variable, _of_passes(run, loop, body, variable)))
    size_lists.broken(run, changed, size_lists.UNLOOPED)
