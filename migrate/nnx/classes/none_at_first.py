"""What is None in the first pass of a loop and an array later, given to modules whose parts depend on whether it is there.

`bias = None`, `for block in self.blocks: x, bias = block(x, bias)`: the first block makes what a block has without a bias,
the others what it has with one. The constructor may give all of them None only where nothing but a field tells them apart.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.modules import own_methods
from ...linen.values.presence import GIVEN, Step, asked, whole_argument
from ...linen.values.sites import Site, Unmigratable
from . import asking

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from .class_text import ClassText


def said(text: ClassText, site: Site, argument: str, added: str) -> str:
    """The size of it that `site` is given in the constructor: None. Raises where one module or another needs more."""
    sides = _sides(text, text.analyser.execution(site.target), argument, frozenset())
    if not sides:
        return "None"
    name = site.target.rpartition(".")[2]
    if _is_of_one_pass(site):
        why = f"`{added}` of {name} is not known: `{argument}` is None in the first pass of a loop"
        raise asking.lacking(Unmigratable("NNX110", why, site.node), site, argument)
    if sides == {False}:
        return "None"  # one module, which is first called without it
    reason = f"{name} is called again with another `{argument}` than None, and makes more then"
    raise Unmigratable("NNX132", reason, site.node)


def _sides(text: ClassText, run: Execution, argument: str, above: frozenset[str]) -> set[bool]:
    """On which sides of the question whether `argument` is there a class makes modules, by that question alone."""
    found: set[bool] = set()
    for site in run.sites:
        if site.kind == "rng" or (site.in_setup and site.conditions):
            continue  # the latter are made as setup says
        for path in (*site.renders.get("paths", ()), site.renders.get("made_under", ())):
            found |= _asked_alone(path, argument)
        plan = text.plans.get(site.target)
        if site.kind != "class" or site.call is None or plan is None or plan.details is None or site.target in above:
            continue
        called = text.analyser.execution(site.target)
        inputs, _ = own_methods.inputs_of(site, called)
        substitution = text.analyser.substitution(run, site, called, inputs)
        for added, inner, _ in plan.details.added:
            if added.origin.startswith("None if") and whole_argument(substitution._input(inner)) == argument:
                found |= _sides(text, called, inner, above | {run.model.qualname})
    return found


def _asked_alone(path: tuple[Step, ...], argument: str) -> set[bool]:
    """The side that a way to a module takes; none where a field decides, too, about what is made without the argument."""
    sides: set[bool] = set()
    for step in path:
        question = asked(step.text)
        if question is not None and question[0] == argument:
            sides.add(question[1] == step.holds)
        elif f"{GIVEN}.{argument}" in step.text:
            sides |= {True, False}
    by_fields = any(not step.deps and asked(step.text) is None and "self." in step.text for step in path)
    return set() if sides == {False} and by_fields else sides


def _is_of_one_pass(site: Site) -> bool:
    """Is every pass of the loop around the call the only one that calls this module?"""
    calls = {call for call, _, _ in site.calls}  # one is followed again for each method that leads to it
    if len(calls) != 1:
        return False
    around = [node for node in site.source.ancestors(calls.pop()) if isinstance(node, ast.For | ast.While)]
    if site.in_setup:
        return len(around) == 1 and bool(site.container) and (bool(site.loops) or bool(site.index))
    return len(around) == len(site.loops) and {loop.node for loop in site.loops} == set(around)
