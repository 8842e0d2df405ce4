"""Linen's boxes and NNX's Variable metadata, either way, without touching what was given.

`LogicallyPartitioned.to_nnx_metadata` of flax 0.12 takes `vars(box)` and pops from it, so it empties the box that it
is asked about; the functions here copy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .formats.base import Key


@dataclasses.dataclass(frozen=True)
class Box:
    """What a box says besides its value: axis names, and for logical names the rules bound to it."""

    names: tuple[Any, ...]
    logical: bool = False
    rules: tuple[Any, ...] | None = None
    mesh: Any = None

    def metadata(self) -> dict[str, Any]:
        """As keyword arguments of an `nnx.Variable`."""
        found: dict[str, Any] = {"out_sharding": self.names}
        if self.rules is not None:
            found["sharding_rules"] = self.rules
        if self.mesh is not None:
            found["mesh"] = self.mesh
        return found


def read_box(value: Any) -> Box | None:
    """The box around a value, None for a bare value."""
    from flax.core import meta
    from flax.linen import LogicallyPartitioned

    if isinstance(value, LogicallyPartitioned):
        return Box(tuple(value.names), True, None if value.rules is None else tuple(value.rules), value.mesh)
    if isinstance(value, meta.Partitioned):
        return Box(tuple(value.names), False, None, value.mesh)
    return None


def make_box(value: Any, metadata: Mapping[str, Any], *, logical: bool = False) -> Any:
    """The Linen box that a Variable's metadata describe; the bare value where they name no axes."""
    from flax.core import meta
    from flax.linen import LogicallyPartitioned

    names = metadata.get("out_sharding")
    if not names:
        return value
    names, mesh, rules = tuple(names), metadata.get("mesh"), metadata.get("sharding_rules")
    if logical or rules:  # `()` says that the names are mesh axes
        return LogicallyPartitioned(value, names=names, mesh=mesh, rules=rules)
    return meta.Partitioned(value, names=names, mesh=mesh)


def key_of(path: Any) -> Key:
    """A jax key path as strings: dict keys, indices and attribute names alike."""
    parts = []
    for entry in path:
        part = next((getattr(entry, a) for a in ("key", "name", "idx") if hasattr(entry, a)), None)
        parts.append(str(entry if part is None else part))
    return tuple(parts)


def flatten(tree: Any) -> dict[Key, tuple[Any, Box | None]]:
    """Leaves of any Linen tree by key, unboxed, with their boxes.

    Takes dicts, FrozenDicts, TrainStates, tuples, optax states. None and empty containers vanish. A box adds no key.
    """
    import jax
    from flax.core import meta

    leaves, _ = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda x: isinstance(x, meta.AxisMetadata))
    found: dict[Key, tuple[Any, Box | None]] = {}
    for path, leaf in leaves:
        box = None
        while isinstance(leaf, meta.AxisMetadata):
            box = box or read_box(leaf)
            leaf = leaf.value if isinstance(leaf, meta.Partitioned) else leaf.unbox()
        found[key_of(path)] = (leaf, box)
    return found
