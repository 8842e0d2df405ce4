"""Substitution of sizes within abstract values."""

from __future__ import annotations

import dataclasses
from typing import Any

from .bundles import Bundle, Changed, map_values
from .evaluation import Evaluation
from .presence import OptionalArray, with_none
from .sites import (
    Factory,
    Function,
    Module,
    ModuleField,
    Repeated,
    Static,
    Table,
    Variable,
)
from .values import Array, Int, Led, NeedsRank, Shape, Tup, Unknown, Value


def sayable(shape: Shape) -> bool:
    """Can the constructor write the whole shape, given those of the arguments?"""
    if None in shape.dims:
        return False
    return shape.lead is None or (shape.lead.known and not shape.lead.head)


def replace_dims(value: Value, change: Any) -> Value:
    """Substitute atoms in every size of a value; sizes that cannot be said become unknown."""
    if isinstance(value, Int):
        dim = change(value.dim)
        return Int(dim) if dim is not None else Unknown("size")
    if isinstance(value, Array):
        changed = Array(change_shape(value.shape, change))
        return with_none(changed) if isinstance(value, OptionalArray) else changed
    if isinstance(value, Tup):
        items = tuple(replace_dims(i, change) for i in value.items)
        return Led(items, value.kind) if isinstance(value, Led) else Tup(items, value.kind)
    if isinstance(value, NeedsRank):
        found: Unknown = change.needing(value)
        return found
    if isinstance(value, Changed):
        return change.changed(map_values(value, lambda item: replace_dims(item, change)))  # type: ignore[no-any-return]
    if isinstance(value, Bundle):
        return map_values(value, lambda item: replace_dims(item, change))
    if isinstance(value, Repeated):
        return dataclasses.replace(value, element=replace_dims(value.element, change))
    if isinstance(value, Table):
        return Table({k: replace_dims(v, change) for k, v in value.items.items()})
    if isinstance(value, Static):
        dim = change(Evaluation.dim_of(value))
        return Static(dim.text(), dim.dependencies()) if dim is not None else Unknown("field")
    if isinstance(value, Module | Variable | Function | Factory | ModuleField):
        return Unknown("a module's own object")
    return value


def change_shape(shape: Shape, change: Any) -> Shape:
    """As `replace_dims` for a shape; `change` also maps leads through its attribute `lead`."""
    dims = tuple(None if d is None else change(d) for d in shape.dims)
    if shape.lead is None:
        return Shape(dims)
    base: Shape = change.lead(shape.lead)
    return Shape((*base.dims, *dims), base.lead)
