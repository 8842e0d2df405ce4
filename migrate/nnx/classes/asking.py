"""Constructors that ask for the sizes of values inside of their class; see `linen/execution/asked_values.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...linen.execution import number_arguments
from ...linen.execution.asked_values import place_of
from ...linen.project.classes import ClassModel
from ...linen.project.forwarded_calls import forwarded
from ...linen.values.sites import Site, Unmigratable
from .inheritance import has_loops_of_base

if TYPE_CHECKING:
    from ...linen.execution.analyser import Analyser
    from .class_text import ClassText

_MOST = 4  # of values that one class may ask for


class TakenBack(Exception):
    """A class asks for a size that one of those that contain it can neither tell nor ask for."""

    def __init__(self, qualname: str, container: str) -> None:
        super().__init__(qualname)
        self.qualname = qualname
        self.container = container


def lacking(error: Unmigratable, site: Site, argument: str = "") -> Unmigratable:
    """The error, with the module whose input it is about; `argument`: what the module's method calls it."""
    error.lacks = (site, argument)
    return error


def is_of_several(failure: Unmigratable) -> bool:
    """Is it about the items of a list or dictionary of `setup`, of which each may have a size of its own?"""
    site = failure.lacks[0] if failure.lacks is not None else None
    return site is not None and site.in_setup and bool(site.loops)


def asks(analyser: Analyser, name: str, failure: Unmigratable) -> bool:
    """Let a class ask for the size that it failed for; False where it may not."""
    places = analyser.asked_values.get(name, {})
    said = failure.lacks[1] if failure.lacks is not None else ""
    part = "." in said or "['" in said  # `obs.image` of an `obs` that is not followed
    if failure.lacks is None or part or name in analyser.named_outside | analyser.unasked or len(places) >= _MOST:
        return False
    info = analyser.classes.project.linen_classes.get(name)
    if info is None or info.source.marked(info.source.line_span(info.node).start, "NNX1"):
        return False  # an earlier run has left it, and what uses it says no size
    if forwarded(analyser.classes.project, info.source, info.node) is not None:
        return False  # its call says what it takes in another form
    run = analyser.done.get(name)
    if run is None or isinstance(run, Unmigratable) or has_loops_of_base(run):
        return False
    found = place_of(run, *failure.lacks)
    if found is None or found.node in run.asked:
        return False
    analyser.asked_values[name] = {**places, found.node: found.name}
    _again(analyser, name)
    return True


def takes_numbers(analyser: Analyser, model: ClassModel, failure: Unmigratable) -> bool:
    """Take arguments of the call for sizes that the constructor is given, where a class failed for what they say."""
    method = model.method("__call__")
    known = analyser.size_arguments.get(method.owner.qualname, frozenset()) if method is not None else frozenset()
    found = number_arguments.wanted(model, failure) - known
    if method is None or not found:
        return False
    analyser.size_arguments[method.owner.qualname] = known | found
    _again(analyser, model.qualname)
    return True


def takes_no_numbers(analyser: Analyser, model: ClassModel) -> bool:
    """Take that back; was anything taken for a size?"""
    method = model.method("__call__")
    taken = method is not None and analyser.size_arguments.pop(method.owner.qualname, None) is not None
    if taken:
        _again(analyser, model.qualname)
    return taken


def forget(analyser: Analyser, name: str) -> None:
    """The class asks for no such size."""
    if analyser.asked_values.pop(name, None):
        _again(analyser, name)


def take_back(analyser: Analyser, name: str) -> None:
    """The class, those that it inherits from, and what they are handed such sizes by, may not ask."""
    model = analyser.classes.get(name)
    for one in dict.fromkeys([name, *(m.qualname for m in model.mro())] if model is not None else [name]):
        analyser.unasked.add(one)
        analyser.handed_asks.pop(one, None)
        forget(analyser, one)
        analyser.forget_users(one, ())


def _again(analyser: Analyser, name: str) -> None:
    analyser.again(name)


def handed_on(text: ClassText, site: Site, argument: str, index: Any) -> str:
    """The size of a value inside of a submodule: this constructor asks for it in turn."""
    name, place = text.model.qualname, text.names.places.get(site)
    plain = place is not None and place.kind == "attribute" and not site.loops and not site.held
    if name in text.analyser.named_outside | text.analyser.unasked or not plain:
        raise TakenBack(site.target, name)
    assert place is not None
    asked = f"{place.attribute}_{argument}"
    text.analyser.handed_asks.setdefault(name, set()).add(asked)
    text.used.setdefault(asked, set()).add(index)
    return text.size_name(asked)


def notes(text: ClassText) -> list[str]:
    """What the constructor asks for that the call's arguments do not show."""
    found = text.run.asked.values() & text.used.keys()
    places = {name: node for node, name in text.run.asked.items()}
    return [
        f"`{text.size_name(name)}` is the width of what line {places[name].lineno} gives, which this project does not show"
        for name in sorted(found)
    ]


__all__ = [
    "TakenBack", "asks", "forget", "handed_on", "lacking", "notes", "take_back", "takes_no_numbers", "takes_numbers",
]  # fmt: skip
