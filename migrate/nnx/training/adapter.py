"""The fallback that always holds: the loop stays as it is and a generated `Functional` gives it `init` and `apply`."""

from __future__ import annotations

import ast

from ...context import FileContext
from ...diagnostics import Severity
from ...edits import Span
from ...linen.flow import Flow
from ...plan import ClassPlan
from .components import Component, names_in, sizes_lambda


def write(component: Component, flow: Flow, contexts: dict[str, FileContext]) -> None:
    """`Model(...)` → `Functional(Model, ..., sizes=lambda x, *_, **__: {'in_features': x.shape[-1]})` at every site."""
    for site, plan in zip(component.sites, component.plans, strict=True):
        source = flow.site_source[site]
        _wrap(contexts[source.module], site, plan)


def _wrap(context: FileContext, site: ast.Call, plan: ClassPlan) -> None:
    unknown = names_in(plan.added_arguments) - set(plan.call_arguments)
    if unknown:
        context.report(
            site,
            "NNX603",
            f"{plan.qualname} needs {', '.join(a.name for a in plan.added_arguments)}, which cannot be told from the "
            f"arguments of its __call__ ({', '.join(sorted(unknown))})",
            severity=Severity.WARNING,
            help="Pass the sizes to the constructor here.",
        )
    sizes = "" if unknown else sizes_lambda(plan)
    text = context.source.text
    name = context.parity("Functional")
    function = context.span(site.func)
    opening = text.index("(", _after_parentheses(text, function.end, site))
    given = [*site.args, *[k.value for k in site.keywords]]
    end = context.span(site).end - 1
    context.insert(function.start, f"{name}(", code="NNX603", order=-1)
    if not given and not sizes:
        context.replace(Span(function.end, opening + 1), code="NNX603")
        return
    context.replace(Span(function.end, opening + 1), ", ", code="NNX603")
    if sizes:
        last = max((context.span(g).end for g in given), default=0)
        comma = "" if not given or "," in _code_between(text, last, end) else ", "
        context.insert(end, f"{comma}sizes={sizes}", code="NNX603")
    context.report(
        site,
        "NNX603",
        f"the code around {plan.qualname.rpartition('.')[2]} keeps its variables outside of the model: it works on a "
        f"`Functional`, which gives the NNX class pure `init` and `apply`",
        help="The variables keep their names, so old checkpoints fit.",
    )


def _after_parentheses(text: str, at: int, site: ast.Call) -> int:
    """Past a `)` that closes a parenthesised callee."""
    while text[at : at + 1].isspace() or text[at : at + 1] == ")":
        at += 1
    return at


def _code_between(text: str, start: int, end: int) -> str:
    return "\n".join(line.split("#", 1)[0] for line in text[start:end].splitlines())
