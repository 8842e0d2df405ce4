"""Chains that code outside of modules fills, as NNX: the constructor makes each item for what the one before gives.

What constructs the chain hands it `Functional`s, as the training writer makes them of all modules that go where no
call is seen; Linen's own layers among the items become such here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from ...catalog import layers
from ...edits import Part, Span
from ...linen.execution.analyser import Analyser
from ...linen.outside.given_outside import TEMPLATE_LAYERS
from ...linen.outside.outside_chains import OutsideChain
from ...linen.project.index import Project
from ...linen.values.sites import Unmigratable
from ...plan import Outcome, Plan
from ..text.text_parts import Namer
from ..training import adapter

if TYPE_CHECKING:
    from ...context import FileContext
    from ..classes.class_text import ClassText


def chain(text: ClassText) -> OutsideChain | None:
    """The chain that a class is, if it is one."""
    return text.analyser.outside_chains.get(text.model.qualname)


def kinds(analyser: Analyser, qualname: str) -> Set[str]:
    """The classes of the project among what a chain is handed; none for a class that is no chain.

    They are decided before it, as what a class makes is: its plan has their collections, streams and modes.
    """
    found = analyser.outside_chains.get(qualname)
    calls = found.calls if found is not None else []
    return {kind for source, call in calls for kind in analyser.made_outside(source, call)}


def prepare(text: ClassText) -> None:
    """Ask for the shape of the input; raises Unmigratable where a layer among the items has no form outside of modules."""
    found = chain(text)
    if found is None:
        return
    given = text.analyser.given.get(text.model.qualname, {})
    if found.field in given:
        raise Unmigratable("NNX127", "modules are passed to it both by modules and outside of them", text.model.node)
    text.used.setdefault(found.argument, set()).add("shape")
    for source, call in found.layers:
        _parts(source, call, text.run.project.qualname(source, call.func) or "", text.namer)


def _parts(source: Any, call: ast.Call, name: str, namer: Namer) -> list[Part]:
    """`nn.Dense(10)` → `linen_parity.Functional(nnx.Linear, out_features=10, sizes=...)`."""
    parts: list[Part] = [f"{namer.parity('Functional')}(", *made_of(source, call, name, namer)]
    if TEMPLATE_LAYERS[name]:
        parts.append(f", sizes=lambda x: {{{TEMPLATE_LAYERS[name]!r}: x.shape[-1]}}")
    return [*parts, ")"]


def made_of(source: Any, call: ast.Call, name: str, namer: Namer) -> list[Part]:
    """`nn.Dense(10)` → `nnx.Linear, out_features=10`, as a partial is given it; raises Unmigratable where it cannot be."""
    layer = layers.lookup(name)
    if layer is None or name not in TEMPLATE_LAYERS or any(k.arg in (None, "name", "parent") for k in call.keywords):
        raise Unmigratable("NNX127", f"`{ast.unparse(call.func)}` is passed to it outside of modules", call)
    named = [p.name for p in layer.parameters]
    if len(call.args) > len(named) or any(isinstance(a, ast.Starred) for a in call.args):
        raise Unmigratable("NNX127", f"`{ast.unparse(call)}` is passed to it outside of modules", call)
    pairs = [*zip(named, call.args), *((str(k.arg), k.value) for k in call.keywords)]
    args = {n: layers.Arg((source.span(a),)) for n, a in pairs}
    try:
        built = layer.partial(args)
    except layers.Unsupported as error:
        raise Unmigratable(error.code, error.reason, call) from error
    for part in built.parity:
        namer.parity(part)
    own = built.target.startswith("linen_parity.")
    parts: list[Part] = [namer.parity(built.target.removeprefix("linen_parity.")) if own else namer.name(built.target)]
    for keyword, value in built.keywords:
        parts += [f", {keyword}=", *[_named(p, namer) for p in value]]
    return parts


def _named(part: Part, namer: Namer) -> Part:
    if not isinstance(part, layers.Ref):
        return part
    own = part.startswith("linen_parity.")
    return namer.parity(part.removeprefix("linen_parity.")) if own else namer.name(str(part))


def check(plan: Plan, analyser: Analyser, reasons: dict[str, Unmigratable]) -> None:
    """Chains among whose items there may be modules that stay Linen stay so, too: `reasons` gets them.

    So do those that hold what was decided after them, of whose items their plans do not tell.
    """
    for target, found in analyser.outside_chains.items():
        decided = plan.classes.get(target)
        if decided is None or decided.outcome is not Outcome.NATIVE:
            continue
        for source, call in found.calls:
            for kind in analyser.made_outside(source, call):
                inner = plan.classes.get(kind)
                if inner is None or inner.outcome is not Outcome.NATIVE:
                    said = f"{kind.rpartition('.')[2]}, which stays Linen, is passed to it outside of modules"
                    reasons[target] = Unmigratable("NNX127", said, call)
                elif inner.called_by_init:
                    said = f"it is handed {kind.rpartition('.')[2]}, which makes or changes variables in the call of init"
                    reasons[target] = Unmigratable("NNX127", said, call)
                elif decided.hold(inner):
                    said = f"it and {kind.rpartition('.')[2]} are handed each other outside of modules"
                    reasons[target] = Unmigratable("NNX127", said, call)


def write(plan: Plan, project: Project, by_path: Mapping[Any, FileContext]) -> None:
    """The edits of the layers among the items of native chains."""
    for found, _ in _native(plan):
        for source, call in found.layers:
            context = by_path[source.path]
            context.replace(call, *_parts(source, call, project.qualname(source, call.func) or "", context), code="NNX100")


def write_modules(plan: Plan, by_path: Mapping[Any, FileContext]) -> None:
    """The modules among the items whose classes only calls of their function tell: the training writer, which has been
    through the code, has left these.
    """
    for found, analyser in _native(plan):
        for source, call in found.calls:
            plans = tuple(plan.classes[name] for name in sorted(analyser.made_outside(source, call)))
            context = by_path[source.path]
            if plans and not context.edits.has(Span(context.span(call.func).start, context.span(call.func).start)):
                adapter.write_site(context, call, plans)


def _native(plan: Plan) -> Iterator[tuple[OutsideChain, Analyser]]:
    for decided in plan.reported():
        analyser = getattr(decided.writer, "analyser", None)
        if isinstance(analyser, Analyser) and decided.outcome is Outcome.NATIVE:
            found = analyser.outside_chains.get(decided.qualname)
            if found is not None:
                yield found, analyser


__all__ = ["chain", "check", "kinds", "made_of", "prepare", "write", "write_modules"]
