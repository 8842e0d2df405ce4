"""Arrays that TensorStore reads: zarr and zarr3, in directories or inside an OCDBT database.

TensorStore does the I/O, decoding and multi-host-safe reading; this module finds the arrays and checks that their
chunks exist, because TensorStore fills missing chunks with zeros without a word.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError, CorruptCheckpointError
from .base import Array, Index, Key, Leaf, StoredSharding, dtype_from_name, files_below, read_small

# Decoded chunks are shared between the reads of one array only while these are in flight.
_CONTEXT = {"cache_pool": {"total_bytes_limit": 0}, "data_copy_concurrency": {"limit": "shared"}}


@functools.cache
def context() -> Any:
    import tensorstore as ts

    return ts.Context(_CONTEXT)


@dataclasses.dataclass(frozen=True)
class ArrayInfo:
    """The metadata of one stored array. `fills`: a missing chunk legitimately means the fill value."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    driver: str
    separator: str
    fills: bool

    def chunk_names(self) -> Iterable[str]:
        grid = [range(-(-n // c) if n else 0) for n, c in zip(self.shape, self.chunks)]
        if self.driver == "zarr3":
            for cell in itertools.product(*grid):
                yield self.separator.join(["c", *map(str, cell)])
        elif not self.shape:
            yield "0"
        else:
            for cell in itertools.product(*grid):
                yield self.separator.join(map(str, cell))


def parse_metadata(name: str, data: bytes, file: object) -> ArrayInfo:
    """Reads a `.zarray` or a `zarr.json`.

    Raises:
        CorruptCheckpointError: it is not valid.
    """
    try:
        raw = json.loads(data)
        shape = tuple(int(n) for n in raw["shape"])
        if name == "zarr.json":
            chunks = tuple(int(n) for n in raw["chunk_grid"]["configuration"]["chunk_shape"])
            encoding = raw.get("chunk_key_encoding", {})
            separator = encoding.get("configuration", {}).get("separator", "/")
            driver, dtype_name, fills = "zarr3", raw["data_type"], True
        else:
            chunks = tuple(int(n) for n in raw["chunks"])
            separator, driver, dtype_name = raw.get("dimension_separator", "."), "zarr", raw["dtype"]
            fills = raw.get("fill_value") is not None
        if len(chunks) != len(shape) or any(n < 0 for n in shape) or any(c < 1 for c in chunks):
            raise ValueError(f"shape {shape} with chunks {chunks}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptCheckpointError(file, f"is no valid array metadata, so truncated or damaged ({error})") from None
    dtype = dtype_from_name(dtype_name, file).newbyteorder("=")  # TensorStore gives native bytes
    return ArrayInfo(shape, dtype, chunks, driver, separator, fills)


def reader(spec: Mapping[str, Any], name: str, file: str) -> Callable[[Index], Callable[[], Array]]:
    """Opens the array on first use; every call begins one read."""

    @functools.cache
    def store() -> Any:
        import tensorstore as ts

        return ts.open(dict(spec), open=True, read=True, context=context()).result()

    def start(index: Index) -> Callable[[], Array]:
        try:
            future = store()[index].read(order="C") if index else store().read()
        except (ValueError, OSError, RuntimeError) as error:
            raise _damaged(name, file, error) from None

        def wait() -> Array:
            try:
                return np.asarray(future.result())
            except (ValueError, OSError, RuntimeError) as error:
                raise _damaged(name, file, error) from None

        return wait

    return start


def _damaged(name: str, file: str, error: Exception) -> CorruptCheckpointError:
    text = " ".join(str(error).split())
    return CorruptCheckpointError(
        file, f"array {name!r} cannot be read: a file is missing, truncated or damaged ({text[:300]})"
    )


def directory_array(
    key: Key,
    path: Path,
    *,
    root: Path | None = None,
    sharding: StoredSharding | None = None,
    fills: bool | None = None,
) -> Leaf | None:
    """The zarr or zarr3 array in a directory, None where there is none.

    Raises:
        CorruptCheckpointError: chunks are missing that the writer must have written.
    """
    name = next((n for n in (".zarray", "zarr.json") if (path / n).is_file()), None)
    if name is None:
        return None
    have = files_below(path, path.parent if root is None else root)
    info = parse_metadata(name, read_small(path / name), path / name)
    missing = [c for c in info.chunk_names() if c not in have]
    if missing and not (info.fills if fills is None else fills):
        raise CorruptCheckpointError(
            path / missing[0],
            f"is missing: a chunk of the array {'/'.join(key)!r} (shape {info.shape}). "
            "Nothing is filled with zeros; copy the checkpoint again, whole",
        )
    spec = {"driver": info.driver, "kvstore": {"driver": "file", "path": f"{path.absolute()}/"}}
    return Leaf(
        key, info.shape, info.dtype, str(path), reader(spec, "/".join(key), str(path)),
        sharding=sharding, chunks=info.chunks, storage=("directory", str(path)), absent=len(missing),
    )  # fmt: skip


class Database:
    """An OCDBT key-value store, opened for reading."""

    def __init__(self, root: Path) -> None:
        import tensorstore as ts

        self.root = root
        files_below(root, root)
        self.spec = {"driver": "ocdbt", "base": {"driver": "file", "path": f"{root.absolute()}/"}}
        try:
            self.store = ts.KvStore.open(self.spec, context=context()).result()
            keys = [k.decode("utf-8", "surrogateescape") for k in self.store.list().result()]
        except (ValueError, OSError, RuntimeError) as error:
            text = " ".join(str(error).split())
            raise CorruptCheckpointError(
                root / "manifest.ocdbt", f"the OCDBT database cannot be opened: missing or damaged files ({text[:300]})"
            ) from None
        self.arrays: dict[str, str] = {}
        self.chunks: dict[str, set[str]] = {}
        for key in keys:
            head, _, tail = key.rpartition("/")
            if tail in (".zarray", "zarr.json"):
                self.arrays[head] = tail
        for key in keys:
            name = key.split("/", 1)[0]
            while name not in self.arrays and len(name) < len(key):  # names of parameters may hold slashes
                more = key[len(name) + 1 :].split("/", 1)[0]
                name = f"{name}/{more}" if more else key
            if name in self.arrays:
                self.chunks.setdefault(name, set()).add(key[len(name) + 1 :])
        self._metadata = {
            name: self.store.read(f"{name}/{tail}") for name, tail in self.arrays.items()
        }  # all in flight at once

    def array(
        self, key: Key, name: str, *, sharding: StoredSharding | None = None, fills: bool | None = None
    ) -> Leaf | None:
        """The array stored under `name`, None where there is none."""
        tail = self.arrays.get(name)
        if tail is None:
            return None
        try:
            data = bytes(self._metadata[name].result().value)
        except (ValueError, OSError, RuntimeError) as error:
            raise _damaged(name, str(self.root), error) from None
        info = parse_metadata(tail, data, self.root / name / tail)
        have = self.chunks[name]
        missing = [c for c in info.chunk_names() if c not in have]
        if missing and not (info.fills if fills is None else fills):
            raise CorruptCheckpointError(
                self.root, f"the chunk {missing[0]!r} of the array {'/'.join(key)!r} (shape {info.shape}) is missing"
            )
        spec = {"driver": info.driver, "kvstore": {**self.spec, "path": f"{name}/"}}
        return Leaf(
            key, info.shape, info.dtype, str(self.root), reader(spec, "/".join(key), str(self.root)),
            sharding=sharding, chunks=info.chunks, storage=("ocdbt", name), absent=len(missing),
        )  # fmt: skip


def open_database(root: Path) -> Database:
    """The OCDBT database of a checkpoint directory.

    A checkpoint of several processes has one part for each (`ocdbt.process_N`), merged into the root when the save is
    committed. Without the root manifest it never was.
    """
    if not (root / "manifest.ocdbt").is_file():
        parts = sorted(p.name for p in root.glob("ocdbt.process_*"))
        raise CheckpointError(
            root,
            "lacks its root manifest `manifest.ocdbt`"
            + (
                f" though the parts {', '.join(parts)} are there: the save was never committed, or Orbax 0.4 "
                "wrote it with use_ocdbt=False, which that version damaged"
                if parts
                else ""
            )
            + ". No version of Orbax reads such a directory; take another step or copy the checkpoint again",
        )
    return Database(root)
