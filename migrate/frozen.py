"""Dataclasses that nobody changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

Class = TypeVar("Class")


@overload
def frozen(cls: type[Class], /) -> type[Class]: ...
@overload
def frozen(*, eq: bool = True, order: bool = False) -> Callable[[type[Class]], type[Class]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(cls: type[Any] | None = None, /, *, eq: bool = True, order: bool = False) -> Any:
    """`dataclasses.dataclass(frozen=True)` to the type checker; at run time nothing keeps the fields from being set.

    For values of which a run makes hundreds of thousands: a frozen instance takes three times as long to make.
    """

    def decorate(cls: type[Any]) -> type[Any]:
        own_hash = cls.__dict__.get("__hash__") is not None or not eq
        return dataclasses.dataclass(eq=eq, order=order, unsafe_hash=not own_hash)(cls)

    return decorate if cls is None else decorate(cls)
