"""Which classes have been followed by what is known of which others: only they are followed again where that changes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator


class Reads:
    """Class → the classes that looked at it while they were followed. What was read once counts as read for good."""

    def __init__(self) -> None:
        self._readers: dict[str, set[str]] = {}
        self._running: list[str] = []  # the innermost last

    @contextlib.contextmanager
    def by(self, reader: str) -> Iterator[None]:
        """What is noted within is read by this class."""
        self._running.append(reader)
        try:
            yield
        finally:
            self._running.pop()

    def note(self, name: str) -> None:
        """Whatever is being followed looks at a class."""
        if self._running:
            self._readers.setdefault(name, set()).add(self._running[-1])

    def concerned(self, names: Iterable[str]) -> set[str]:
        """The classes, and those that looked at one of them, through any number of others."""
        found = set(names)
        waiting = list(found)
        while waiting:
            more = self._readers.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return found
