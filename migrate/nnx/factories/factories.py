"""Factories as text: `functools.partial(nn.Conv, ...)` and bare mentions of layers, wherever native classes get them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ...catalog import layers
from ...edits import Parts
from ...linen.lifted.lifting import LIFTED
from ...linen.modules.choices import FactoryChoice
from ...linen.modules.lost_factories import factories_in
from ...linen.values.sites import Factory, Unmigratable
from ...plan import Outcome
from ...source import SourceFile
from ..text import elsewhere
from ..text.text_parts import joined

if TYPE_CHECKING:
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter


def rewrite(writer: ClassWriter) -> None:
    """Layers that are mentioned rather than constructed: in methods, defaults, aliases, scripts that fill a field."""
    for node, factory, source in _mentioned(writer):
        if any(_stays_linen(writer, parent) for parent in source.ancestors(node)):
            continue  # a class that stays Linen goes on making Linen layers
        if _is_made_here(writer, node, source):
            continue
        layer = layers.lookup(factory.target)
        if isinstance(node, ast.Lambda):
            _put(writer, node, _of_lambda(writer, node, factory, source), source)
        elif isinstance(node, ast.Call):
            _put(writer, node, partial_parts(writer, node, factory, source), source)
        elif layer is not None:
            parts = _bare(writer, layer)
            if len(parts) > 1 and isinstance(source.parents.get(node), ast.Compare | ast.Dict):
                what = f"`{ast.unparse(node)}` is compared, or a key, and NNX has no class that is its like"
                raise Unmigratable("NNX133", what, node)
            _put(writer, node, parts, source)


def taken(text: ClassText) -> Iterator[ast.AST]:
    """What lambdas construct that a native class is given: they are partials, and construct nothing themselves."""
    for field in text.run.fields:
        for kind in text.run.analyser.kinds.mentions(text.model, field):
            if isinstance(kind.node, ast.Lambda):
                yield kind.node.body


def _put(writer: ClassWriter, node: ast.expr, parts: Parts, source: SourceFile) -> None:
    parity, imports = elsewhere.named_in(writer.source, source, parts)
    writer.put(node, *parts, source=source, parity=parity, imports=imports)


def _is_made_here(writer: ClassWriter, node: ast.expr, source: SourceFile) -> bool:
    """Does the constructor make what a function outside of classes hands out, so that nobody asks the function for it?

    It then keeps its words: other classes may be given other values of its arguments.
    """
    around = list(source.ancestors(node))
    if any(isinstance(a, ast.ClassDef) for a in around) or not any(isinstance(a, ast.FunctionDef) for a in around):
        return False
    bounds = [b for s in writer.run.sites for b in s.bound.values()]
    chosen = [b for b in bounds if isinstance(b.abs.value, FactoryChoice)]
    if any(b.localized is not None for b in chosen):
        return False
    if any(isinstance(b.abs.value, Factory) and b.abs.value.node is node for b in bounds):
        return False
    if any(f.node is node for b in chosen for f in factories_in(b.abs.value)):
        return True  # the constructor says it in its own words
    made = [s for s in writer.run.sites if s.factory is not None and s.factory.node is node]
    return bool(made) and all(s.choice for s in made)  # one that is called by itself is asked for: `get_norm("rms")()`


def _stays_linen(writer: ClassWriter, node: ast.AST) -> bool:
    plan = writer.text.plans.get(writer.run.project.linen_names.get(node, ""))
    return plan is not None and plan.outcome is not Outcome.NATIVE


def _mentioned(writer: ClassWriter) -> Iterator[tuple[ast.expr, Factory, SourceFile]]:
    run = writer.run
    for node, found in list(run.evaluated.items()):
        if isinstance(found.value, Factory) and found.value.node is node and found.value.source is not None:
            if isinstance(node, ast.expr) and _is_value(writer, node, found.value, found.value.source):
                yield node, found.value, found.value.source
    for field in run.fields.values():
        for kind in run.analyser.kinds.mentions(writer.model, field.name):
            node, source = kind.node, kind.source
            if kind.origin is not None and isinstance(node, ast.expr) and source is not None:
                if _is_value(writer, node, kind, source):
                    yield node, kind, source


def _is_value(writer: ClassWriter, node: ast.expr, factory: Factory, source: SourceFile) -> bool:
    """Is the mention a value of its own, not what a call calls or a partial is made of?"""
    if factory.variant and not isinstance(node, ast.Call):
        return False  # the class keeps its name
    if isinstance(node, ast.Lambda):
        return True
    if factory.lifted or writer.run.analyser.classes.get(factory.target) is not None:
        named = isinstance(node, ast.Call) and any(k.arg == "name" for k in node.keywords)
        return isinstance(node, ast.Call) and (named or bool(factory.calltime)) and not factory.lifted
    if source.is_class_asked(node):
        return False
    parent = source.parents.get(node)
    if not isinstance(parent, ast.Call):
        return True
    if parent.func is node:
        return False
    name = writer.run.project.qualname(source, parent.func)
    first = bool(parent.args) and parent.args[0] is node
    return not (first and (name == "functools.partial" or name in LIFTED))


def _bare(writer: ClassWriter, layer: layers.Layer) -> Parts:
    """`nn.Conv` as a value: the NNX class, with what keeps it equal bound."""
    try:
        built = layer.partial({})
    except layers.Unsupported as error:
        raise Unmigratable(error.code, error.reason) from error
    target = _target(writer, built)
    if not built.keywords:
        return (target,)
    bound: list[Parts] = [(target,), *[(f"{k}=", *writer.text.named(p)) for k, p in built.keywords]]
    return joined((writer.namer.name("functools.partial"),), bound)


def _target(writer: ClassWriter, built: layers.Built) -> str:
    for part in built.parity:
        writer.namer.parity(part)
    if built.target.startswith("linen_parity."):
        return writer.namer.parity(built.target.removeprefix("linen_parity."))
    return writer.namer.name(built.target)


def partial_parts(writer: ClassWriter, node: ast.Call, factory: Factory, source: SourceFile) -> Parts:
    """`functools.partial(nn.Conv, ...)` → of the NNX class, without what the call gives."""
    layer = layers.lookup(factory.target)
    if layer is None or writer.run.analyser.classes.get(factory.target) is not None:
        return _without(node, {"name", *factory.calltime}, source)
    variants = [_partial(writer, node, kind, source) for kind in _kinds(factory)]
    if any(other != variants[0] for other in variants[1:]):
        raise Unmigratable("NNX163", f"`{ast.unparse(node.args[0])}` is of several kinds, whose partials differ", node)
    return variants[0]


def _of_lambda(writer: ClassWriter, node: ast.Lambda, factory: Factory, source: SourceFile) -> Parts:
    """`lambda: nn.LayerNorm(epsilon=1e-6)` → a partial, which sizes and random streams can be given to."""
    call = node.body
    assert isinstance(call, ast.Call)
    partial = (writer.namer.name("functools.partial"),)
    layer = layers.lookup(factory.target)
    if layer is None or writer.run.analyser.classes.get(factory.target) is not None:
        given: list[Parts] = [(source.span(a),) for a in call.args]
        given += [(f"{k.arg}=", source.span(k.value)) for k in call.keywords]
        target: Parts = (source.span(call.func),)
        return joined(partial, [target, *given]) if given else target
    pairs = [*zip([p.name for p in layer.parameters], factory.positional), *factory.args.items()]
    said = {n: layers.Arg((source.span(b.node),), b.abs.value) for n, b in pairs if b.node is not None}
    try:
        built = layer.partial(said)
    except layers.Unsupported as error:
        raise Unmigratable(error.code, error.reason, node) from error
    bound: list[Parts] = [(f"{k}=", *writer.text.named(p)) for k, p in built.keywords]
    target = (_target(writer, built),)
    return joined(partial, [target, *bound]) if bound else target


def _without(node: ast.Call, names: Collection[str], source: SourceFile) -> Parts:
    """A partial of a class without the `name=` that it holds, as NNX's modules are called after their attributes, and
    without the flags that its call takes.
    """
    kept = [k for k in node.keywords if k.arg not in names]
    if len(kept) == len(node.keywords):
        return (source.span(node),)
    arguments: list[Parts] = [(source.span(a),) for a in node.args]
    arguments += [(f"{k.arg}=" if k.arg else "**", source.span(k.value)) for k in kept]
    return joined((source.span(node.func),), arguments)


def _kinds(factory: Factory) -> list[Factory]:
    """The kinds that have to agree: those that only scripts give raise where they do not fit."""
    return [factory, *[k for k in factory.alternatives if k.origin is None]]


def _partial(writer: ClassWriter, node: ast.Call, factory: Factory, source: SourceFile) -> Parts:
    layer = layers.lookup(factory.target)
    if layer is None:
        return (source.span(node),)
    base = node.args[0]
    direct = writer.run.project.qualname(source, base) == factory.target and not factory.variant
    own = {id(k.value) for k in node.keywords} | {id(a) for a in node.args[1:]}
    held: dict[str, layers.Arg] = {}
    given: dict[str, layers.Arg] = {}
    pairs = [*zip([p.name for p in layer.parameters], factory.positional), *factory.args.items()]
    for name, bound in pairs:
        if bound.node is not None and (direct or id(bound.node) in own):
            given[name] = layers.Arg((source.span(bound.node),), bound.abs.value)
        else:
            held[name] = layers.Arg((f"<{name}>",), bound.abs.value)
    try:
        built = layer.partial({**held, **given})
        if not direct:
            inner = layer.partial(held)
            if inner.target != built.target:
                raise Unmigratable("NNX202", f"`{ast.unparse(base)}` would become two different NNX classes", node)
            built = built.without(inner.keywords)
    except layers.Unsupported as error:
        raise Unmigratable(error.code, error.reason, node) from error
    callee: Parts = (_target(writer, built),) if direct else (source.span(base),)
    if not direct:
        for part in built.parity:
            writer.namer.parity(part)
    arguments: list[Parts] = [callee, *[(f"{k}=", *writer.text.named(p)) for k, p in built.keywords]]
    arguments += [("**", source.span(mapping)) for mapping in factory.unpacked if id(mapping) in own]
    return joined((source.span(node.func),), arguments)
