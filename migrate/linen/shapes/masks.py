"""Which arrays are of truth values: an index by one has as many items as are true, which its shape does not tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from ..values.dims import Dim
from ..values.values import Array, Const, Global, Int, Tup, Value

# Functions that answer for every item.
_ANSWERS = frozenset(
    {"all", "any", "equal", "greater", "greater_equal", "in1d", "isclose", "iscomplex", "isfinite", "isin", "isinf"}
    | {"isnan", "isneginf", "isposinf", "isreal", "less", "less_equal", "logical_and", "logical_not", "logical_or"}
    | {"logical_xor", "not_equal", "signbit"}
)
_MAKES = frozenset({"array", "asarray", "concat", "concatenate", "copy", "flip", "repeat", "roll", "stack", "tile"})
_SAID = (Const("bool"), Const("?"), Int(Dim.opaque("bool", frozenset())))  # also the name of Python's type
_KINDS = frozenset({"builtins.bool", "numpy.bool", "numpy.bool_", "jax.numpy.bool", "jax.numpy.bool_"})


def marked(result: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """What a function gives, with the mark of a mask where it is or may be one."""
    if type(result) is not Array or result.boolean or not name.startswith(("numpy.", "jax.numpy.")):
        return result
    function = name.rpartition(".")[2]
    given = [*args, *keywords.values()]
    answers = function in _ANSWERS or any(map(is_kind, given)) or (function in _MAKES and any(map(_is_of_truths, given)))
    return dataclasses.replace(result, boolean=True) if answers else result


def is_kind(value: Value) -> bool:
    """Is it the dtype of truth values?"""
    return (isinstance(value, Global) and value.name in _KINDS) or value in _SAID


def _is_of_truths(value: Value) -> bool:
    if isinstance(value, Tup):
        return any(map(_is_of_truths, value.items))
    return (isinstance(value, Array) and value.boolean) or (isinstance(value, Const) and isinstance(value.value, bool))


__all__ = ["is_kind", "marked"]
