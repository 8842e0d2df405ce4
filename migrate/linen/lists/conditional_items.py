"""Lists of `setup` some of whose items are there only under a condition of the constructor.

    self.layer = (Attention(),)          Chain((Attention, Sometimes(Attention, self.causal), Feed))
    if self.causal:
      self.layer += (Attention(),)
    self.layer += (Feed(),)

A loop over such a list sees the item under that condition. An index counts it where the condition is known to hold or
not to hold at that place; elsewhere what it picks is not known.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Callable
from typing import Any

from ...frozen import frozen
from ...source import SourceFile
from ..values.dims import Atom, Dim
from ..values.merging import map_dims
from ..values.presence import Mixed, Step, step_of
from ..values.sites import Abs, Block, Branch, Function, Module, Static
from ..values.values import Global, Int, Unknown, Value

_ATTRIBUTE = re.compile(r"\bself\.(\w+)")


@frozen(eq=False)
class Sometimes(Value):
    """An item of a list that is there where `step` holds."""

    item: Value
    step: Step


@frozen
class AllOf(Mixed):
    """`self.causal and memory is not None`: what holds of the fields where it holds."""

    steps: tuple[Step, ...] = ()


def all_of(run: Any, nodes: list[Any], values: list[Abs], mixed: Unknown, env: Any) -> Unknown:
    """A condition of several parts, with those that the constructor can ask."""
    found: list[Step] = []
    for node, value in zip(nodes, values):
        if isinstance(value.value, AllOf):
            found += value.value.steps
        sides = step_of(run, node, value, "", env)
        if sides is not None and not sides[0].deps:
            found.append(sides[0])
    asks, optional = (mixed.asks, mixed.optional) if isinstance(mixed, Mixed) else ("", False)
    return AllOf(mixed.why, asks, True, optional, tuple(found)) if found else mixed


def known(run: Any, step: Step) -> bool | None:
    """Does a condition hold at the present place? None: not known."""
    if not step.deps:
        for other in (*run.path, *run.facts):
            if other.text == step.text and not other.deps:
                return bool(other.holds == step.holds)
    return None


def filled(
    parts: tuple[Value, ...], others: tuple[Value, ...], sides: tuple[Step, Step] | None, both: bool
) -> tuple[Value, ...] | None:
    """The parts of a list to which one side of a condition added items; None where that is not what differs.

    `both`: or each side its own.
    """
    if sides is None or sides[0].deps:
        return None
    same = 0
    while same < min(len(parts), len(others)) and parts[same] is others[same]:
        same += 1
    if not both and (same < min(len(parts), len(others)) or len(parts) == len(others)):
        return None
    added = [(item, step) for step, side in zip(sides, (parts, others)) for item in side[same:]]
    if not all(isinstance(item, Module | Function | Global) for item, _ in added):
        return None
    if any(isinstance(item, Module) and item.element for item, _ in added):
        return None
    return (*parts[:same], *(Sometimes(item, step) for item, step in added))


def counted(run: Any, parts: tuple[Value, ...]) -> tuple[Value, ...]:
    """The parts as they are at the present place, as far as that is known."""
    found: list[Value] = []
    for part in parts:
        holds = known(run, part.step) if isinstance(part, Sometimes) else True
        if holds is not False:
            found.append(part.item if isinstance(part, Sometimes) and holds else part)
    return tuple(found)


def unconditional(value: Value) -> Value:
    """An item of a list, whatever the conditions are under which it is there."""
    return unconditional(value.item) if isinstance(value, Sometimes) else value


def note_count(run: Any, name: str, a: Value, b: Value, sides: tuple[Step, Step] | None) -> None:
    """A number of `setup` that a condition decides: for the names of items that are made of it, and what results say."""
    if not run.in_setup:
        return
    sizes = [v.dim if isinstance(v, Int) else run.dim_of(v) for v in (a, b) if isinstance(v, Int) or type(v) is Static]
    unclear = sides is None or sides[0].deps or asks_what_changes(run, sides[0].text)
    if sides is None or unclear or name in run.decided_counts or len(sizes) < 2:
        run.decided_counts[name] = None
        return
    on, off = sizes if sides[0].holds else sizes[::-1]
    run.decided_counts[name] = Dim.cond(sides[0].text, on, off)


def asks_what_changes(run: Any, text: str) -> bool:
    """Does a condition ask an attribute that `setup` may set anew after the condition was asked?"""
    asked = set(_ATTRIBUTE.findall(text)) - {field.name for field in run.model.fields()}
    if not asked:
        return False
    methods = run.model.methods().values()
    found = [(m.source, n) for m in methods for n in m.nodes if isinstance(n, ast.Attribute) and n.attr in asked]
    stores = [(source, node) for source, node in found if isinstance(node.ctx, ast.Store)]
    names = [node.attr for _, node in stores]
    return len(names) > len(set(names)) or any(_is_repeated(source, node) for source, node in stores)


def _is_repeated(source: SourceFile, node: ast.AST) -> bool:
    """Is it changed where it stands, or again and again in a loop?"""
    while not isinstance(node, ast.FunctionDef):
        node = source.parents[node]
        if isinstance(node, ast.AugAssign | ast.For | ast.While):
            return True
    return False


def told(run: Any, value: Value) -> Value:
    """A result in which such numbers are said in terms of the fields."""

    def said(atom: Atom) -> Dim | None:
        name = atom.args[0] if atom.kind == "local" or (atom.kind == "opaque" and atom.deps == {atom.args[0]}) else ""
        found: Dim | None = run.decided_counts.get(name)
        return None if found is None or found.dependencies() else found

    return map_dims(value, lambda dim: dim.substitute(said)) if run.decided_counts else value


def is_place(run: Any, number: Value, parts: tuple[Value, ...], place: int) -> bool:
    """Is a number of `setup` the place of a part in its list, whatever the conditions of the items before it are?"""
    tests = sorted({part.step.text for part in parts if isinstance(part, Sometimes)})
    if not isinstance(number, Int) or len(tests) > 6:
        return False

    def decided(atom: Atom) -> Dim | None:
        return run.decided_counts.get(atom.args[0]) if atom.kind == "local" else None

    said = number.dim.substitute(decided)
    for holds in itertools.product((True, False), repeat=len(tests)):
        answers = dict(zip(tests, holds))

        def chosen(atom: Atom, answers: dict[str, bool] = answers) -> Dim | None:
            if atom.kind != "cond" or str(atom.args[0]) not in answers:
                return None
            return Dim.of(atom.args[1] if answers[str(atom.args[0])] else atom.args[2])

        def there(part: Value, answers: dict[str, bool] = answers) -> bool:
            return not isinstance(part, Sometimes) or answers[part.step.text] == part.step.holds

        if there(parts[place]) and said.substitute(chosen).value != sum(there(part) for part in parts[:place]):
            return False
    return True


def run_items(run: Any, items: tuple[Value, ...], env: Any, do: Callable[[Value, Any], None]) -> None:
    """Do something with items one after the other, with each where it is there."""
    for text, group in itertools.groupby(items, lambda item: item.step.text if isinstance(item, Sometimes) else None):
        several = tuple(group)
        if text is None:
            for item in several:
                do(item, env)
        else:
            _run_sides(run, tuple(item for item in several if isinstance(item, Sometimes)), env, do)


def _run_sides(run: Any, several: tuple[Sometimes, ...], env: Any, do: Callable[[Value, Any], None]) -> None:
    """Items of the two sides of one condition: what changes by them is one or the other from there on."""
    step = several[0].step
    on, off = (tuple(s.item for s in several if (s.step.holds == step.holds) is same) for same in (True, False))
    holds = known(run, step)
    if holds is not None:
        run_items(run, on if holds else off, env, do)
        return
    sides = (step, dataclasses.replace(step, holds=not step.holds))
    there, absent = env.copy(), env.copy()
    outer, place = run.block, run.mark
    then, orelse = Block(), Block()
    try:
        for side, block, inner, first in ((on, then, there, True), (off, orelse, absent, False)):
            run.block, run.mark = block, (block, 0)
            with run.under(sides, first):
                run_items(run, side, inner, do)
    finally:
        run.block, run.mark = outer, place
    run.merge_sides(env, there, absent, then, orelse, sides)
    if then.steps or orelse.steps:
        made = (then, orelse) if step.holds else (orelse, then)
        run.block.steps.append(Branch(step.test, *made, env.source, step.text))


__all__ = [
    "AllOf",
    "Sometimes",
    "all_of",
    "counted",
    "filled",
    "is_place",
    "known",
    "note_count",
    "run_items",
    "unconditional",
]
