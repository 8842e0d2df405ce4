"""What symbolic execution knows of a Python value: constants, sizes, array shapes, tuples; else nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from .dims import Dim, DimLike


@dataclasses.dataclass(frozen=True)
class Value:
    """Base of all abstract values."""


@dataclasses.dataclass(frozen=True)
class Unknown(Value):
    """Nothing is known; `why` goes into the diagnostic if a size depends on it."""

    why: str = ""


@dataclasses.dataclass(frozen=True)
class Const(Value):
    """A Python constant: str, float, bool, None, bytes, Ellipsis, slice-free. Integers are `Int`."""

    value: object


@dataclasses.dataclass(frozen=True)
class Int(Value):
    """An integer, perhaps symbolic."""

    dim: Dim


@dataclasses.dataclass(frozen=True)
class Tup(Value):
    """A tuple or list of known length."""

    items: tuple[Value, ...]
    kind: str = "tuple"  # or list


@dataclasses.dataclass(frozen=True)
class Lead:
    """The unknown leading dimensions of an array: all of argument `argument`'s but the last `dropped`.

    Two leads are the same dimensions exactly when they are equal.
    """

    argument: str
    dropped: int = 0


@dataclasses.dataclass(frozen=True)
class Shape:
    """A shape whose last dimensions are known. `lead=None`: these are all of them.

    An array argument `x` of unknown rank is `Shape((), Lead("x"))`: asking for its last dimension gives the size
    `x.shape[-1]`. A dimension that is not known is None.
    """

    dims: tuple[Dim | None, ...]
    lead: Lead | None = None

    @staticmethod
    def of(*dims: DimLike | None) -> Shape:
        return Shape(tuple(None if d is None else Dim.of(d) for d in dims))

    @staticmethod
    def argument(name: str) -> Shape:
        """The shape of an array argument about which nothing else is known."""
        return Shape((), Lead(name))

    @staticmethod
    def unknown() -> Shape:
        return Shape((), Lead("?"))

    @property
    def rank(self) -> int | None:
        return len(self.dims) if self.lead is None else None

    def expand(self, count: int) -> Shape:
        """The same shape with at least `count` trailing dimensions spelled out (fewer if the rank is smaller)."""
        missing = count - len(self.dims)
        if missing <= 0 or self.lead is None:
            return self
        lead = self.lead
        new: list[Dim | None] = []
        for offset in range(missing, 0, -1):
            new.append(None if lead.argument.startswith("?") else Dim.input(lead.argument, -(lead.dropped + offset)))
        return Shape((*new, *self.dims), Lead(lead.argument, lead.dropped + missing))

    def dim(self, index: int) -> Dim | None:
        """Dimension `index` as Python counts; None where it is not known."""
        if index < 0:
            shape = self.expand(-index)
            return shape.dims[index] if -index <= len(shape.dims) else None
        if self.lead is None:
            return self.dims[index] if index < len(self.dims) else None
        if self.lead.argument.startswith("?"):
            return None
        return Dim.input(self.lead.argument, index)  # the lead's own first dimensions, counted from the front

    def replace_last(self, count: int, *new: DimLike | None) -> Shape:
        """Drop the last `count` dimensions and put `new` in their place."""
        shape = self.expand(count)
        kept = shape.dims[: len(shape.dims) - count]
        return Shape((*kept, *[None if d is None else Dim.of(d) for d in new]), shape.lead)

    def size(self) -> Dim | None:
        """Number of elements; the leading part of an argument of unknown rank is one atom."""
        total = Dim.of(1)
        for d in self.dims:
            if d is None:
                return None
            total = total * d
        if self.lead is not None:
            if self.lead.argument.startswith("?"):
                return None
            total = total * Dim.atom("lead", self.lead.argument, self.lead.dropped)
        return total

    def same(self, other: Shape) -> bool:
        """Provably equal, dimension for dimension."""
        count = max(len(self.dims), len(other.dims))
        a, b = self.expand(count), other.expand(count)
        return a == b and None not in a.dims and not (a.lead and a.lead.argument.startswith("?"))


@dataclasses.dataclass(frozen=True)
class Array(Value):
    """A jax or numpy array (or a scalar treated as one)."""

    shape: Shape


def as_int(value: Value) -> Dim | None:
    """The size that a value is, if it is an integer."""
    return value.dim if isinstance(value, Int) else None


def as_ints(value: Value) -> tuple[Dim, ...] | None:
    """The sizes of a tuple or list of integers."""
    if not isinstance(value, Tup):
        return None
    dims = [as_int(item) for item in value.items]
    return None if any(d is None for d in dims) else tuple(d for d in dims if d is not None)


def ints(values: Sequence[DimLike]) -> Tup:
    """A tuple of integers as a value."""
    return Tup(tuple(Int(Dim.of(v)) for v in values))
