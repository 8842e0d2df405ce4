"""The default of a field of modules that are handed over: `input_layer: nn.Module = ArrayInput()`.

Linen makes that description once, where the class is defined; so does NNX's constructor with its default, a `Functional`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.project.classes import Field
from ...plan import Outcome
from ..training import adapter

if TYPE_CHECKING:
    from .class_write import ClassWriter


def said(writer: ClassWriter, field: Field) -> Parts | None:
    """The default of a field that is handed a module; None where it is what it was: a module that stays Linen."""
    made = field.default
    if field.name not in writer.run.analyser.given_outside.handed.get(writer.model.qualname, ()):
        return None
    name = writer.run.project.qualname(field.source, made.func) if isinstance(made, ast.Call) else None
    plan = writer.text.plans.get(name) if name is not None else None
    if plan is None or plan.outcome is not Outcome.NATIVE or not isinstance(made, ast.Call):
        return None
    options = adapter.options((plan,), writer.namer)
    given = f", {options}" if options else ""
    return (f"{writer.namer.parity('Functional')}(", writer.source.span(made.func), f"{given})")


__all__ = ["said"]
