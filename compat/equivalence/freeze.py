"""Parameters of equations as hashable values whose equality means the same behaviour.

Nothing is compared by its printed form, which can leave things out: what is not understood is compared by its own
equality, at worst by identity. That can cost a proof, and can never make a false one.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import types
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np


def array_key(value: Any) -> tuple[Any, ...]:
    """The identity of a concrete array: dtype, shape and bytes (hashed where they are many)."""
    if hasattr(value, "dtype") and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return ("key array", str(value.dtype), *array_key(jax.random.key_data(value)))
    array = np.asarray(value)
    data = array.tobytes()
    return (str(array.dtype), array.shape, data if len(data) <= 64 else hashlib.sha256(data).digest())


def sharding_key(value: Any) -> Hashable:
    """A sharding as mesh shape and spec, so that an abstract and a concrete mesh of the same shape agree.

    Trailing `None`s of a spec say nothing and are dropped; an axis name and a tuple of just it are the same.
    """
    if isinstance(value, jax.sharding.NamedSharding):
        mesh = value.mesh
        axes = tuple(zip(mesh.axis_names, mesh.shape.values()))
        return ("named", axes, spec_key(value.spec), value.memory_kind)
    return ("sharding", value)


def says_nothing(sharding: Any) -> bool:
    """Is this result sharding of an equation void: none, or one that names no axis of a mesh whose axes are all Auto?

    Transposition fills in such shardings under a mesh. The layout over Auto axes is the compiler's to choose, so
    one that names
    none of them constrains nothing. (Constraints proper are an operation of their own and not judged here.)
    """
    if sharding is None:
        return True
    if not isinstance(sharding, jax.sharding.NamedSharding):
        return False
    auto = all(kind == jax.sharding.AxisType.Auto for kind in sharding.mesh.axis_types)
    return auto and not spec_key(sharding.spec)


def spec_key(spec: Any) -> tuple[Any, ...]:
    """Canonical entries of a PartitionSpec."""
    entries = [tuple(e) if isinstance(e, (tuple, list)) else e for e in tuple(spec)]
    entries = [(e[0] if len(e) == 1 else (e or None)) if isinstance(e, tuple) else e for e in entries]
    while entries and entries[-1] is None:
        entries.pop()
    return tuple(entries)


def freeze(value: Any, jaxpr: Callable[[Any], Hashable]) -> Hashable:
    """`value` as a hashable; `jaxpr` canonicalises a nested program."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return (type(value).__name__, value)
    if isinstance(value, (jax.extend.core.ClosedJaxpr, jax.extend.core.Jaxpr)):
        return ("jaxpr", jaxpr(value))
    if isinstance(value, jax.sharding.Sharding):
        return sharding_key(value)
    if isinstance(value, (np.ndarray, jax.Array)):
        return ("array", *array_key(value))
    if isinstance(value, enum.Enum):
        return (type(value).__qualname__, value.name)
    if isinstance(value, (tuple, list)):
        return ("sequence", type(value).__name__, tuple(freeze(v, jaxpr) for v in value))
    if isinstance(value, dict):
        return ("dict", tuple(sorted((str(k), freeze(v, jaxpr)) for k, v in value.items())))
    if isinstance(value, (set, frozenset)):
        return ("set", frozenset(freeze(v, jaxpr) for v in value))
    if isinstance(value, functools.partial):
        return ("partial", *(freeze(v, jaxpr) for v in (value.func, value.args, value.keywords)))
    if isinstance(value, types.FunctionType):
        cells = tuple(_cell(c, jaxpr) for c in value.__closure__ or ())
        defaults = freeze(value.__defaults__, jaxpr)
        return ("function", value.__module__, value.__qualname__, value.__code__, cells, defaults)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = tuple((f.name, freeze(getattr(value, f.name), jaxpr)) for f in dataclasses.fields(value))
        return ("dataclass", type(value).__qualname__, fields)
    try:
        hash(value)
    except TypeError:
        return ("object", type(value).__qualname__, id(value))
    return value if isinstance(value, Hashable) else ("object", id(value))


def _cell(cell: Any, jaxpr: Callable[[Any], Hashable]) -> Hashable:
    try:
        content = cell.cell_contents
    except ValueError:
        return "empty"
    # A function that closes over itself would not end: functions within closures are compared by code and module.
    if isinstance(content, types.FunctionType):
        return ("function", content.__module__, content.__qualname__, content.__code__, id(content.__closure__))
    return freeze(content, jaxpr)
