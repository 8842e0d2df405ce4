"""What must hold of classes that configurations construct (see `linen.project.configured`) for them to become native."""

from __future__ import annotations

import ast

from ...linen.execution.analyser import Analyser
from ...linen.project.configured import MAKERS
from ...linen.values.sites import Unmigratable
from ...plan import Outcome, Plan, call_names
from ...trees import subtree
from ..linen_copies.behind import behind
from ..training.components import names_in


def check(plan: Plan, analyser: Analyser, reasons: dict[str, Unmigratable]) -> None:
    """Refuse those whose sizes the arguments of their call do not tell, and all of them where a class that stays Linen may
    be handed what configurations make."""
    made = analyser.classes.project.made_by_configurations
    native = [name for name in made if name not in reasons and name in plan.classes]
    for name in native:
        known = plan.classes[name]
        unknown = names_in(known.added_arguments) - call_names(known)
        if known.outcome is Outcome.NATIVE and unknown:
            reason = f"{made[name].place} makes it, and the arguments of its call do not tell `{min(unknown)}`"
            reasons[name] = Unmigratable("NNX182", reason)
        for outer, field in sorted(made[name].within):
            taken = field in analyser.given_outside.handed.get(outer, ())
            if analyser.classes.get(outer) is not None and (outer in reasons or not taken):
                what = "stays Linen" if outer in reasons else f"does more with `{field}` than call it"
                reason = f"{made[name].place} makes it for {outer.rpartition('.')[2]}, which {what}"
                reasons.setdefault(name, Unmigratable("NNX182", reason))
    owner = _linen_owner(analyser, reasons) if native else ""
    for name in native if owner else ():
        reason = f"{made[name].place} makes it, and {owner}, which stays Linen, is handed what configurations make"
        reasons.setdefault(name, Unmigratable("NNX182", reason))


def _linen_owner(analyser: Analyser, reasons: dict[str, Unmigratable]) -> str:
    """A class that stays Linen and is given what a configuration makes."""
    given, project = analyser.given_outside, analyser.classes.project
    for target, source, argument in given.givers:
        if target in reasons:
            for where, value in [(source, argument), *behind(given.functions, source, argument, given.holds)]:
                if any(
                    project.qualname(where, node) in MAKERS
                    for node in subtree(value)
                    if isinstance(node, ast.Name | ast.Attribute)
                ):
                    return target.rpartition(".")[2]
    return ""


__all__ = ["check"]
