"""Arrays that are None in some passes of a loop: `context = None if i == 1 else x`, an argument that a pass replaces."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...trees import subtree
from ..values.dims import Dim
from ..values.merging import with_dim
from ..values.presence import OptionalArray, Step, asked, whole_argument, with_none
from ..values.sites import Abs
from ..values.values import Array, Value


def opened(start: Any, name: str, before: Abs, now: Abs, loop: ast.AST) -> bool:
    """What a name holds when a pass begins may be None, as one before it has left it, and the loop asks; is that news?

    `before`: what it holds when the pass begins as it is known so far, `now`: at the end of that.
    """
    held = start.names[name]
    if not isinstance(held.value, Array) or isinstance(held.value, OptionalArray) or not _is_asked(name, loop):
        return False
    own = whole_argument(before.value) if not isinstance(before.value, OptionalArray) else ""
    own = own if own in before.flags else ""  # of an argument that may be left out
    if not isinstance(now.value, OptionalArray) and (not own or whole_argument(now.value) == own):
        return False
    step = now.value.step if isinstance(now.value, OptionalArray) else None
    start.names[name] = dataclasses.replace(held, value=with_none(held.value, step if _is_there(step, own) else None))
    return True


def _is_asked(name: str, loop: ast.AST) -> bool:
    """Does a loop ask whether a name holds None, to which it assigns?"""
    if not any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in subtree(loop)):
        return False
    return any(
        isinstance(node, ast.Compare)
        and any(isinstance(part, ast.Name) and part.id == name for part in (node.left, *node.comparators))
        and any(isinstance(part, ast.Constant) and part.value is None for part in (node.left, *node.comparators))
        for node in subtree(loop)
    )


def kept(held: Value, value: Value) -> Value:
    """What stands in place of what may be None as well."""
    return with_none(value, held.step) if isinstance(held, OptionalArray) and isinstance(value, Array) else value


def sized(held: Abs, index: int, dim: Dim | None) -> Abs:
    """What a name holds, with one size replaced."""
    return dataclasses.replace(held, value=kept(held.value, with_dim(held.value, index, dim)))


def _is_there(step: Step | None, argument: str) -> bool:
    """Is there an array where an optional argument is given, in all passes alike?"""
    return step is not None and bool(argument) and asked(step.text) == (argument, step.holds)


__all__ = ["kept", "opened", "sized"]
