"""Writing checkpoints that plain Orbax restores, without reading the arrays where that can be avoided.

Three ways to get an array to its new name, cheapest first: re-keyed inside an OCDBT database whose files are hard
links to the source's; a zarr directory of hard links; streamed block by block. Everything goes into a temporary
directory beside the destination, which is renamed when it is complete.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import CheckpointError, MismatchError
from .formats.base import Checkpoint, Key, Leaf, check_key
from .formats.tensor import context

BLOCK = 1 << 26
Progress = Callable[[int, int], None]


@dataclasses.dataclass
class Entry:
    """One array of the new checkpoint. `lists`: how many leading components' children are list entries is not
    recorded by NNX, but Linen's optimizer states are lists: the positions in `key` that are list indices.
    """

    key: Key
    leaf: Leaf
    lists: frozenset[int] = frozenset()
    key_impl: str | None = None
    dtype: Any = None

    @property
    def name(self) -> str:
        return ".".join(self.key)


@dataclasses.dataclass
class Written:
    """What a conversion did."""

    path: Path
    arrays: int
    linked_bytes: int
    streamed_bytes: int
    seconds: float


def write(
    source: Checkpoint,
    entries: Sequence[Entry],
    destination: Path,
    *,
    empties: Sequence[tuple[Key, frozenset[int]]] = (),
    step: int | None = None,
    custom: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Written:
    """Writes a checkpoint: whole or not at all.

    Args:
        empties: keys of list entries that hold nothing (optax's EmptyState), which Orbax wants to see.
        step: writes `<destination>/<step>/default`, as a CheckpointManager does, instead of the tree itself.
        custom: stored as `custom_metadata` of the tree.
        progress: is told (bytes done, bytes in all).

    Raises:
        CheckpointError: the destination exists, cannot be written, or the disk is full. Nothing is left behind then.
        MismatchError: two arrays with one name.
    """
    begun = time.time()
    names: dict[str, Entry] = {}
    for entry in entries:
        check_key(entry.key, destination)
        if entry.name in names:
            raise MismatchError(
                "two arrays would have the same name:",
                [f"{entry.name}: from {names[entry.name].leaf.name} and from {entry.leaf.name}"],
            )
        names[entry.name] = entry
    with _directory(destination) as temporary:
        tree = temporary if step is None else temporary / str(step) / "default"
        tree.mkdir(parents=True, exist_ok=True)
        try:
            linked, streamed = _arrays(source, entries, tree, progress)
            _sidecars(source, entries, empties, tree, custom, begun)
            if step is not None:
                handlers = {"default": _HANDLER}
                _json(tree.parent / "_CHECKPOINT_METADATA", _checkpoint_metadata(handlers, begun))
        except (OSError, ValueError, RuntimeError) as error:
            raise _explained(destination, error) from error
    return Written(destination, len(entries), linked, streamed, time.time() - begun)


_HANDLER = "orbax.checkpoint._src.handlers.standard_checkpoint_handler.StandardCheckpointHandler"


def _explained(destination: Path, error: Exception) -> CheckpointError:
    text = " ".join(str(error).split())
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left" in text
    why = "the disk is full" if full else text[:300]
    return CheckpointError(destination, f"could not be written: {why}. Nothing was left behind; the source is untouched")


@contextlib.contextmanager
def _directory(destination: Path) -> Iterator[Path]:
    """A temporary directory that becomes `destination`, or vanishes."""
    if destination.exists() or destination.is_symlink():
        raise CheckpointError(destination, "exists already; choose another destination or remove it first")
    temporary = destination.with_name(f".{destination.name}.nnx-migrate-tmp")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        if temporary.exists():  # left by a run that was killed
            shutil.rmtree(temporary)
        temporary.mkdir()
    except OSError as error:
        raise CheckpointError(destination, f"cannot be written: {error.strerror or error}") from None
    try:
        yield temporary
        os.rename(temporary, destination)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _arrays(source: Checkpoint, entries: Sequence[Entry], tree: Path, progress: Progress | None) -> tuple[int, int]:
    """Puts every array under its new name; returns the bytes linked and streamed."""
    total = sum(e.leaf.nbytes for e in entries)
    done = linked = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    def same(entry: Entry) -> bool:
        return entry.dtype is None or np.dtype(entry.dtype) == entry.leaf.dtype

    database = source.storage == "ocdbt"
    stream: list[Entry] = []
    rekey: dict[str, str] = {}
    for entry in entries:
        kind, where = entry.leaf.storage or ("", "")
        if kind == "ocdbt" and database and same(entry):
            rekey[entry.name] = where
            linked += entry.leaf.nbytes
        elif kind == "directory" and not database and same(entry):
            _link_tree(Path(where), tree / entry.name)
            linked += entry.leaf.nbytes
            advance(entry.leaf.nbytes)
        else:
            stream.append(entry)
    if database:
        _rekey(source.path, tree, rekey)
        advance(linked)
    zarr3 = bool(source.metadata.get("use_zarr3"))
    for entry in stream:
        base: dict[str, Any] = {"driver": "file", "path": f"{tree.absolute()}/{entry.name}/"}
        if database:
            base = {"driver": "ocdbt", "base": f"file://{tree.absolute()}/", "path": f"{entry.name}/"}
        _stream(entry, base, zarr3, advance)
    return linked, total - linked


def _rekey(source: Path, tree: Path, rekey: dict[str, str]) -> None:
    """Links the database's files and renames its keys in one transaction. No array byte is read."""
    import tensorstore as ts

    for item in sorted(source.iterdir()):
        if item.name == "d" or item.name.startswith("ocdbt.process_"):
            _link_tree(item, tree / item.name)
    # The manifest is what a change replaces, so it is copied; data files are only ever added.
    shutil.copyfile(source / "manifest.ocdbt", tree / "manifest.ocdbt")

    def stored() -> Any:
        return ts.KvStore.open({"driver": "ocdbt", "base": f"file://{tree.absolute()}/"}, context=context()).result()

    def move(names: dict[str, str], drop: set[str]) -> None:
        # Copies and deletions in one transaction damage the tree (tensorstore 0.1.86), so each has its own.
        store = stored()
        with ts.Transaction(atomic=False) as transaction:
            changed = store.with_transaction(transaction)
            for new, old in names.items():
                (store / f"{old}/").experimental_copy_range_to(changed / f"{new}/").result()
        with ts.Transaction(atomic=False) as transaction:
            changed = store.with_transaction(transaction)
            for name in drop:
                changed.delete_range(ts.KvStore.KeyRange(f"{name}/", f"{name}0")).result()

    before = _stamps(stored())
    moved = {new: old for new, old in rekey.items() if new != old}
    drop = set(before) - {new for new, old in rekey.items() if new == old}
    if drop & set(moved):  # names are swapped or shifted: by way of names that nothing has
        move({f"~{new}": old for new, old in moved.items()}, drop)
        move({new: f"~{new}" for new in moved}, {f"~{new}" for new in moved})
    else:
        move(moved, drop)
    after = _stamps(stored())
    wrong = [new for new, old in rekey.items() if after.get(new) != before[old]]
    if wrong or set(after) != set(rekey):
        raise RuntimeError(f"renaming inside of the OCDBT database went wrong for {', '.join(wrong) or 'unknown keys'}")


def _stamps(store: Any) -> dict[str, Any]:
    """What identifies every array of a database: its chunks' names and the bytes of its metadata."""
    chunks: dict[str, list[str]] = {}
    for key in store.list().result():
        name, _, tail = key.decode("utf-8", "surrogateescape").partition("/")
        chunks.setdefault(name, []).append(tail)
    reads = {n: [store.read(f"{n}/{t}") for t in tails if t in _META] for n, tails in chunks.items()}
    return {n: (sorted(chunks[n]), [bytes(r.result().value) for r in found]) for n, found in reads.items()}


_META = (".zarray", "zarr.json")


def _link_tree(source: Path, destination: Path) -> None:
    """A directory of hard links; of copies where the file system cannot link."""
    destination.mkdir(parents=True, exist_ok=True)
    for item in sorted(source.iterdir()):
        if item.is_dir():
            _link_tree(item, destination / item.name)
            continue
        try:
            os.link(os.path.realpath(item), destination / item.name)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.EACCES):
                raise
            shutil.copyfile(item, destination / item.name)


def _stream(entry: Entry, kvstore: dict[str, Any], zarr3: bool, advance: Callable[[int], None]) -> None:
    """Copies an array in blocks of bounded size."""
    import tensorstore as ts

    leaf = entry.leaf
    dtype = np.dtype(entry.dtype) if entry.dtype is not None else leaf.dtype
    chunks = _chunks(leaf.shape, dtype.itemsize)
    name = dtype.name if dtype.kind == "V" or dtype.name in ("bfloat16",) else dtype.str
    if zarr3:
        metadata: dict[str, Any] = {
            "shape": list(leaf.shape),
            "data_type": dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        }
    else:
        metadata = {"shape": list(leaf.shape), "chunks": list(chunks), "dtype": name, "fill_value": None}
        metadata |= {"compressor": {"id": "zstd", "level": 1}, "dimension_separator": "."}
    spec = {
        "driver": "zarr3" if zarr3 else "zarr",
        "kvstore": kvstore,
        "metadata": metadata,
        "store_data_equal_to_fill_value": True,
    }
    store = ts.open(spec, create=True, delete_existing=True, context=context()).result()
    if not leaf.shape:
        store.write(leaf.read().astype(dtype)).result()
        advance(leaf.nbytes)
        return
    for index in _blocks(leaf.shape, chunks):
        block = leaf.read(index)
        store[index].write(block.astype(dtype, copy=False)).result()
        advance(block.nbytes)


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """A chunk grid with chunks of at most BLOCK bytes, cut along leading dimensions first."""
    chunks = [max(1, n) for n in shape]
    for i in range(len(chunks)):
        size = itemsize * int(np.prod(chunks, dtype=np.int64))
        if size <= BLOCK:
            break
        chunks[i] = max(1, chunks[i] * BLOCK // size)
    return tuple(chunks)


def _blocks(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    import itertools

    ranges = [range(0, n, c) for n, c in zip(shape, chunks)]
    for corner in itertools.product(*ranges):
        yield tuple(slice(a, min(a + c, n)) for a, c, n in zip(corner, chunks, shape))


def _sidecars(
    source: Checkpoint,
    entries: Sequence[Entry],
    empties: Sequence[tuple[Key, frozenset[int]]],
    tree: Path,
    custom: dict[str, Any] | None,
    begun: float,
) -> None:
    """`_METADATA`, `_sharding`, `array_metadatas` and `_CHECKPOINT_METADATA`, as Orbax 0.12 writes them."""
    nodes: dict[str, Any] = {}
    shardings: dict[str, str] = {}
    arrays = []
    for entry in sorted(entries, key=lambda e: e.key):
        leaf = entry.leaf
        linked = leaf.chunks if leaf.storage and leaf.chunks is not None else None
        chunks = list(linked or _chunks(leaf.shape, leaf.dtype.itemsize)) if leaf.shape else []
        nodes[str(entry.key)] = _node(entry.key, entry.lists, "jax.Array", skip=False, write_shape=chunks)
        impl = entry.key_impl or leaf.key_impl
        array = {
            "param_name": entry.name,
            "write_shape": chunks,
            "chunk_shape": chunks,
            "ext_metadata": {"random_key_impl": impl} if impl else None,
        }
        arrays.append({"array_metadata": array})
        if leaf.sharding is not None and leaf.storage:
            encoded = base64.b64encode(entry.name.encode()).decode()
            text = {
                "sharding_type": "NamedSharding",
                "shape": list(leaf.sharding.mesh_shape),
                "axis_names": list(leaf.sharding.axis_names),
                "partition_spec": [list(p) if isinstance(p, tuple) else p for p in leaf.sharding.spec],
            }
            shardings[encoded] = json.dumps(text)
    for key, lists in empties:
        nodes[str(key)] = _node(key, lists, "None", skip=True)
    _json(
        tree / "_METADATA",
        {
            "tree_metadata": nodes,
            "use_ocdbt": source.storage == "ocdbt",
            "use_zarr3": bool(source.metadata.get("use_zarr3")),
            "store_array_data_equal_to_fill_value": bool(source.metadata.get("store_array_data_equal_to_fill_value")),
            "custom_metadata": custom,
        },
    )
    if shardings:
        _json(tree / "_sharding", shardings)
    (tree / "array_metadatas").mkdir()
    _json(tree / "array_metadatas" / "process_0", {"array_metadatas": arrays})
    _json(tree / "_CHECKPOINT_METADATA", _checkpoint_metadata(_HANDLER, begun))


def _node(key: Key, lists: frozenset[int], kind: str, *, skip: bool, write_shape: list[int] | None = None) -> dict[str, Any]:
    value: dict[str, Any] = {"value_type": kind, "skip_deserialize": skip}
    if write_shape is not None:
        value["write_shape"] = write_shape
    return {
        "key_metadata": [{"key": part, "key_type": 1 if i in lists else 2} for i, part in enumerate(key)],
        "value_metadata": value,
    }


def _checkpoint_metadata(handlers: Any, begun: float) -> dict[str, Any]:
    return {
        "item_handlers": handlers,
        "metrics": {},
        "performance_metrics": {},
        "init_timestamp_nsecs": int(begun * 1e9),
        "commit_timestamp_nsecs": time.time_ns(),
        "custom_metadata": {},
    }


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))
