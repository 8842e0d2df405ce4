"""What a value leaves open: its sizes, the number of its dimensions."""

from __future__ import annotations

import re

from .bundles import Bundle
from .sites import Static
from .values import Array, Int, Tup, Unknown, Value


def is_loose(value: Value) -> bool:
    """Is there an array in it whose number of dimensions is not known?"""
    if isinstance(value, Array):
        return value.shape.lead is not None and not value.shape.lead.known
    return isinstance(value, Tup) and any(is_loose(item) for item in value.items)


def is_vague(value: Value) -> bool:
    """Is there a size in it that is not known?"""
    if isinstance(value, Array):
        shape = value.shape
        return None in shape.dims or (shape.lead is not None and not shape.lead.known)
    if isinstance(value, Tup):
        return any(is_vague(item) for item in value.items)
    return isinstance(value, Unknown | Bundle)


def is_written_out(value: Value) -> bool:
    """Are these numbers, or tuples of tuples of numbers?"""
    if isinstance(value, Tup):
        return all(is_written_out(item) for item in value.items)
    return isinstance(value, Int) and value.dim.value is not None


def is_count(value: Value) -> bool:
    """Is it `len(...)` of something?"""
    return isinstance(value, Static) and re.fullmatch(r"len\([\w.]+\)", value.text) is not None
