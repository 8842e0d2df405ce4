"""What a long run is at, for whoever watches it; says nothing where nobody does."""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Progress = Callable[[str], None]

_PAUSE = 0.1  # seconds between two messages
_watcher: contextvars.ContextVar[Progress | None] = contextvars.ContextVar("watcher", default=None)


@contextmanager
def watched(say: Progress) -> Iterator[None]:
    """Tell `say` what is being done, for a while."""
    token = _watcher.set(say)
    try:
        yield
    finally:
        _watcher.reset(token)


def counted(items: Collection[Item], what: str) -> Iterator[Item]:
    """The items, and now and then to who watches the run: `what`, and how many of them are done."""
    say, last = _watcher.get(), 0.0
    for done, item in enumerate(items):
        if say is not None and time.monotonic() - last > _PAUSE:
            say(f"{what}: {done} of {len(items)}")
            last = time.monotonic()
        yield item
