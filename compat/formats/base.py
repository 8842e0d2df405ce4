"""What every reader gives: keys, shapes, dtypes and stored shardings first, bytes only on demand.

A reader turns one on-disk layout into a `Checkpoint`. Nothing is read from the arrays while it is opened; a `Leaf`
reads just the block asked for. Keys are tuples of strings whatever the tree was made of (dicts, lists, tuples,
dataclasses).
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CheckpointError, CorruptCheckpointError, UnsafeCheckpointError

Key = tuple[str, ...]
Index = tuple[slice, ...]
Array = NDArray[Any]

# Sidecar files (JSON, msgpack trees) are small; anything larger is damage or an attack.
SIDECAR_LIMIT = 1 << 28


@dataclasses.dataclass(frozen=True)
class StoredSharding:
    """The sharding that the writer recorded. Device ids are not kept: they mean nothing on another machine."""

    mesh_shape: tuple[int, ...]
    axis_names: tuple[str, ...]
    spec: tuple[Any, ...]

    def __str__(self) -> str:
        mesh = ", ".join(f"{name}={size}" for name, size in zip(self.axis_names, self.mesh_shape))
        return f"P{self.spec} on ({mesh})" if self.mesh_shape else f"P{self.spec}"


@dataclasses.dataclass(eq=False)
class Leaf:
    """One array, or one scalar, of a checkpoint.

    Attributes:
        key: where it stands in the saved tree.
        shape, dtype: of the whole array. `weak` marks a Python number, which takes the dtype of its target.
        file: file or directory to name in messages.
        start: begins to read a block and returns what waits for it.
        sharding: as recorded by the writer, None where the layout records none.
        chunks: the stored chunk grid, None where the layout has none.
        key_impl: the PRNG implementation where the leaf is the data of a typed key.
        aside: no part of a state by itself (numbers of a JSON item): used where asked for, never left over.
        absent: chunks that are not stored; the format means the fill value by that, and a lost chunk looks the same.
        storage: what a conversion needs to link instead of copy ('zarr' directories, 'ocdbt' prefixes).
    """

    key: Key
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    file: str
    start: Callable[[Index], Callable[[], Array]]
    sharding: StoredSharding | None = None
    chunks: tuple[int, ...] | None = None
    weak: bool = False
    key_impl: str | None = None
    storage: tuple[str, str] | None = None
    aside: bool = False
    absent: int = 0

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def name(self) -> str:
        return "/".join(self.key)

    def read(self, index: Index | None = None) -> Array:
        """The whole array, or the block `index` of it, as numpy."""
        return self.start(whole(self.shape) if index is None else index)()

    def moved(self, key: Key) -> Leaf:
        return dataclasses.replace(self, key=key)


@dataclasses.dataclass
class Checkpoint:
    """An opened checkpoint: everything but the bytes.

    Attributes:
        path: the directory or file that holds this item (inside a manager's directory: the item's).
        layout: L1 to L5 as in the docs, or t5x, hf, safetensors, npz, json, memory.
        era: what can be said of the writer, for people.
        leaves: arrays and numbers by key.
        others: strings, None, empty containers and other things that are not arrays.
        sequences: prefixes of keys whose children are list entries, where the layout tells.
        notes: remarks for the report.
    """

    path: Path
    layout: str
    era: str
    leaves: dict[Key, Leaf]
    others: dict[Key, Any] = dataclasses.field(default_factory=dict)
    sequences: set[Key] = dataclasses.field(default_factory=set)
    notes: list[str] = dataclasses.field(default_factory=list)
    step: float | None = None
    steps: list[float] = dataclasses.field(default_factory=list)
    item: str | None = None
    items: list[str] = dataclasses.field(default_factory=list)
    storage: str = "other"
    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        return sum(leaf.nbytes for leaf in self.leaves.values())

    def under(self, prefix: Key) -> Checkpoint:
        """The part below `prefix`, with keys relative to it."""
        n = len(prefix)
        return dataclasses.replace(
            self,
            leaves={k[n:]: v.moved(k[n:]) for k, v in self.leaves.items() if k[:n] == prefix and len(k) > n},
            others={k[n:]: v for k, v in self.others.items() if k[:n] == prefix and len(k) > n},
            sequences={k[n:] for k in self.sequences if k[:n] == prefix},
        )


def whole(shape: Sequence[int]) -> Index:
    return tuple(slice(0, n) for n in shape)


def normal_index(index: Sequence[slice], shape: Sequence[int]) -> Index:
    """Slices with plain start and stop; jax gives `slice(None)` for whole dimensions."""
    return tuple(slice(*s.indices(n)[:2]) for s, n in zip(index, shape, strict=True))


def array_leaf(key: Key, array: Array, file: str, *, weak: bool = False) -> Leaf:
    """A leaf whose value is already in memory (aggregated leaves, Python numbers)."""
    return Leaf(key, tuple(array.shape), array.dtype, file, lambda index: lambda: array[index], weak=weak)


def dtype_from_name(name: object, file: object) -> np.dtype[Any]:
    """A dtype from its stored name: numpy's, `<f4`, or one of ml_dtypes (bfloat16, float8_*, int4).

    Raises:
        UnsafeCheckpointError: an object dtype, which would need unpickling.
        CorruptCheckpointError: any other name.
    """
    import ml_dtypes

    text = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
    try:
        dtype = np.dtype(getattr(ml_dtypes, text)) if hasattr(ml_dtypes, text) else np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        raise CorruptCheckpointError(file, f"unknown dtype {text[:60]!r}") from None
    if dtype.hasobject:
        raise UnsafeCheckpointError(file, "holds pickled Python objects (object dtype), which are never loaded")
    if dtype.kind == "V" and dtype.names is not None:
        raise CorruptCheckpointError(file, f"structured dtype {text[:60]!r} is no array of a model")
    return dtype


def read_small(path: Path) -> bytes:
    """A sidecar file, whole.

    Raises:
        CheckpointError: unreadable. CorruptCheckpointError: absurdly large.
    """
    try:
        size = path.stat().st_size
        if size > SIDECAR_LIMIT:
            raise CorruptCheckpointError(path, f"is {size} bytes; a metadata file is never that large")
        return path.read_bytes()
    except OSError as error:
        raise CheckpointError(path, f"cannot be read: {error.strerror or error}") from None


def read_json(path: Path) -> Any:
    data = read_small(path)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CorruptCheckpointError(path, f"is not valid JSON, so truncated or damaged ({error})") from None


def check_key(parts: Iterable[object], file: object) -> Key:
    """Key components as strings; refuses those that would leave the directory when used as a path.

    Raises:
        UnsafeCheckpointError: `..`, absolute paths, NUL, or a slash in a component.
    """
    key = tuple(p.decode("utf-8", "replace") if isinstance(p, bytes) else str(p) for p in parts)
    for part in key:
        if part in ("..", ".") or "/" in part or "\\" in part or "\0" in part:
            raise UnsafeCheckpointError(
                file, f"key {key!r} has the component {part!r}, which could point outside of a checkpoint; refused"
            )
    return key


def inside(root: Path, relative: str, *, links: bool = False) -> Path:
    """`root / relative`, which must lie within `root`, also when links are followed unless `links` allows them.

    Raises:
        UnsafeCheckpointError: it does not.
    """
    path = root / relative
    if os.path.isabs(relative) or ".." in Path(relative).parts:
        raise UnsafeCheckpointError(path, f"points outside of the checkpoint {root}; refused")
    if not links:
        check_link(path, root)
    return path


def check_link(path: Path, root: Path) -> None:
    """Refuses a path that leads out of `root` when its links are followed.

    Raises:
        UnsafeCheckpointError: it does.
    """
    real, base = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath([real, base]) != base:
        raise UnsafeCheckpointError(path, f"points outside of the checkpoint {root} (to {real}); refused")


def files_below(directory: Path, root: Path) -> set[str]:
    """Relative names of all files below a directory; links that leave `root` are refused.

    Raises:
        UnsafeCheckpointError: such a link. CheckpointError: unreadable.
    """
    names: set[str] = set()
    try:
        for folder, folders, files in os.walk(directory):
            for name in (*folders, *files):
                path = Path(folder, name)
                if path.is_symlink():
                    check_link(path, root)
            names.update(os.path.relpath(os.path.join(folder, name), directory) for name in files)
    except OSError as error:
        raise CheckpointError(directory, f"cannot be read: {error.strerror or error}") from None
    return names


def put(table: dict[Key, Any], key: Key, value: Any, file: object) -> None:
    """Adds to a table of keys; two entries that come to the same key are an error, not a lost array."""
    if key in table:
        raise CorruptCheckpointError(file, f"two entries have the key {'/'.join(key)!r}")
    table[key] = value
