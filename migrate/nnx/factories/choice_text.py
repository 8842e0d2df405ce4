"""What a function of the project gives, a factory or one of several, as an argument:

    Block(norm=partial(nnx.BatchNorm, ...) if norm == "batch" else nnx.LayerNorm)

The constructor says the choice itself, in its own words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...catalog import layers
from ...edits import Part, Parts
from ...linen.modules.choices import RAISED, FactoryChoice
from ...linen.values.sites import BoundArg, Factory, Site, Unmigratable
from ...linen.values.values import Value
from ..text import elsewhere, layer_variants
from ..text.text_parts import joined

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def argument(text: ClassText, bound: BoundArg, site: Site) -> Parts | None:
    """The choice that an argument is, or what a function of the project gives; None where it is none, or where the class
    itself has a name for it.
    """
    value = bound.abs.value
    if bound.localized is not None:
        return None
    if isinstance(value, FactoryChoice):
        return _said(text, value, site)
    if not isinstance(value, Factory) or not _may_be_said(value):
        return None
    try:
        return _factory(text, value, site)
    except Unmigratable as error:
        if error.code == "NNX132":
            return None
        raise


def _said(text: ClassText, value: Value, site: Site) -> Parts:
    if value is RAISED:
        return ("None",)  # Linen raises there, and so does whoever calls it
    if isinstance(value, FactoryChoice):
        if value.home is not None and value.home is not text.source:
            raise Unmigratable("NNX132", f"`{value.text or 'a condition'}` means something else here", site.node)
        test: Parts = text.said(value.localized) if value.localized is not None else (text.own_text(value.text),)
        return ("(", *_said(text, value.then, site), " if ", *test, " else ", *_said(text, value.orelse, site), ")")
    if not isinstance(value, Factory) or not _may_be_said(value):
        raise Unmigratable("NNX132", "one of several factories is handed on, which the constructor cannot say", site.node)
    return _factory(text, value, site)


def _check_same(name: str, bound: BoundArg, site: Site) -> None:
    """A function that was called twice has put two values of its own under one name: `init = constant(value)`."""
    for held in bound.localized.needs if bound.localized is not None else ():
        known = site.renders.setdefault("held by factories", {}).setdefault((held, bound.node), bound.abs.value)
        if known != bound.abs.value:
            reason = f"`{name}` of {site.target.rpartition('.')[2]} is `{held}`, which a function gives several values"
            raise Unmigratable("NNX113", reason, site.node)


def _may_be_said(factory: Factory) -> bool:
    return not (factory.lifted or factory.field or factory.unpacked)


def _factory(text: ClassText, factory: Factory, site: Site) -> Parts:
    """A layer or class, or a partial of one, as the constructor says it."""
    order = layers.lookup(factory.target)
    model = text.analyser.classes.get(factory.target)
    names = [f.name for f in model.fields()] if model is not None else [p.name for p in order.parameters] if order else []
    given: list[tuple[str, BoundArg]] = [*zip(names, factory.positional), *factory.args.items()]
    for name, bound in given:
        _check_same(name, bound, site)
    said = [(name, text.argument(bound, name, site)) for name, bound in given]
    target: Part
    if order is not None and model is None:
        args = {n: layers.Arg(parts, bound.abs.value) for (n, bound), (_, parts) in zip(given, said)}
        try:
            built = order.partial(args)
        except layers.Unsupported as error:
            raise Unmigratable(error.code, error.reason, site.node) from error
        for part in built.parity:
            text.namer.parity(part)
        said = [(name, text.named(parts)) for name, parts in built.keywords]
        parity = built.target.startswith("linen_parity.")
        if factory.variant:
            layer_variants.check(site, built.target, factory.target)
            target = layer_variants.name_here(text, factory, site)
        else:
            target = text.namer.parity(built.target[13:]) if parity else text.namer.name(built.target)
    else:
        found = elsewhere.here(text, factory.target)
        if found is None or factory.calltime:
            reason = f"`{factory.text}` is one of several factories, which the constructor cannot say"
            raise Unmigratable("NNX132", reason, site.node)
        target = found
    if not said:
        return (target,)
    return joined((text.namer.name("functools.partial"),), [(target,), *[(f"{n}=", *parts) for n, parts in said]])


__all__ = ["argument"]
