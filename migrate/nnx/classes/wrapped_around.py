"""`self.variable("cache", "index", jnp.array, -1, dtype=jnp.uint32)`: JAX wrapped around, and raises OverflowError today.

In Linen that is seen when the variable is made, in a call that decodes; a constructor makes it always.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.values.sites import Site

if TYPE_CHECKING:
    from .class_text import ClassText

_ARRAYS = ("jax.numpy.array", "jax.numpy.asarray")
_UNSIGNED = frozenset(f"{library}.uint{bits}" for library in ("jax.numpy", "numpy") for bits in (8, 16, 32, 64))


def first_value(text: ClassText, site: Site) -> Parts | None:
    """`jnp.array(-1).astype(jnp.uint32)` for a variable that starts so; None for any other."""
    call, project = site.node, text.run.project
    given = call.args[2:]
    if len(given) < 2 or any(k.arg not in ("dtype", None) for k in call.keywords):
        return None
    dtypes = [*given[2:], *(k.value for k in call.keywords)]
    if len(dtypes) != 1 or project.qualname(site.source, given[0]) not in _ARRAYS or not _is_negative(given[1]):
        return None
    if project.qualname(site.source, dtypes[0]) not in _UNSIGNED:
        return None
    span = site.source.span
    return (span(given[0]), "(", span(given[1]), ").astype(", span(dtypes[0]), ")")


def _is_negative(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None
    return isinstance(number, ast.Constant) and type(number.value) is int and number.value > 0


__all__ = ["first_value"]
