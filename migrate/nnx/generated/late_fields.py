"""Fields of wrapped Linen modules that only the call knows: `lib.Block(8, deterministic=not train)(x)`.

Linen makes such a module anew in each call. What wraps it is made once, with a flag or a dtype as an example; the call makes
the module as ever, and has it compute with the variables that are there:

    self.Block_0 = linen_parity.foreign(lib.Block(8, deterministic=True), "Block", jax.ShapeDtypeStruct(...), rngs=rngs)
    ...
    x = linen_parity.remade(self.Block_0, lib.Block(8, deterministic=not train))(x)

A field that decides which parameters there are, or their shapes, raises as it does in Linen; what wraps it checks dtypes.
What is no flag or dtype is found by the call on shapes, of a class that makes one (`later_sizes`): `LaterRemade("Block")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.modules.self_calls import dtype_default
from ...linen.values import default_dtypes
from ...linen.values.sites import BoundArg, Factory, ModuleField, Site, Unmigratable
from ...linen.values.values import Array, DtypeOf
from ..text.text_parts import joined
from . import example_flags

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_LATE = "late fields"  # of a site: the call makes its module anew
_BY_EXAMPLE, _BY_CALL = "by example", "by call"  # and the constructor, before that, by these


def said(text: ClassText, site: Site, field: str, bound: BoundArg) -> Parts:
    """An argument of the construction; an example of it where only the call knows it."""
    if bound.localized is not None or bound.text is not None or not (_makes(text, site) and _is_in_words(bound)):
        return text.argument(bound, field, site)
    example = _example(text, field, bound)
    if not example:
        return text.argument(bound, field, site)
    site.renders[_LATE] = _BY_EXAMPLE
    return example


def _makes(text: ClassText, site: Site) -> bool:
    """Does a method of the class make the module itself?"""
    if site.in_setup or site.held or site.passed or site.choice or site.alternatives or site.through:
        return False
    own = any(base.source is site.source and base.node in site.source.ancestors(site.node) for base in text.model.mro())
    return own and site.factory is not None and site.factory.node is site.node.func and site.holder == "self"


def _is_in_words(bound: BoundArg) -> bool:
    """Is it an argument of the construction itself, not of a partial?"""
    return bound.given and bound.node is not None


def _example(text: ClassText, field: str, bound: BoundArg) -> Parts:
    """What the constructor gives instead: what a flag of this name is by default, float32 for a dtype; () for others."""
    value = bound.abs.value
    if isinstance(value, Array | Factory | ModuleField) or text.run.holds_module(value):
        return ()
    if field in example_flags.FLAGS:
        return (example_flags.FLAGS[field],)
    if isinstance(value, DtypeOf):
        return _dtype(text, value)
    flag = example_flags.handed_on(text, value)
    return (flag,) if flag else ()


def _dtype(text: ClassText, value: DtypeOf) -> Parts:
    """`x.dtype`, `self.dtype or x.dtype` for what the constructor takes an input to be."""
    entry = text.run.model.method(text.run.entry)
    default = dtype_default(text.run, entry, value.why) if entry is not None else ""
    input_type = text.namer.name(default or "jax.numpy.float32")
    of_field = default_dtypes.with_argument(value, input_type)
    return text.said(of_field) if of_field is not None else (input_type,)


def written(text: ClassText, site: Site, held: Parts) -> Parts:
    """How the call says the module: `held`, made anew."""
    if _LATE not in site.renders:
        return held
    return joined((text.namer.parity("remade"),), [held, (site.source.span(site.node),)])


def handed_on(text: ClassText, site: Site) -> list[Parts]:
    """`**mapping`, which the call on shapes has where the constructor cannot say it."""
    try:
        return text.handed_on(site)
    except Unmigratable as error:
        raise Unmigratable("NNX113", error.reason, error.node) from error


def find(text: ClassText, site: Site) -> bool:
    """Note that the call on shapes makes a module of another package, of whose arguments the constructor has no example;
    False where it cannot.
    """
    unknown = [b for b in site.bound.values() if b.localized is None and b.text is None]
    plain = not any(isinstance(b.abs.value, Array) or text.run.holds_module(b.abs.value) for b in unknown)
    mapping = site.renders.get("**", site) is None
    if (unknown or mapping) and plain and _makes(text, site) and all(map(_is_in_words, unknown)):
        site.renders[_LATE] = _BY_CALL
        return True
    return False


def by_call(site: Site) -> bool:
    """Does the call on shapes make the module?"""
    return site.renders.get(_LATE) is _BY_CALL


def is_remade(site: Site) -> bool:
    """Does the construction stay where it stands?"""
    return _LATE in site.renders


__all__ = ["by_call", "find", "handed_on", "is_remade", "said", "written"]
