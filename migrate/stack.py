"""Room for deep recursion: who calls whom is followed from function to function, in large programs through hundreds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

_FRAMES = 10_000  # some for each function that is followed
_SLOTS = (1 << 18) + 64  # words, a little more than a power of two: see `_in_one_piece`


def with_deep_stack(call: Callable[[], Result]) -> Result:
    """What `call` returns, which may recurse deeply and pays nothing for it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        return _in_one_piece(call)
    finally:
        sys.setrecursionlimit(before)


def _in_one_piece(call: Callable[[], Result]) -> Result:
    """`call`, all frames of which lie in one piece of memory.

    CPython keeps frames in pieces of 16 KiB, gets one where a call finds the last piece full and gives it back to the system
    when that call returns: a loop at such a depth spends most of its time there. A frame that asks for a larger stack gets a
    piece of the next power of two, the rest of which serves all the calls below it. What nobody touches costs no memory.
    """
    return call()


_in_one_piece.__code__ = _in_one_piece.__code__.replace(co_stacksize=_SLOTS)
