"""Environments: the names of one function body, and what it returned."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...source import SourceFile
from ..project.classes import Method
from .sites import Abs, Branch, Localized
from .values import Value


@dataclasses.dataclass(frozen=True, eq=False)
class Rest:
    """What a function that is followed is given behind its parameters: see `rest_arguments`."""

    vararg: str
    kwarg: str
    positional: tuple[tuple[ast.expr, Abs], ...]
    keywords: tuple[tuple[str, ast.expr, Abs], ...]

    def holds(self, node: ast.expr) -> bool:
        return any(n is node for n, _ in self.positional) or any(n is node for _, n, _ in self.keywords)


@dataclasses.dataclass
class Env:
    """Names of one function body. `local` are those whose assignments the constructor can copy."""

    names: dict[str, Abs]
    source: SourceFile
    local: set[str] = dataclasses.field(default_factory=set)
    method: Method | None = None
    parent: Env | None = None
    substituted: dict[str, Localized] = dataclasses.field(default_factory=dict)
    given: dict[str, Abs] = dataclasses.field(default_factory=dict)  # parameters that the body assigns anew: as given
    scope: object = dataclasses.field(default_factory=object)  # the same in all copies
    # name → its value after a condition, the condition, and its value on either side of it: see `correlated`
    by_step: dict[str, tuple[Abs, str, dict[bool, Abs]]] = dataclasses.field(default_factory=dict)
    rest: Rest | None = None
    caller: Env | None = None  # where the function that is followed here was called
    call: ast.Call | None = None  # the call
    conditions: int = 0  # how many conditions around the call the constructor cannot answer
    words: dict[str, tuple[ast.expr, Env, Abs]] = dataclasses.field(default_factory=dict)  # see `caller_words`

    def place_of(self, name: str) -> Env | None:
        """The function around this one, or this one, that binds a name."""
        env: Env | None = self
        while env is not None and name not in env.names:
            env = env.parent
        return env

    def get(self, name: str) -> Abs | None:
        place = self.place_of(name)
        return place.names[name] if place is not None else None

    def is_local(self, name: str) -> bool:
        env: Env | None = self
        while env is not None:
            if name in env.names:
                return name in env.local
            env = env.parent
        return False

    def is_taken(self, name: str) -> bool:
        """Does the constructor have another variable of this name, of a function around this one or calling it?"""
        return any(e is not None and (e.is_local(name) or e.is_taken(name)) for e in (self.parent, self.caller))

    def in_method(self) -> bool:
        """Is this the body of a method, or of a function within one?"""
        return self.method is not None or (self.parent is not None and self.parent.in_method())

    def copy(self) -> Env:
        return dataclasses.replace(self, names=dict(self.names), local=set(self.local), substituted=dict(self.substituted))

    def restore(self, other: Env) -> None:
        self.names = dict(other.names)
        self.local = set(other.local)
        self.by_step = other.by_step


# The conditions on the way to a `return`: each with its test as written, and the side on which it stands.
Exit = tuple[tuple[Branch, ast.expr, bool], ...]


@dataclasses.dataclass
class Returned:
    """Values that the `return` statements of one call gave."""

    values: list[Abs] = dataclasses.field(default_factory=list)
    exits: list[Exit] = dataclasses.field(default_factory=list)  # of conditions that return on some of their paths
    guarded: Value | None = None  # the one factory that it returns, with the condition outside of which it raises


def holds_same(run: Any, before: Abs | None, now: Abs | None) -> bool:
    """Does a name hold what it held before, perhaps said in other words since (see `stale_names`)?"""
    while now is not None and now is not before and id(now) in run.renamed:
        now = run.renamed[id(now)][1]
    return now is before
