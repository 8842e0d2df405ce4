"""Modules of several kinds: a factory's field that the project gives now this class, now that one.

One text must serve them all: the same constructor arguments, the same flags at the call. What may differ is the name
under which Linen counts them, and the number of features that come out; the constructor asks for both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...edits import Parts
from ...linen.modules import merged_fields
from ...linen.modules.bridged_results import OUT_SHAPE
from ...linen.values.kind_results import OUT, main_result
from ...linen.values.replacing import sayable
from ...linen.values.sites import Factory, Make, Site, Unmigratable
from ...linen.values.values import Array
from ...trees import of_kind
from ..text.naming import chooser, lifted_prefix

if TYPE_CHECKING:
    from ...linen.execution.analyser import Analyser
    from ..classes.class_text import ClassText
    from ..text.text_parts import InitLines


class Misfit(Exception):
    """A kind that only code outside of modules gives, and for which the text of the other kinds does not do.

    It does not stop the class: the constructor is written for the others, and with this one it raises a TypeError, as
    the layer that is passed is not rewritten. The place that passes it is reported.
    """

    def __init__(self, factory: Factory, message: str) -> None:
        super().__init__(message)
        self.factory = factory
        self.message = message


class OtherSizes(Exception):
    """Kinds that differ in the sizes that they ask for alone: each is to ask for all of them, and all is planned anew."""

    def __init__(self, wanted: dict[str, dict[str, Any]]) -> None:
        super().__init__(", ".join(wanted))
        self.wanted = wanted  # class → argument of its call → -1, or "shape" for the whole

    def learn(self, analyser: Analyser) -> None:
        """Each asks for that from now on."""
        analyser.wanted_sizes.update(self.wanted)


def check(
    text: ClassText,
    site: Site,
    lines: InitLines,
    construct: Callable[[ClassText, Site], InitLines],
    by_size: Callable[[ClassText, Site, str, str], InitLines],
) -> InitLines | None:
    """Refuse a site whose other kinds are constructed or called in another way; see also Misfit.

    `lines`: how the site is constructed; `construct` says the same for another kind. Where these differ in what they call
    the size of the input alone, what `by_size` says, for all of them; else None.
    """
    common: InitLines | None = None
    for other in site.alternatives:
        notes = len(text.notes)
        reason = ""
        try:
            made = construct(text, other)
            if (made.before, made.expression) != (lines.before, lines.expression):
                _ask_for_the_same(text, site)
                common = common or _by_size(text, site, by_size)
                reason = "takes other arguments in NNX" if common is None else ""
        except Unmigratable as error:
            reason = f"cannot be made here: {error.reason}"
        del text.notes[notes:]
        flags_differ = not all(_may_be_given(text, kind, {*site.calltime, *other.calltime}) for kind in (site, other))
        if not reason and (flags_differ or _keywords(text, other) != _keywords(text, site)):
            reason = "takes other flags at the call"
        if not reason:
            continue
        factory = other.factory
        assert factory is not None
        a, b, field = site.target.rpartition(".")[2], other.target.rpartition(".")[2], factory.chosen_by
        if factory.origin is not None:
            name = text.model.name
            raise Misfit(factory, f"{name} cannot be given {b} for `{field}`, which {reason}: its constructor will raise")
        said = f"its field `{field}` is given {a} and {b}, but {b} {reason}"
        raise Unmigratable("NNX163", said, site.node)
    return common


def _by_size(text: ClassText, site: Site, by_size: Callable[[ClassText, Site, str, str], InitLines]) -> InitLines | None:
    """One text for kinds that are constructed alike but for the size of their input, which layers of NNX take first."""
    given = site.call.args[0] if site.call is not None and site.call.args else None
    width = given.shape.dim(-1) if isinstance(given, Array) else None
    if width is None or site.held:
        return None
    kinds = (site, *site.alternatives)
    plans = [text.plans.get(kind.target) for kind in kinds if kind.kind == "class"]
    whole = any(index != -1 for plan in plans if plan is not None and plan.details for _, _, index in plan.details.added)
    assert isinstance(given, Array)
    if whole and not sayable(given.shape):
        return None
    features = text.dim(width)
    size = text.shape(given.shape) if whole else features
    try:
        made = [by_size(text, kind, size, features) for kind in kinds]
    except Unmigratable:
        return None
    same = all((m.before, m.expression) == (made[0].before, made[0].expression) for m in made)
    return made[0] if same else None


def _ask_for_the_same(text: ClassText, site: Site) -> None:
    """Raise OtherSizes where the kinds are classes of the project whose calls have the same arguments."""
    plans = [text.plans.get(kind.target) for kind in (site, *site.alternatives)]
    if any(kind.kind != "class" for kind in (site, *site.alternatives)):
        return
    wanted: dict[str, Any] = {}
    for plan in plans:
        if plan is None or plan.details is None or plan.call_arguments != plans[0].call_arguments:  # type: ignore[union-attr]
            return
        if any(added.whole for added, _, _ in plan.details.added):
            return
        for _, argument, index in plan.details.added:
            wanted[argument] = "shape" if "shape" in (index, wanted.get(argument)) else index
    asked = text.analyser.wanted_sizes
    found = {plan.qualname: wanted for plan in plans if plan is not None and asked.get(plan.qualname) != wanted}
    if found and not any(argument not in plans[0].call_arguments for argument in wanted):  # type: ignore[union-attr]
        raise OtherSizes(found)


def _may_be_given(text: ClassText, site: Site, flags: set[str]) -> bool:
    """Does a class mean the same by a flag of another kind that its call is given as None, where it takes that at all?"""
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    taken = {p.arg for p in method.parameters} if method is not None else set()
    project = text.run.project
    return model is None or all(merged_fields.taken_at_call(project, model, n) for n in (flags - {*site.calltime}) & taken)


def _keywords(text: ClassText, site: Site) -> object:
    """The flags that a class of the project takes at the call for the factories in its fields."""
    called = text.plans.get(site.target)
    return called.details.call_keywords if called is not None and called.details is not None else {}


def said_of(text: ClassText, site: Site, attribute: str) -> Parts:
    """What the module that has just been made says of its output."""
    place = text.names.places[site]
    if place.kind == "dynamic":
        return (*text.reference(site), f".{attribute}")
    return (f"{place.object}{'[-1]' if place.kind == 'list' else ''}.{attribute}",)


def check_order(text: ClassText, container: str, attribute: str | None) -> None:
    """What setup makes can only be asked by what it makes later."""
    site = text.building
    if attribute not in (OUT, OUT_SHAPE) or site is None or not site.in_setup:
        return
    for other in text.run.sites:
        if other.in_setup and other.container == container and (other.origin >= site.origin or _is_kept_later(other, site)):
            reason = f"a size of setup is what `self.{container}` says of its output, and that is made after it"
            raise Unmigratable("NNX114", reason, site.node)


def _is_kept_later(made: Site, site: Site) -> bool:
    """Is what was made an attribute only behind the statement that makes another module?"""
    setup = made.maker
    if setup is None or site.maker is not setup or made.source is not site.source:
        return False
    places = [n.lineno for n in of_kind(setup, ast.Attribute) if n.attr == made.container and isinstance(n.ctx, ast.Store)]
    return bool(places) and min(places) > (site.node.end_lineno or site.node.lineno)


def own_features(text: ClassText) -> tuple[str, set[str]] | None:
    """The line by which a module of this class says how many features it gives, and the names that it needs."""
    name = text.model.qualname
    if name not in text.analyser.asked or name in text.analyser.mute:
        return None
    summary = text.run.summaries.get("__call__")
    result = main_result(summary.result) if summary is not None else None
    dim = result.shape.dim(-1) if isinstance(result, Array) else None
    if dim is None:
        raise Unmigratable("NNX163", "it is one of several kinds of modules, and what it gives is not known")
    if OUT in text.run.fields or OUT in text.model.methods() or OUT in text.run.attributes:
        raise Unmigratable("NNX163", f"it is one of several kinds of modules and has an `{OUT}` of its own")
    before, text.needs = text.needs, set()
    line = f"self.{OUT} = {text.dim(dim)}"
    needs, text.needs = text.needs, before
    return line, needs


def names_before(text: ClassText, step: object) -> list[tuple[int, Parts]]:
    """The lines before the step that first makes modules of several kinds: what Linen calls them, their empty lists."""
    lines: list[tuple[int, Parts]] = []
    for name, site in text.names.named_by.items():
        if not _makes(step, site):
            continue
        assert site.factory is not None
        prefix = lifted_prefix(site)
        factory = text.field(site.factory.chosen_by) if site.factory.chosen_by else chooser(site)
        said = f"{text.namer.parity('linen_name')}({factory})"
        depth = 0
        if not isinstance(step, Make) and _may_be_none(text, site.factory.chosen_by):
            lines.append((0, (f"if {factory} is not None:",)))
            depth = 1
        lines.append((depth, (f"self.{name} = " + (f'f"{prefix}{{{said}}}"' if prefix else said),)))
        for held in text.names.lists:
            if held.named_by == name:
                lines.append((depth, held.assigned((f"{text.namer.name('flax.nnx.List')}()",))))
    return lines


def _may_be_none(text: ClassText, field: str) -> bool:
    """May the field hold no factory, by its default or by what it is annotated with?"""
    known = text.run.fields.get(field)
    if known is None:
        return False
    if known.default is not None and ast.unparse(known.default) == "None":
        return True
    annotated = ast.unparse(known.annotation) if known.annotation is not None else "Any"
    return re.search(r"\b(None|Optional|Any)\b", annotated) is not None


def _makes(step: object, site: Site) -> bool:
    if isinstance(step, Make):
        return step.site is site
    inner = [getattr(step, name, None) for name in ("body", "then", "orelse")]
    return any(_makes(child, site) for block in inner if block is not None for child in block.steps)


def flags(site: Site) -> dict[str, tuple[Site, object]]:
    """Flags that some of the kinds take at the call and some do not: flag → the first kind that takes it."""
    kinds = (site, *site.alternatives)
    if all(set(kind.calltime) == set(site.calltime) for kind in kinds):
        return {}
    found: dict[str, tuple[Site, object]] = {}
    for kind in kinds:
        for key, given in kind.calltime.items():
            found.setdefault(key, (kind, given))
    return found
