"""Rotary position embeddings: whatever a function does to rotate queries and keys, it gives back arrays of their shapes.

Halves are split off, multiplied with tables of sines that were picked by position, and joined again, often over complex
numbers; followed dimension by dimension little is left of the shape. Where the name says that it is such a function, and the
result is not known, it has the shapes of the arrays that were given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..values.values import Array, Lead, Shape, Tup, Unknown, Value

_NAME = re.compile(r"(^|_)(rotary|rotated?|rope|rot)(_|$)")


def rotated(name: str, given: Sequence[Value], result: Value) -> Value:
    """`result` of a call of `name`, with the shapes of what was given where it rotates and they are not known."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.rpartition(".")[2]).lower()
    if not _NAME.search(words) or not is_vague(result):
        return result
    arrays = [v for v in given if isinstance(v, Array) and is_of_heads(v.shape)]
    if isinstance(result, Tup) and 0 < len(result.items) <= len(arrays) and all(_is_array(i) for i in result.items):
        return Tup(tuple(Array(v.shape) for v in arrays[: len(result.items)]), result.kind)
    return Array(arrays[0].shape) if len(arrays) == 1 and _is_array(result) else result


def is_of_heads(shape: Shape) -> bool:
    """Are the last two dimensions known, as those of queries are, and of positions and tables are not?"""
    return len(shape.dims) >= (3 if shape.lead is None else 2) and None not in shape.dims[-2:]


def _is_array(value: Value) -> bool:
    return isinstance(value, Array) or type(value) is Unknown


def is_vague(value: Value) -> bool:
    """Is there a size in it that is not known?"""
    if isinstance(value, Array):
        lead: Lead | None = value.shape.lead
        return None in value.shape.dims or (lead is not None and not lead.known)
    if isinstance(value, Tup):
        return any(is_vague(item) for item in value.items)
    return type(value) is Unknown


__all__ = ["is_of_heads", "is_vague", "rotated"]
