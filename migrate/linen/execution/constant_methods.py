"""Methods without arguments that say a number or another constant: `def width(self): return 4`."""

from __future__ import annotations

import ast
from typing import Any

from ..values.sites import Abs, Function
from ..values.values import Const, Int


def answer(run: Any, function: Function, node: ast.Call, env: Any, found: Abs) -> Abs:
    """What such a method of the class gives, which the constructor can ask, too.

    It is no number where derived classes say another one.
    """
    value, method = found.value, function.method
    known = isinstance(value, Const) or (isinstance(value, Int) and not value.dim.atoms())
    if not known or found.flags or method is None or method.compact or node.args or node.keywords:
        return found
    if run.varies(method.name, env):
        return run._static_text(node, True, found.flags, env)  # type: ignore[no-any-return]
    return Abs(value, True)


__all__ = ["answer"]
