"""Native classes that configurations construct: each says what a `Functional` of it needs, and what reads the configuration
makes one.

    @linen_parity.by_configuration(sizes=lambda x, *_, **__: {'in_features': x.shape[-1]})
    class Torso(nnx.Module): ...

    torso = linen_parity.configured(hydra.utils.instantiate, config.network.torso)
"""

from __future__ import annotations

from ...context import FileContext
from ...edits import Span
from ...linen.flow.flow import Flow
from ...linen.project import configured
from ...plan import Outcome
from ..text.text_parts import first_on_its_line
from . import adapter


def write(flow: Flow, contexts: dict[str, FileContext]) -> None:
    """Add the decorators, and the calls."""
    project, plans = flow.project, flow.plan.classes
    native = [plans[name] for name in project.made_by_configurations if name in plans]
    native = [plan for plan in native if plan.outcome is Outcome.NATIVE]
    for plan in native:
        info = project.linen_classes[plan.qualname]
        context = contexts[info.source.module]
        at = min(info.source.line_span(node).start for node in (info.node, *info.node.decorator_list))
        indent = info.source.indent_of(info.node)
        decorator = f"@{context.parity('by_configuration')}({adapter.options((plan,), context)})"
        context.insert(at, f"{indent}{decorator}{info.source.newline}", code="NNX603", order=-1)
    for source, call in configured.calls(project) if native else ():
        context = contexts[source.module]
        function = context.span(call.func)
        opening = source.text.index("(", function.end)
        context.insert(function.start, f"{context.parity(configured.WRAPPER)}(", code="NNX603", order=-1)
        lead = first_on_its_line(source.text, opening + 1, context.span(call).end)
        context.replace(Span(function.end, opening + 1), "," if lead else ", ", code="NNX603")
        if lead:
            context.insert(function.start, lead, code="NNX603")
        context.report(
            call,
            "NNX603",
            "what this configuration makes is a `Functional` where it is a class that became native",
            help="It has pure `init` and `apply`. The variables keep their names, so old checkpoints fit.",
        )


__all__ = ["write"]
