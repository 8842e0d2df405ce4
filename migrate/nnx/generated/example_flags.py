"""Flags as the constructor gives them to what it calls once: `deterministic=True`, or what they are by default."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.values.values import Unknown, Value

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

FLAGS = {"deterministic": "True", "train": "False", "training": "False", "is_training": "False",
          "use_running_average": "True"}  # fmt: skip


def default_of_call(text: ClassText, argument: str) -> ast.Constant | None:
    """The constant that an argument of the class's own call has where it is left out."""
    method = text.model.method("__call__")
    default = method.default(argument) if method is not None else None
    return default if isinstance(default, ast.Constant) else None


def handed_on(text: ClassText, value: Value) -> str:
    """A flag of the call that is handed on, as Linen's `init` has it where it is not given; "" for anything else."""
    given = value.why.removeprefix("argument ") if type(value) is Unknown and value.why.startswith("argument ") else ""
    default = default_of_call(text, given)
    return repr(default.value) if default is not None and isinstance(default.value, bool | str) else ""


__all__ = ["FLAGS", "default_of_call", "handed_on"]
