"""Code that is a text, and what asks for all local names: what they read may be what the constructor takes over.

size = eval("2 * x.shape[-1]")                    nothing here shows that `size` follows from `x`
exec("width = 8")                                 nor that there is a name `width`
globals()["dense"](x)                             nor what makes modules here
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.values.sites import Unmigratable
from ...trees import of_kind
from ..text.text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_BY_TEXT = frozenset({"eval", "exec", "globals", "locals"})


def refuse(text: ClassText) -> None:
    """Refuse a class whose methods, or functions that they call, run such code."""
    methods = [method.node for method in text.model.methods().values()]
    for function in dict.fromkeys([*methods, *text.run.executed]):
        for call in of_kind(function, ast.Call):
            if isinstance(call.func, ast.Name) and _is_by_text(call, call.func.id):
                raise Unmigratable("NNX134", f"`{short(call)}` reads names that nothing shows", call)


def _is_by_text(call: ast.Call, name: str) -> bool:
    return name in _BY_TEXT or (name == "vars" and not call.args)


__all__ = ["refuse"]
