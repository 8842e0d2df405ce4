"""Binding the arguments of a library call, and reading them as shapes, sizes, axes and flags."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ..values.dims import Dim
from ..values.values import Array, Axes, Const, Int, NeedsRank, Real, Shape, ShapeOf, Slice, Star, Tup, Unknown, Value
from .shape_ops import Stop, needs_rank, stop

Handler = Callable[["Call"], Value]
RULES: Final[dict[str, tuple[Handler, tuple[str, ...]]]] = {}
NONE = Const(None)


def rule(names: str, signature: str, prefix: str = "jax.numpy") -> Callable[[Handler], Handler]:
    """Register a handler for functions (`names`, separated by blanks, under `prefix`) of one signature.

    `signature` lists the parameters in order; `*rest` takes all further positional arguments as a tuple.
    """

    def register(handler: Handler) -> Handler:
        for name in names.split():
            RULES[f"{prefix}.{name}" if prefix else name] = (handler, tuple(signature.split()))
        return handler

    return register


@dataclasses.dataclass(frozen=True)
class Call:
    """One call with its arguments bound to parameter names. The readers raise Stop for what is not known."""

    name: str
    bound: Mapping[str, Value]
    extra: Mapping[str, Value]  # keyword arguments that the signature does not list

    def has(self, parameter: str) -> bool:
        return parameter in self.bound and self.bound[parameter] != NONE

    def value(self, parameter: str) -> Value:
        if parameter not in self.bound:
            raise stop(f"{self.name}: no argument `{parameter}`")
        return self.bound[parameter]

    def shape(self, parameter: str) -> Shape:
        """The shape of an array argument; numbers have the shape ()."""
        return array_shape(self.value(parameter))

    def shapes(self, parameter: str) -> list[Shape]:
        """The shapes of a tuple or list of arrays."""
        return [array_shape(item) for item in self.items(parameter)]

    def items(self, parameter: str) -> tuple[Value, ...]:
        value = self.value(parameter)
        if isinstance(value, Unknown):
            raise Stop(value)
        if not isinstance(value, Tup):
            raise stop(f"{self.name}: `{parameter}` is not a tuple or list of known length")
        return value.items

    def target(self, parameter: str) -> Shape:
        """A shape argument: a size, or a tuple or list of sizes."""
        return as_shape(self.value(parameter))

    def int(self, parameter: str, default: int | None = None) -> Dim:
        value = self.bound.get(parameter, NONE)
        if value == NONE and default is not None:
            return Dim.of(default)
        return int_of(value, f"{self.name}: `{parameter}`")

    def axes(self, parameter: str) -> list[Dim] | None:
        """None, one axis or several."""
        value = self.bound.get(parameter, NONE)
        if value == NONE:
            return None
        if isinstance(value, Tup):
            return [int_of(item, f"{self.name}: `{parameter}`") for item in value.items]
        return [int_of(value, f"{self.name}: `{parameter}`")]

    def dims(self, parameter: str) -> list[Dim | None]:
        """A tuple or list of sizes, each None if not known."""
        shape = self.target(parameter)
        if shape.lead is not None:
            raise needs_rank(f"{self.name}: `{parameter}`", shape)
        return list(shape.dims)

    def flag(self, parameter: str, default: bool) -> bool:
        value = self.bound.get(parameter)
        if value is None:
            return default
        if isinstance(value, Const) and isinstance(value.value, bool | None):
            return bool(value.value)
        if isinstance(value, Int) and value.dim.value is not None:
            return bool(value.dim.value)
        raise stop(f"{self.name}: `{parameter}` is not a constant")

    def text(self, parameter: str) -> str:
        value = self.value(parameter)
        if isinstance(value, Const) and isinstance(value.value, str):
            return value.value
        raise stop(f"{self.name}: `{parameter}` is not a constant string")


def bind(name: str, signature: Sequence[str], args: Sequence[Value], keywords: Mapping[str, Value]) -> Call:
    """Python's binding rules. Raises Stop where they do not fit."""
    bound: dict[str, Value] = {}
    extra = dict(keywords)
    position = 0
    for parameter in signature:
        if parameter.startswith("*"):
            bound[parameter[1:]] = Tup(tuple(args[position:]))
            position = len(args)
        elif position < len(args):
            bound[parameter] = args[position]
            position += 1
        elif parameter in extra:
            bound[parameter] = extra.pop(parameter)
    if position < len(args):
        raise stop(f"{name}: {len(args)} positional arguments")
    return Call(name, bound, extra)


def int_of(value: Value, what: str) -> Dim:
    """The integer that a value is. Raises Stop."""
    if isinstance(value, Int):
        return value.dim
    if isinstance(value, Const) and isinstance(value.value, bool):
        return Dim.of(int(value.value))
    if isinstance(value, Unknown):
        raise Stop(value)
    raise stop(f"{what} is not a known integer")


def is_number(value: Value) -> bool:
    return isinstance(value, Int | Real) or (isinstance(value, Const) and isinstance(value.value, int | float | complex))


def array_shape(value: Value) -> Shape:
    """The shape that `jnp.asarray(value)` has. Raises Stop."""
    if isinstance(value, Array):
        return value.shape
    if is_number(value):
        return Shape(())
    if isinstance(value, ShapeOf):
        return Shape((value.shape.ndim(),))
    if isinstance(value, Tup):
        inner = [array_shape(item) for item in value.items]
        first = inner[0] if inner else Shape(())
        if any(s.rank is None or s.rank != first.rank for s in inner):
            raise stop("a list of arrays whose shapes are not known")
        return Shape((Dim.of(len(inner)), *first.dims))
    if isinstance(value, Unknown):
        raise Stop(value)
    raise stop(f"not an array: {type(value).__name__}")


def as_shape(value: Value) -> Shape:
    """The shape that a size, or a tuple or list of sizes, spells. Sizes that are not known become None.

    Raises Stop where the number of sizes is not known, and where a size depends on a rank.
    """
    if isinstance(value, ShapeOf):
        return value.shape
    if isinstance(value, Int):
        return Shape((value.dim,))
    if isinstance(value, Tup):
        for item in value.items:
            if isinstance(item, NeedsRank):
                raise Stop(item)
            if not isinstance(item, Int | Unknown | Array):  # an array: an argument that holds a number
                raise stop("a shape that holds something else than sizes")
        return Shape(tuple(item.dim if isinstance(item, Int) else None for item in value.items))
    if isinstance(value, Unknown):
        raise Stop(value)
    raise stop(f"not a shape: {type(value).__name__}")


def join(values: Sequence[Value], kind: str = "tuple") -> Value:
    """The tuple (or list) with these items, `Star`s spread. Raises Stop if its length is not known in any way."""
    first = values[0].value if values and isinstance(values[0], Star) else None
    if isinstance(first, Axes):
        behind = join(values[1:], kind)
        if isinstance(behind, Tup):
            return Axes(first.stop, (*first.then, *behind.items))
    items: list[Value] = []
    open_shape: Shape | None = None
    lost: Stop | None = None
    for value in values:
        inner = value.value if isinstance(value, Star) else None
        if inner is None:
            items.append(value)
        elif isinstance(inner, Tup):
            items += inner.items
        elif isinstance(inner, ShapeOf):
            if open_shape is not None:
                raise needs_rank("a tuple with two starred shapes", open_shape, inner.shape)
            open_shape = _append(inner.shape, items, front=True)
            items = []
        else:
            lost = Stop(inner) if isinstance(inner, Unknown) else stop("a starred value whose length is not known")
            items, open_shape = [], Shape.unknown()
    if lost is not None:  # sizes behind it are known, where they are spelled out
        tail = [item.dim.value for item in items if isinstance(item, Int)]
        if not tail or len(tail) < len(items) or -1 in tail:
            raise lost
    if open_shape is None:
        return Tup(tuple(items), kind)
    return ShapeOf(_append(open_shape, items, front=False), kind)


def _append(shape: Shape, items: Sequence[Value], *, front: bool) -> Shape:
    """Sizes put before or after a shape of unknown rank."""
    extra = as_shape(Tup(tuple(items))).dims
    if not extra:
        return shape
    if not front:
        return Shape((*shape.dims, *extra), shape.lead)
    if shape.lead is None:
        return Shape((*extra, *shape.dims))
    folded = shape.fold()
    lead = folded.lead
    assert lead is not None
    if not lead.known:
        return Shape(folded.dims, lead)
    return Shape(folded.dims, dataclasses.replace(lead, head=(*extra, *lead.head))).fold()


def step_of(value: Slice) -> Dim:
    return Dim.of(1) if value.step is None or value.step == NONE else int_of(value.step, "the step of a slice")
