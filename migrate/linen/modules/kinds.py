"""The factories that fields of modules are given: `conv=partial(nn.Conv, ...)`, `block_cls=ResNetBlock`, defaults."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from ..project.classes import Classes, ClassModel
from ..values.sites import BoundArg, Factory, Module, Static, Unmigratable
from ..values.values import Array, Int, ShapeOf, Tup, Unknown, Value
from .lost_factories import factories_in


class Kinds:
    """Class → field → the different kinds of factories that the project passes for it."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._table: dict[str, dict[str, list[Factory]]] = {}
        self._mentions: dict[tuple[str, str], dict[ast.AST, Factory]] = {}  # every place, kinds that are known included
        self.version = 0  # counts what was learnt
        self.never_named: set[str] = set()  # classes whose fields are not to be taken so
        self.named: dict[tuple[str, str], str] = {}  # class, field → the layer that its name says, see `named_factories`
        self._dropped: set[tuple[int, str]] = set()  # origins (nodes) and the kinds of them that do not fit

    def learn(self, target: str, arguments: Mapping[str, BoundArg]) -> bool:
        """Remember what a construction of `target` is given; True where a field has got a kind that it had not."""
        before = self.version
        for name, argument in arguments.items():
            for given in factories_in(argument.abs.value):
                for factory in given.kinds():
                    self._add(target, name, detached(factory))
        return self.version != before

    def drop(self, factory: Factory) -> None:
        """Forget a kind that one place outside of modules gives, wherever it has been handed on to."""
        assert factory.origin is not None
        self._dropped.add((id(factory.origin[1]), factory.target))
        for fields in self._table.values():
            for known in fields.values():
                known[:] = [f for f in known if not self._is_dropped(f)]

    def mentions(self, model: ClassModel, field: str) -> Iterator[Factory]:
        """Every place that gives a class's field a factory, also those that give a kind which another place gives."""
        for owner in (model, *self.classes.derived(model)):
            for factory in self._mentions.get((owner.qualname, field), {}).values():
                if not self._is_dropped(factory):
                    yield factory

    def is_dropped(self, node: object, target: str) -> bool:
        """Is a kind forgotten that one place outside of modules gives?"""
        return (id(node), target) in self._dropped

    def _is_dropped(self, factory: Factory) -> bool:
        return factory.origin is not None and self.is_dropped(factory.origin[1], factory.target)

    def _add(self, target: str, field: str, factory: Factory) -> None:
        if not factory.target or self._is_dropped(factory):
            return
        if factory.node is not None:
            self._mentions.setdefault((target, field), {}).setdefault(factory.node, factory)
        known = self._table.setdefault(target, {}).setdefault(field, [])
        for position, other in enumerate(known):
            if same_kind(other, factory):
                if other.origin is not None and factory.origin is None:
                    known[position] = factory  # what modules give counts for more than what a script does
                return
        known.append(factory)
        self.version += 1

    def unknown(self, done: Mapping[str, Any]) -> Iterator[tuple[ClassModel, str]]:
        """The classes that failed for a field of which nothing says what it makes, each with that field.

        `done`: the execution of each class, or why there is none.
        """
        for name, error in list(done.items()):  # what is learned on the way changes it
            field = error.field if isinstance(error, Unmigratable) and error.code == "NNX138" else ""
            model = self.classes.get(name) if field else None
            if model is not None and not self.of(model, field):
                yield model, field

    def of(self, model: ClassModel, field: str) -> list[Factory]:
        """What a field is given, in the class itself or, as they share its methods, in a class that inherits from it."""
        found: list[Factory] = []
        for owner in (model, *self.classes.derived(model)):
            for factory in self._table.get(owner.qualname, {}).get(field, ()):
                if not any(same_kind(factory, other) for other in found):
                    found.append(factory)
        return sorted(found, key=lambda f: f.origin is not None)


def same_kind(a: Factory, b: Factory) -> bool:
    """Do two factories make modules of one kind, of the same sizes, so that one text serves both?"""
    return (
        (a.target, a.variant) == (b.target, b.variant)
        and {k: _plain(v.abs.value) for k, v in a.args.items()} == {k: _plain(v.abs.value) for k, v in b.args.items()}
        and set(a.calltime) == set(b.calltime)
        and [_plain(p.abs.value) for p in a.positional] == [_plain(p.abs.value) for p in b.positional]
        and [l.kind for l in a.lifted] == [l.kind for l in b.lifted]
    )


def detached(factory: Factory) -> Factory:
    """The factory as the class that it is given to sees it: sizes in terms of the giver's own names say nothing there."""
    args = {k: _argument(v) for k, v in factory.args.items()}
    positional = tuple(_argument(p) for p in factory.positional)
    return dataclasses.replace(factory, args=args, positional=positional, alternatives=())


def _argument(argument: BoundArg) -> BoundArg:
    return dataclasses.replace(argument, abs=dataclasses.replace(argument.abs, value=_outside(argument.abs.value)))


def _outside(value: Value) -> Value:
    if isinstance(value, Int):
        return value if value.dim.value is not None else Unknown("a size that the giver of the factory knows")
    if isinstance(value, Tup):
        return Tup(tuple(_outside(item) for item in value.items), value.kind)
    if isinstance(value, Static | Array | ShapeOf | Module):
        return Unknown("a value that the giver of the factory knows")
    if isinstance(value, Factory):
        return detached(value)
    return value


def _plain(value: Value) -> object:
    """What decides whether two held arguments are the same: the sizes; anything else changes no text and no shape."""
    if isinstance(value, Int):
        return value.dim.value
    if isinstance(value, Tup):
        return tuple(_plain(item) for item in value.items)
    if isinstance(value, Factory):
        return value.target
    return None
