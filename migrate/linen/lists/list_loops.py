"""Loops over lists of modules that a compact method made in another loop: `for layer in layers: x = layer(x)`.

Where the sizes change from one pass to the next, or the loop makes more modules, the constructor makes the list in this
loop, and not where the method does: `layers = [nn.Dense(f) for f in sizes]` becomes the loop `for f in sizes:` that
follows the width of `x`. The modules are the same, in the same order.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ...trees import said, subtree
from ..values.late_makes import alone, counted_together, defined_in, movable, names_in, needed_by, taken_out
from ..values.merging import Either, dependencies_of
from ..values.sites import (
    Abs,
    Block,
    Branch,
    For,
    Local,
    Localized,
    LocalizedPart,
    Make,
    Module,
    Repeated,
    Site,
    SizeStep,
    Unmigratable,
    steps_of,
)
from ..values.values import Tup, Value
from ..values.wrappers import is_wrapper
from .chains import Cycle, is_enumerated
from .conditional_items import unconditional
from .loop_names import hidden_by


@dataclasses.dataclass
class Followed:
    """The loops that made the lists which one loop goes through."""

    made: tuple[For, ...]
    step: For  # the loop in their stead, as the constructor says it; its body begins with theirs
    names: frozenset[str]  # what it binds there
    place: int | None = None  # where it stands in the skeleton, if not at its end
    between: tuple[Any, ...] = ()  # the steps from there to the end
    lists: tuple[frozenset[Site], ...] = ()  # the modules of each list
    tail: tuple[Any, ...] = ()  # steps for the end of the body: they change what the sizes of the modules are said with

    def put(self, block: Block, before: Sequence[Any]) -> None:
        """Into the skeleton, behind `before`."""
        place = len(block.steps) if self.place is None else self.place
        block.steps[place:place] = [*before, self.step]

    def check(self, before: Sequence[Any]) -> None:
        """What the loop reads must mean the same where it stands."""
        steps = [*before, self.step]
        lost = (needed_by(steps) - defined_in([*steps, *self.tail])) & defined_in(self.between)
        lost |= _lists_of(steps, new=False) & _lists_of(self.between, new=True)
        if lost:
            reason = f"the sizes of a list of modules depend on `{min(lost)}`, which is set after the list is made"
            raise Unmigratable("NNX110", reason, self.step.node.iter)
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Linen counts modules list after list, and those of the loop's body behind them all."""
        inside = [s.site for s in steps_of(self.step.body) if isinstance(s, Make)]
        groups = [*self.lists, frozenset(inside).difference(*self.lists)]
        pairs = [(a, b) for i, group in enumerate(groups) for other in groups[:i] for a in group for b in other]
        pairs += [(a, s.site) for a in groups[-1] for s in steps_of(Block(list(self.between))) if isinstance(s, Make)]
        for a, b in pairs:
            if a.name is None and b.name is None and counted_together(a, b):
                reason = "a list of modules is called in a loop that goes on with others which Linen counts with them"
                raise Unmigratable("NNX158", reason, a.node)


def followed(
    run: Any,
    node: ast.AST,
    target: ast.expr,
    iterator: ast.expr,
    env: Any,
    own: Localized | None,
    several: bool = False,
    over: Abs | None = None,
) -> Followed | None:
    """The lists that a loop goes through item by item, their making taken out of the constructor's skeleton up to here.

    `own`: what the loop runs over itself, where the constructor can say that; `several`: only for lists of several loops;
    `over`: the part of a list that the loop goes through, if not what its text says (see `chains`).
    """
    body: list[ast.AST] = list(node.body) if isinstance(node, ast.For) else []
    if any(isinstance(n, ast.Break | ast.Continue | ast.Return) for part in body for n in subtree(part)):
        return None  # it may leave items out
    if isinstance(node, ast.comprehension):
        around = env.source.parents.get(node)
        body = [part for part in ast.iter_child_nodes(around) if part is not node] if around is not None else []
    if not isinstance(node, ast.For | ast.comprehension) or run.trial or run.in_setup:
        return None
    counter, passes = "", ""
    if over is not None:
        part, several = over.value, False
        made_here = isinstance(part, Repeated) and not any(s.in_setup for s in run.modules_in(part))
        listed = [part] if isinstance(part, Repeated) and made_here and _is_list(part) else []
    else:
        listed, passes = _lists(run, target, iterator, env), _count(iterator)
        counter = run.counter(target, iterator, env)
    of_list = env.get(passes).value if passes.isidentifier() and env.get(passes) is not None else None
    if of_list is not None and _is_list(of_list) and isinstance(of_list.loop, For):
        passes = _count(of_list.loop.node.iter)
    for name, index in _picked(body, env):
        value = env.get(name).value
        if not counter or index != counter or not isinstance(value.loop, For) or passes != _count(value.loop.node.iter):
            return None
        listed.append(value)
    loops = list(dict.fromkeys(value.loop for value in listed if isinstance(value.loop, For)))
    if len(loops) < 1 + several or any(loop not in run.block.steps or not _plain(run, loop) for loop in loops):
        return None
    held = [*([For(node, ast.unparse(target), own, Block(), env.source, counter)] if own is not None else []), *loops]
    names = defined_in(loops)
    same = {loop.index for loop in loops} & {counter}  # they count alike
    if over is not None and is_enumerated(iterator) and isinstance(target, ast.Tuple):  # no size is said by its number
        same |= set(_stored([target.elts[0]]))
    stored = _stored(body) if own is not None else _stored([node.target]) - same | _stored(body)
    joined = _joined(held, iterator)
    if joined is None or names & stored or len({id(env.source), *[id(loop.source) for loop in loops]}) > 1:
        return None
    places = [run.block.steps.index(loop) for loop in loops]
    last = max(places)
    for end in (len(run.block.steps), last):  # here, or where the last of the lists is made
        between = [
            [s for s in run.block.steps[place + 1 : end] if s not in loops and not _makes_wrapper(s)] for place in places
        ]
        if all(movable([loop], steps) for loop, steps in zip(loops, between)):
            break
    else:
        return None
    tail = _tail(loops)
    if tail is None or _read_after(loops, body, env):
        return None
    here = end == len(run.block.steps)
    after = () if here else tuple(run.block.steps[last + 1 :])
    steps: list[Any] = []
    made = tuple(frozenset(s.site for s in steps_of(loop.body) if isinstance(s, Make)) for loop in loops)
    for loop in loops:
        taken_out(run, run.block, run.block.steps.index(loop))
        steps += [s for s in loop.body.steps if s not in tail]
    block = Block(steps)
    for step in steps:
        if isinstance(step, Make):
            step.site.renders["block"] = block
    hidden = hidden_by(run, node, env).union(*(loop.hidden for loop in loops))
    step = For(node, joined[0], joined[1], block, env.source, counter, hidden=hidden)
    return Followed(tuple(loops), step, names, None if here else last + 1 - len(loops), after, made, tuple(tail))


def _lists_of(steps: Sequence[Any], new: bool) -> frozenset[str]:
    """The lists of sizes that steps begin, or go on with."""
    found = [s for s in steps_of(Block(list(steps))) if isinstance(s, SizeStep)]
    return frozenset(s.variable for s in found if (s.kind == "new") == new)


def _tail(loops: Sequence[For]) -> list[Any] | None:
    """What ends the body of a loop and gives other values to names that its modules are made with: `ch *= 2`.

    The sizes of what they give are said with the values of before. None where such a step is not at the end.
    """
    tail: list[Any] = []
    for loop in loops:
        made: list[Any] = []
        for step in loop.body.steps:
            makes = any(isinstance(s, Make) for s in steps_of(Block([step])))
            if not makes and defined_in([step]) & needed_by(made):
                tail.append(step)
            elif tail and (makes or needed_by([step]) & defined_in(tail)):
                return None
            elif makes:
                made.append(step)
    return tail


def _read_after(loops: Sequence[For], body: Sequence[ast.AST], env: Any) -> bool:
    """Does the loop over the lists read what the loops that made them have left in names of theirs?

    Made in one loop, such a name has the value of the pass: `x = nn.Dense(ch)(layer(x))` behind `ch *= 2`.
    """
    left = frozenset().union(*[s.names for loop in loops for s in steps_of(loop.body) if isinstance(s, Local)])
    read = {n.id for part in body for n in subtree(part) if isinstance(n, ast.Name)} if left else set()
    held = (env.get(name) for name in read)
    return any(h is not None and not _is_list(h.value) and dependencies_of(h.value) & left for h in held)


def _stored(nodes: Sequence[ast.AST]) -> set[str]:
    names = (n for node in nodes for n in subtree(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {n.id for n in names}


def _lists(run: Any, target: ast.expr, iterator: ast.expr, env: Any) -> list[Repeated]:
    """The lists whose items the targets of a loop are, one after the other."""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and env.get(iterator.func.id) is None:
        called, args = iterator.func.id, iterator.args
        items = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if called == "enumerate" and len(items) == 2 and args:
            return _lists(run, items[1], args[0], env)
        if called in ("list", "tuple", "iter") and len(args) == 1:
            return _lists(run, target, args[0], env)
        if called == "zip" and len(items) == len(args):
            return [value for one, over in zip(items, args) for value in _lists(run, one, over, env)]
        return []
    bound = env.get(iterator.id) if isinstance(iterator, ast.Name) else None
    if bound is None or not _is_list(bound.value):
        return []
    item = bound.value.element
    names = target.elts if isinstance(target, ast.Tuple | ast.List) and isinstance(item, Tup) else [target]
    whole = names == [target] or (isinstance(item, Tup) and len(names) == len(item.items))
    return [bound.value] if whole and all(isinstance(name, ast.Name) for name in names) else []


def _is_list(value: Value) -> bool:
    if not isinstance(value, Repeated) or not value.in_order or value.part:
        return False
    if isinstance(value.element, Cycle):
        return value.kind == "list" and any(isinstance(unconditional(item), Module) for item in value.element.items)
    if isinstance(value.element, Tup):  # `layers.append((Attention(8), Dense(8)))`
        return value.kind == "list" and all(isinstance(item, Module | Either) for item in value.element.items)
    return isinstance(value.element, Module) and value.kind == "list"


def _count(iterator: ast.expr) -> str:
    """What has as many items as a loop over `iterator` has passes."""
    if isinstance(iterator, ast.Call) and isinstance(iterator.func, ast.Name) and len(iterator.args) == 1:
        argument = iterator.args[0]
        if iterator.func.id in ("enumerate", "list", "tuple", "reversed"):
            return _count(argument)
        if iterator.func.id == "range" and isinstance(argument, ast.Call) and ast.unparse(argument.func) == "len":
            return _count(argument.args[0])
    return ast.unparse(iterator)


def _picked(body: Sequence[ast.AST], env: Any) -> Iterator[tuple[str, str]]:
    """The lists of modules that a loop's body names, each with the text of the index by which it picks an item."""
    for part in body:
        counted = {c.args[0] for c in subtree(part) if isinstance(c, ast.Call) and said(c.func) == "len" and c.args}
        picked = {s.value: s for s in subtree(part) if isinstance(s, ast.Subscript)}
        for child in subtree(part):
            bound = env.get(child.id) if isinstance(child, ast.Name) and child not in counted else None
            if bound is not None and _is_list(bound.value):
                yield child.id, said(picked[child].slice) if child in picked else ""  # type: ignore[attr-defined]


def _makes_wrapper(step: Any) -> bool:
    return isinstance(step, Make) and is_wrapper(step.site)


def _plain(run: Any, loop: For) -> bool:
    """Does a loop make modules in every pass, and nothing else?"""
    if loop.conditions or (isinstance(loop.node, ast.comprehension) and loop.node.ifs):
        return False
    made = {s.site for s in steps_of(loop.body) if isinstance(s, Make)}
    outside = [s for s in run.sites if s not in made]
    handed_out = {inner for s in outside for b in s.bound.values() for inner in run.modules_in(b.abs.value)}
    return _only_makes(loop.body, made - handed_out)


def _only_makes(block: Block, within: set[Site]) -> bool:
    """`within`: the modules that no other than those of the loop are handed."""
    for step in block.steps:
        if isinstance(step, Branch):  # on what the constructor knows
            if step.test is None or step.choice:
                return False
            if not (_only_makes(step.then, within) and _only_makes(step.orelse, within)):
                return False
        elif isinstance(step, Make):
            if step.site.call or not (alone(step.site) or (step.site in within and alone(step.site, handed_on=True))):
                return False
        elif not isinstance(step, Local):
            return False
    return True


def _joined(loops: list[For], node: ast.expr) -> tuple[str, Localized] | None:
    """(target, iterator) of one loop that goes through what several do, side by side."""
    first = loops[0]
    if len({_count(loop.node.iter) for loop in loops}) > 1:
        return None  # one of them may be shorter
    different: dict[tuple[str, str], For] = {}
    for loop in loops:
        if names_in(loop.target) - {"_"}:
            different.setdefault((loop.target, ast.unparse(loop.node.iter)), loop)
    columns = list(different.values())
    for column in list(columns):  # two that count alike, under one name
        alike = [c for c in columns if c is not column and c.index == column.index]
        if alike and names_in(column.target) == {column.index}:
            columns.remove(column)
    if len(columns) < 2:
        return (columns[0].target, columns[0].iterator) if columns else ("_", first.iterator)
    bound = [names_in(column.target) - {"_"} for column in columns]
    if sum(len(names) for names in bound) != len(frozenset().union(*bound)):
        return None  # one name for two things
    parts: list[Any] = ["zip("]
    for position, column in enumerate(columns):
        parts += [", " if position else "", LocalizedPart(column.iterator)]
    span = first.source.span(node)
    needs = frozenset().union(*[column.iterator.needs for column in columns])
    targets = [column.target for column in columns]
    text = ", ".join(f"({t})" if "," in t and not t.startswith("(") else t for t in targets)
    return text, Localized(span, first.source, ((span, (*parts, ")")),), needs)


__all__ = ["Followed", "followed"]
