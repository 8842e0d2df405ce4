"""What a factory in a field makes of which no code constructs the class: what others are given under the name of the field.

    class ResNetBlock(nn.Module):          class BottleneckBlock(nn.Module):   # constructed nowhere
        conv: Any                              conv: Any
        norm: Any                              norm: Any

The field is taken to hold one of the kinds that classes beside it are given for a field of that name, or else those of the
project. One that asks for other sizes fails when the class is made.
"""

from __future__ import annotations

from typing import Any

from ..project.classes import ClassModel
from ..values.sites import Abs, BoundArg, Factory
from . import unknown_callees
from .kinds import same_kind


def learn(analyser: Any) -> bool:
    """Take the fields of classes that nothing constructs for what their neighbours are given; True where that is news."""
    before = analyser.kinds.version
    for model, field in analyser.kinds.unknown(analyser.done):
        if not _is_alone(analyser, model, field):
            continue
        for factory in _given_beside(analyser, model, field):
            analyser.learns(model.qualname, {field: BoundArg(None, Abs(factory), None)})
    return bool(analyser.kinds.version != before)


def _is_alone(analyser: Any, model: ClassModel, field: str) -> bool:
    """Is a class constructed nowhere, by no configuration, and by no text that says its name?"""
    project = analyser.classes.project
    own = next((f for f in model.fields() if f.name == field), None)
    if own is None or own.default is not None or model.qualname in project.made_by_configurations:
        return False
    used = unknown_callees.is_used(project, model.qualname) or unknown_callees.is_said(project, model.name)
    return not (used or analyser.classes.derived(model))


def _given_beside(analyser: Any, model: ClassModel, field: str) -> list[Factory]:
    """The kinds that classes of its file are given for a field of that name; where there are none, those of the project."""
    others = [other for other in analyser.classes if other is not model and any(f.name == field for f in other.fields())]
    found: list[Factory] = []
    for models in ([other for other in others if other.source is model.source], others):
        for factory in (kind for other in models for kind in analyser.kinds.of(other, field)):
            if not any(same_kind(factory, known) for known in found):
                found.append(factory)
        if found:
            break
    return found


__all__ = ["learn"]
