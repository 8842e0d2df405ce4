"""JSON with the place of every value in the text, so that one value can be replaced and all else keeps its bytes."""

from __future__ import annotations

import dataclasses
import json
import re

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"', re.DOTALL)
_LITERAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity")


@dataclasses.dataclass(frozen=True)
class Value:
    """A JSON value and where it stands: `text[start:end]`."""

    kind: str  # object, array, string, literal
    start: int
    end: int
    value: str | None = None  # of a string
    items: tuple[Value, ...] = ()  # of an array, or an object's values
    keys: tuple[str, ...] = ()  # of an object

    def raw(self, text: str) -> str:
        return text[self.start : self.end]

    def get(self, key: str) -> Value | None:
        """The (last) value of an object's key."""
        for name, item in zip(reversed(self.keys), reversed(self.items)):
            if name == key:
                return item
        return None


def scan(text: str) -> Value:
    """The whole text as one value. Raises ValueError saying where it is not JSON."""
    value, at = _value(text, _skip(text, 0))
    if _skip(text, at) != len(text):
        raise _error(text, _skip(text, at), "more text after the end")
    return value


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int) -> tuple[Value, int]:
    char = text[at : at + 1]
    if char == '"':
        string, end = _string(text, at)
        return Value("string", at, end, string), end
    if char == "{":
        return _container(text, at, "object", "}")
    if char == "[":
        return _container(text, at, "array", "]")
    match = _LITERAL.match(text, at)
    if match is None:
        raise _error(text, at, "a value was expected")
    return Value("literal", at, match.end()), match.end()


def _container(text: str, start: int, kind: str, close: str) -> tuple[Value, int]:
    keys: list[str] = []
    items: list[Value] = []
    at = _skip(text, start + 1)
    if text[at : at + 1] == close:
        return Value(kind, start, at + 1), at + 1
    while True:
        if kind == "object":
            if text[at : at + 1] != '"':
                raise _error(text, at, "a key was expected")
            key, at = _string(text, at)
            keys.append(key)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                raise _error(text, at, "':' was expected")
            at = _skip(text, at + 1)
        item, at = _value(text, at)
        items.append(item)
        at = _skip(text, at)
        if text[at : at + 1] == close:
            return Value(kind, start, at + 1, None, tuple(items), tuple(keys)), at + 1
        if text[at : at + 1] != ",":
            raise _error(text, at, f"',' or '{close}' was expected")
        at = _skip(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    match = _STRING.match(text, at)
    if match is None:
        raise _error(text, at, "a string is not closed")
    return str(json.loads(match.group())), match.end()


def _error(text: str, at: int, message: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line}: {message}")
