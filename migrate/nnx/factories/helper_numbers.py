"""Modules that a helper function makes at several calls under conditions: an iterator over their list hands them in.

    if self.normed:                      if self.normed:
      x = norm(self.kind)(x)               x = norm(self.kind, rms_norm=next(rms_norms, None))(x)

`next` with a default is right where all the calls make modules of the class under the same conditions on the fields, or
none does: the list is empty then.
"""

from __future__ import annotations

import ast
from typing import Any

from ...linen.execution.execute import Execution
from ...linen.values.sites import Site
from ...trees import subtree


def can_iterate(run: Execution, sites: list[Site]) -> bool:
    """Can one iterator hand the modules made at `sites` to the calls that make them, in their order?"""
    if any(calltime for s in sites for _, calltime in s.conditions):
        return False
    asked = {_inner_steps(s) for s in sites}
    if len(asked) > 1 or None in asked:
        return False
    for site in sites:
        entry = run.model.method(site.method)
        source, call = site.anchor()
        if len(site.through) > 1 or site.holder != "self" or site.scopes or site.lifted or entry is None:
            return False
        functions = [a for a in source.ancestors(call) if isinstance(a, ast.FunctionDef | ast.Lambda)]
        if functions != [entry.node]:
            return False
    # A function that makes two of the class in one call has two places for them.
    calls = [s.anchor()[1] for s in sites]
    return len({id(call) for call in calls}) == len(calls)


def _inner_steps(site: Site) -> tuple[Any, ...] | None:
    """The conditions within the helper function, in the words of the class; None where one is not said."""
    if not site.through:
        return ()
    inside = {id(node) for node in subtree(site.through[-1].function)}
    count = sum(id(node) in inside for node, _ in site.conditions)
    steps = tuple(site.renders.get("made_under", ()))
    if len(steps) < len(site.conditions) or any(step.deps for step in steps[len(steps) - count :]):
        return None
    return steps[len(steps) - count :]


__all__ = ["can_iterate"]
