"""Classes that are a layer with something changed: subclasses of the layer's NNX counterpart."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ...catalog import layers
from ...edits import Part, Span
from ...linen.execution.analyser import Analyser
from ...linen.modules.layer_calls import own_call
from ...linen.modules.layer_classes import LayerClass, super_param
from ...linen.values.sites import Factory, Site, Unmigratable
from ...linen.values.values import Unknown
from ...plan import AddedArgument
from ...trees import subtree
from . import elsewhere
from .text_parts import Details, MethodEdit, Namer

if TYPE_CHECKING:
    from ...linen.project.classes import ClassModel
    from ..classes.class_text import ClassText


def check(site: Site, target: str, of: str = "") -> None:
    """The layer must be what the class inherits from, whatever this site gives it; `of`: a layer that is handed to it."""
    layer = layers.lookup(of or site.target)
    assert layer is not None
    if (site.lifted and not of) or layer.partial({}).target != target:
        raise Unmigratable("NNX160", f"a class that inherits from {of or site.target} would become {target} here", site.node)


def name_here(text: ClassText, factory: Factory, site: Site) -> str:
    """How the constructor calls such a class where it spells a factory out."""
    found = elsewhere.here(text, factory.variant)
    if found is None:
        reason = f"{factory.text} is one of several factories, and this file has no name for it"
        raise Unmigratable("NNX160", reason, site.node)
    return found


def takes_calls_as_they_are(run: Any, site: Site, node: ast.Call, method: str) -> bool:
    """Is it called by a `__call__` that the project's own class has, and keeps?"""
    if site.kind != "layer" or method != "__call__":
        return False
    own = [own_call(run.analyser.classes, kind) is not None for kind in (site, *site.alternatives)]
    if not any(own):
        return False
    if not site.alternatives and not site.calltime:
        return True
    if len(node.args) != 1 or node.keywords:
        raise Unmigratable("NNX163", "modules of several kinds, one with a `__call__` of its own, are given options", node)
    return False


_NORMS = frozenset({"LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm", "InstanceNorm"})
_AXES = frozenset({"axis", "feature_axes", "reduction_axes"})


class LayerVariant:
    """The edits of one such class; plays the part of a ClassText and of its writer."""

    def __init__(self, found: LayerClass, analyser: Analyser) -> None:
        self.found = found
        self.model: ClassModel = found.model
        self.source = found.model.source
        self.analyser = analyser
        self.notes: list[tuple[str, str, ast.AST]] = []

    def details(self) -> Details:
        return Details([], {})

    def added(self, inputs: tuple[str, ...]) -> tuple[AddedArgument, ...]:
        """What the constructor of a norm asks for beside the fields; `inputs`: the arguments of its call."""
        axes = any(field.name in _AXES for field in self.found.defaults)
        norm = self.found.layer.removeprefix("flax.linen.") in _NORMS and not axes
        return (AddedArgument("num_features", f"{inputs[0]}.shape[-1]"),) if norm and inputs else ()

    def edits(self, namer: Namer) -> list[MethodEdit]:
        """Header, constructor for changed defaults, `param` read by the call; raises Unmigratable."""
        model, source, newline = self.model, self.source, self.source.newline
        layer = layers.lookup(self.found.layer)
        assert layer is not None
        try:
            built = layer.partial({f.name: layers.Arg((f.name,), Unknown()) for f in self.found.defaults})
        except layers.Unsupported as error:
            raise Unmigratable(error.code, error.reason, model.node) from error
        if list(built.keywords) != [(f.name, (f.name,)) for f in self.found.defaults]:
            raise Unmigratable("NNX160", f"it changes a default of {self.found.layer} that NNX has not", model.node)
        for part in built.parity:
            namer.parity(part)
        target = built.target
        base = namer.parity(target.removeprefix("linen_parity.")) if target.startswith("linen_") else namer.name(target)
        made = [MethodEdit(source, source.span(model.node.bases[0]), (base,))]
        first = model.node.body[0]
        indent = source.indent_of(first) or source.indent_of(model.node) + source.indent_unit
        inner = indent + source.indent_unit
        lines: list[Part] = []
        if self.found.defaults:
            said: list[Part] = []
            for field in self.found.defaults:
                assert field.default is not None
                noted: list[Part] = [": ", source.span(field.annotation), " = "] if field.annotation is not None else ["="]
                said += [f", {field.name}", *noted, *source.enclosed(field.default)]
                made.append(MethodEdit(source, source.line_span(field.node), ()))
            given = ", ".join(f"{f.name}={f.name}" for f in self.found.defaults)
            lines += [f"{indent}def __init__(self, *args", *said, ", **kwargs):", newline]
            lines += [f"{inner}super().__init__(*args, {given}, **kwargs)", newline]
        method = model.own_methods.get("param")
        if method is not None:
            names = ", ".join(repr(n) for n in _PARAMETERS.get(self.found.layer, ("kernel", "bias")))
            lines += [newline] if lines else []
            lines += [f"{indent}def __call__(self, inputs):", newline]
            lines += [
                f"{inner}return {base}.__call__({namer.parity('with_params')}(self, ({names}), self.param), inputs)",
                newline,
            ]
            made += self._param(method.node)
        call = model.own_methods.get("__call__")
        if call is not None:  # stays as it is: the layer of NNX is called in the same way
            made += [MethodEdit(source, source.line_span(d), ()) for d in call.node.decorator_list]
        if lines:
            docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            at = source.line_span(first).end if docstring or self.found.defaults else source.line_span(first).start
            if self.found.defaults:
                at = source.line_span(self.found.defaults[-1].node).end
            rest = source.text[at:]
            blank = rest[: rest.find("\n") + 1]
            apart = [] if at >= source.span(model.node).end or not blank.strip() else [newline]
            made.append(MethodEdit(source, Span(at, at), (*([newline] if docstring else []), *lines, *apart), insert=True))
        return made

    def _param(self, node: ast.FunctionDef) -> list[MethodEdit]:
        """`param(self, name, init, ...)` becomes `param(self, name)`, which reads the attribute."""
        source, arguments = self.source, node.args
        name = arguments.args[1]
        last = [*arguments.args, *arguments.defaults, *[a for a in (arguments.vararg, arguments.kwarg) if a is not None]]
        start, end = source.span(name).end, max(source.span(a).end for a in last)
        made = [MethodEdit(source, Span(start, end), ())] if end > start else []
        for call in subtree(node):
            if super_param(call):
                made.append(MethodEdit(source, source.span(call), (f"getattr(self, {name.arg})[...]",)))
        return made


_PARAMETERS = {
    "flax.linen.Embed": ("embedding",),
    "flax.linen.LayerNorm": ("scale", "bias"),
    "flax.linen.RMSNorm": ("scale",),
    "flax.linen.GroupNorm": ("scale", "bias"),
}
