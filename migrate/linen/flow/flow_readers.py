"""Which statements have read which value of a table: when it changes, they alone run again."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TypeVar

from ...source import SourceFile
from .flow_values import ANY, Value

Key = TypeVar("Key", bound=Hashable)
Default = TypeVar("Default", bound=Value | None)


class Read(dict[Key, Value]):
    """Values by name or function, which remember what statement has asked for them while `reader` is one."""

    def __init__(self, late: set[ast.AST]) -> None:
        """`late`: where the statements go that have read what has changed since."""
        super().__init__()
        self.reader: ast.AST | None = None
        self._late = late
        self._readers: dict[Key, dict[ast.AST, None]] = {}

    def get(self, key: Key, default: Default = None) -> Value | Default:  # type: ignore[assignment, override]
        value = super().get(key, default)
        if value is not ANY:  # which is the last value that anything can have
            self._note(key)
        return value

    def __contains__(self, key: object) -> bool:
        there = super().__contains__(key)
        if not there:
            self._note(key)  # type: ignore[arg-type]
        return there

    def _note(self, key: Key) -> None:
        if self.reader is not None:
            readers = self._readers.get(key)
            if readers is None:
                self._readers[key] = {self.reader: None}
            else:
                readers[self.reader] = None

    def held(self, key: Key) -> Value | None:
        """The value, asked for by nobody."""
        return super().get(key)

    def __setitem__(self, key: Key, value: Value) -> None:
        if super().get(key) != value:
            self._late.update(self._readers.get(key, ()))
        super().__setitem__(key, value)

    def forget_readers(self) -> None:
        self.reader = None
        self._readers = {}


def statement_of(source: SourceFile, node: ast.AST) -> ast.AST:
    """The innermost statement that an expression stands in."""
    while not isinstance(node, ast.stmt):
        node = source.parents[node]
    return node


__all__ = ["Read", "statement_of"]
