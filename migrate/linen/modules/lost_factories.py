"""Factories that go where they cannot be followed: whoever calls them makes modules that the constructor would not have.

`Several` stands for a value that is one of some factories, which one not being known: calling it is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..values.arguments import Arguments
from ..values.merging import Choice, Several
from ..values.nothing_made import MakesNothing, makes_nothing
from ..values.sites import BoundArg, Factory, Repeated, Table, Unmigratable
from ..values.values import Tup, Value
from .choices import FactoryChoice
from .factory_functions import FactoryFunction

# What only looks at its arguments, or hands them on as they are.
_HARMLESS = frozenset({
    "isinstance", "issubclass", "callable", "type", "id", "repr", "str", "print", "hasattr", "len", "bool", "hash",
    "list", "tuple", "reversed", "enumerate", "zip", "dict", "inspect.signature", "inspect.isclass", "warnings.warn",
})  # fmt: skip


def factories_in(value: Value) -> Iterator[Factory]:
    """Every factory that a value is, may be or holds."""
    for option in _options(value):
        if isinstance(option, Factory):
            yield option
        elif isinstance(option, FactoryFunction):
            yield option.factory
        elif isinstance(option, Tup | Table):
            for item in option.items.values() if isinstance(option, Table) else option.items:
                yield from factories_in(item)
        elif isinstance(option, Repeated):
            yield from factories_in(option.element)


def one_of(values: Sequence[Value]) -> Several | None:
    """One of these values, whichever, where there are factories among them."""
    return Several(tuple(values)) if any(next(factories_in(v), None) for v in values) else None


def check_handed(run: Any, name: str | None, arguments: Arguments) -> None:
    """Refuse factories handed to code that is not followed: `map(nn.Dense, sizes)`."""
    if name is not None and name.removeprefix("builtins.") in _HARMLESS:
        return
    for node, found in [*arguments.positional, *[(n, a) for _, n, a in arguments.keywords]]:
        if next(factories_in(found.value), None) is not None:
            what = f"`{ast.unparse(arguments.node.func)}` is given `{ast.unparse(node)}`, and may make modules of it"
            raise Unmigratable("NNX138", what, arguments.node)


def check_kept(arguments: Mapping[str, BoundArg], node: ast.AST) -> None:
    """Refuse to give a class's field what makes nothing and would not take what NNX calls a layer with, sizes and `rngs`.

    A `lambda: lambda x: x` is made to take anything, see `nnx.factories.wider_nothings`.
    """
    for name, argument in arguments.items():
        if any(narrow.wider() is None for narrow in narrow_nothings(argument.abs.value)):
            what = f"`{name}` may be a function that makes nothing, and does not take what NNX gives a layer"
            raise Unmigratable("NNX132", what, node)


def _options(value: Value) -> Iterator[Value]:
    if isinstance(value, FactoryChoice):
        yield from _options(value.then)
        yield from _options(value.orelse)
    elif isinstance(value, Several | Choice):
        for option in value.options:
            yield from _options(option)
    else:
        yield value


def narrow_nothings(value: Value) -> Iterator[MakesNothing]:
    """What a value may be that makes nothing, and does not take any arguments."""
    for option in _options(value):
        nothing = makes_nothing(option)
        if nothing is not None and nothing.is_narrow:
            yield nothing


__all__ = ["check_handed", "check_kept", "factories_in", "narrow_nothings", "one_of"]
