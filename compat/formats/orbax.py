"""Directories that Orbax wrote, from 0.1 to today, and those of t5x, which are made alike.

What tells them apart (established by reading what period versions wrote):

- L3, Orbax up to 0.2.7: a msgpack file `checkpoint` with the tree, `PLACEHOLDER://name` for arrays that have a
  directory of their own; no `_METADATA`.
- L4, 0.4 to 0.5: `_METADATA` (JSON tree with key types), `_sharding`, `checkpoint` with aggregated leaves, arrays in
  OCDBT or in zarr directories.
- L5, 0.11 on: as L4 without `checkpoint`, with `array_metadatas/` and `_strings.json`.
- t5x: `checkpoint` in which arrays are TensorStore specs.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError, CorruptCheckpointError
from .base import Checkpoint, Key, Leaf, StoredSharding, array_leaf, check_key, inside, put, read_json
from .msgpack_tree import flatten, scan
from .tensor import Database, directory_array, open_database

PLACEHOLDER = "PLACEHOLDER://"
METADATA, AGGREGATE, SHARDING = "_METADATA", "checkpoint", "_sharding"
EMPTY_TYPES: dict[str, Any] = {"None": None, "Dict": {}, "List": [], "Tuple": (), "NamedTuple": ()}


def looks_like(path: Path) -> bool:
    """True for a directory that holds one saved tree."""
    return any((path / name).is_file() for name in (METADATA, "manifest.ocdbt")) or (
        (path / AGGREGATE).is_file() and not (path / f"{AGGREGATE}_gda").is_dir()
    )


def read(path: Path) -> Checkpoint:
    """Opens one saved tree.

    Raises:
        CorruptCheckpointError, UnsafeCheckpointError, CheckpointError: see the module errors.
    """
    if (path / METADATA).is_file():
        return _read_tree(path)
    if (path / AGGREGATE).is_file():
        return _read_aggregate(path)
    return _read_bare(path)


def _read_aggregate(path: Path) -> Checkpoint:
    """L3 and t5x: the msgpack file is the tree."""
    scanner, tree = scan(path / AGGREGATE)
    specs = 0
    # Orbax 0.3 kept the arrays in OCDBT already, without `_METADATA`.
    database: Database | None = None

    def claim(key: Key, value: Any) -> Leaf | None:
        nonlocal specs, database
        if isinstance(value, str) and value.startswith(PLACEHOLDER):
            name = value[len(PLACEHOLDER) :]
        elif isinstance(value, dict) and "driver" in value and isinstance(value.get("kvstore"), dict):
            specs += 1
            name = str(value["kvstore"].get("path", "")).rstrip("/")
        else:
            return None
        directory = inside(path, name)
        leaf = directory_array(key, directory)
        if leaf is None and ((path / "manifest.ocdbt").is_file() or list(path.glob("ocdbt.process_*"))):
            database = database or open_database(path)
            leaf = database.array(key, name)
        if leaf is None:
            raise CorruptCheckpointError(
                directory, f"is missing: the array of the key {'/'.join(key)!r}, named in {AGGREGATE!r}"
            )
        return leaf

    leaves, others, sequences = flatten(scanner, tree, leaf=claim)
    t5x = specs or (isinstance(tree, dict) and "version" in tree and "optimizer" in tree)
    kinds = {leaf.storage[0] for leaf in leaves.values() if leaf.storage}
    return Checkpoint(
        path,
        "t5x" if t5x else "L4" if database else "L3",
        "t5x" if t5x else "Orbax 0.3" if database else "Orbax 0.1 to 0.3",
        leaves,
        others,
        sequences,
        storage="ocdbt" if kinds == {"ocdbt"} else "zarr" if kinds else "msgpack",
    )


def _read_tree(path: Path) -> Checkpoint:
    """L4 and L5: `_METADATA` is the tree."""
    metadata = read_json(path / METADATA)
    tree = metadata.get("tree_metadata") if isinstance(metadata, dict) else None
    if not isinstance(tree, dict):
        raise CorruptCheckpointError(path / METADATA, "has no `tree_metadata`; truncated or damaged")
    # Writers that leave out chunks equal to the fill value say so, or have a fill value in the array's own metadata.
    fills = False if metadata.get("store_array_data_equal_to_fill_value") else None
    shardings = _shardings(path)
    impls = _key_impls(path)
    strings = read_json(path / "_strings.json") if (path / "_strings.json").is_file() else {}
    aggregated: dict[Key, Any] = {}
    inline: dict[Key, Leaf] = {}
    if (path / AGGREGATE).is_file():
        inline, aggregated, _ = flatten(*scan(path / AGGREGATE))
    checkpoint = Checkpoint(
        path, "L5" if (path / "array_metadatas").is_dir() or not (path / AGGREGATE).is_file() else "L4",
        "", {}, storage="zarr", metadata=metadata,
    )  # fmt: skip
    checkpoint.era = "Orbax 0.6 or later" if checkpoint.layout == "L5" else "Orbax 0.3 to 0.5"
    database: Database | None = None
    if (path / "manifest.ocdbt").is_file() or metadata.get("use_ocdbt") or list(path.glob("ocdbt.process_*")):
        database = open_database(path)
        checkpoint.storage = "ocdbt"
    for text, entry in tree.items():
        key, value_type = _entry(entry, text, path)
        for i, part in enumerate(entry["key_metadata"]):
            if part.get("key_type") == 1:
                checkpoint.sequences.add(key[:i])
        name = ".".join(key)
        if value_type in EMPTY_TYPES:
            put(checkpoint.others, key, EMPTY_TYPES[value_type], path / METADATA)
            continue
        if value_type == "string":
            value = strings.get(name, aggregated.get(key))
            put(checkpoint.others, key, value, path / METADATA)
            continue
        leaf = database.array(key, name, sharding=shardings.get(name), fills=fills) if database else None
        if leaf is None:
            leaf = directory_array(key, inside(path, name), sharding=shardings.get(name), fills=fills)
        if leaf is None and key in inline:
            leaf = inline[key]
        if leaf is None:
            if key in aggregated and not str(aggregated[key]).startswith(PLACEHOLDER):
                put(checkpoint.others, key, aggregated[key], path / METADATA)
                continue
            raise CorruptCheckpointError(
                path, f"the array {'/'.join(key)!r} is named in {METADATA} but is in none of its files"
            )
        leaf.key_impl = impls.get(name)
        leaf.weak = leaf.weak or (value_type == "scalar" and not leaf.shape)
        put(checkpoint.leaves, key, leaf, path / METADATA)
    absent = [leaf.name for leaf in checkpoint.leaves.values() if leaf.absent]
    if absent:
        checkpoint.notes.append(f"chunks are not stored, by which this writer means zeros: {', '.join(absent)}")
    return checkpoint


def _entry(entry: Any, text: str, path: Path) -> tuple[Key, str]:
    try:
        key = check_key((part["key"] for part in entry["key_metadata"]), path / METADATA)
        return key, str(entry["value_metadata"]["value_type"])
    except (KeyError, TypeError):
        raise CorruptCheckpointError(path / METADATA, f"the entry {text[:100]!r} is incomplete") from None


def _read_bare(path: Path) -> Checkpoint:
    """An OCDBT database without a tree: keys are only known as dotted names."""
    database = open_database(path)
    leaves: dict[Key, Leaf] = {}
    for name in sorted(database.arrays):
        key = check_key(name.split("."), path)
        leaf = database.array(key, name)
        if leaf is not None:
            put(leaves, key, leaf, path)
    return Checkpoint(
        path, "L4", "Orbax, tree metadata lost", leaves, storage="ocdbt",
        notes=[f"{METADATA} is missing; keys were taken from the database, where a dot separates components"],
    )  # fmt: skip


def _dotted(name: str) -> str:
    """The dotted name of an entry of `_sharding`: base64, or as it is, as Orbax 0.4.1 wrote it."""
    try:
        return base64.b64decode(name, validate=True).decode()
    except ValueError:
        return name


def _shardings(path: Path) -> dict[str, StoredSharding]:
    """`_sharding`: the name of an array to a JSON text."""
    file = path / SHARDING
    if not file.is_file():
        return {}
    found = {}
    for encoded, text in read_json(file).items():
        try:
            raw = json.loads(text)
            if raw.get("sharding_type") != "NamedSharding":
                continue
            spec = tuple(tuple(p) if isinstance(p, list) else p for p in raw["partition_spec"])
            shape = tuple(int(n) for n in raw["shape"])
            found[_dotted(encoded)] = StoredSharding(shape, tuple(raw["axis_names"]), spec)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise CorruptCheckpointError(file, f"the entry {encoded[:80]!r} is damaged") from None
    return found


def _key_impls(path: Path) -> dict[str, str]:
    """PRNG implementations of typed keys, recorded in `array_metadatas/process_N`."""
    found: dict[str, str] = {}
    for file in sorted((path / "array_metadatas").glob("process_*")):
        for entry in read_json(file).get("array_metadatas", []):
            inner = entry.get("array_metadata", {})
            ext = inner.get("ext_metadata")
            if isinstance(ext, dict):
                impl = ext.get("random_key_impl") or ext.get("impl")
                if isinstance(impl, str):
                    found[str(inner.get("param_name"))] = impl
    return found


def read_json_item(path: Path) -> Checkpoint:
    """What `JsonSave` wrote: `metadata`, no arrays but numbers."""
    tree = read_json(path / "metadata")
    leaves: dict[Key, Leaf] = {}
    others: dict[Key, Any] = {}

    def walk(key: Key, value: Any) -> None:
        if isinstance(value, dict) and value:
            for name, child in value.items():
                walk((*key, str(name)), child)
        elif isinstance(value, list) and value:
            for i, child in enumerate(value):
                walk((*key, str(i)), child)
        elif isinstance(value, (bool, int, float)):
            leaves[key] = array_leaf(key, np.asarray(value), str(path / "metadata"), weak=True)
        else:
            others[key] = value

    walk((), tree)
    return Checkpoint(path, "json", "Orbax JSON item", leaves, others, storage="json")


def read_array_item(path: Path) -> Checkpoint | None:
    """What `ArraySave` wrote: one array, in a directory `checkpoint` or in an OCDBT database under that name."""
    leaf = directory_array(("array",), path / AGGREGATE) if (path / AGGREGATE).is_dir() else None
    if leaf is None and (path / "manifest.ocdbt").is_file():
        database = open_database(path)
        if set(database.arrays) == {AGGREGATE}:
            leaf = database.array(("array",), AGGREGATE)
    if leaf is None:
        return None
    return Checkpoint(path, "L5", "Orbax array item", {("array",): leaf}, storage=(leaf.storage or ("other",))[0])


def random_key(path: Path) -> Path | None:
    """The array of what `JaxRandomKeySave` wrote, `<name>/` beside `<name>_metadata/`; None where there is no such pair."""
    pairs = (p.with_name(p.name.removesuffix("_metadata")) for p in path.glob("*_metadata") if (p / "metadata").is_file())
    found = [p for p in pairs if (p / AGGREGATE).is_dir() or (p / "manifest.ocdbt").is_file()]
    return found[0] if len(found) == 1 else None


def read_key_item(path: Path) -> Checkpoint | None:
    """The data of a PRNG key; its implementation is recorded nowhere."""
    directory = random_key(path)
    return None if directory is None else read_array_item(directory)


def read_placeholder_file(file: Path, arrays: Path) -> Checkpoint:
    """L2: flax's `save_checkpoint_multiprocess`, a msgpack file and its `_gda` directory of zarr arrays."""
    scanner, tree = scan(file)

    def claim(key: Key, value: Any) -> Leaf | None:
        found = re.fullmatch(r"//\w*Placeholder:(.*)", value, re.S) if isinstance(value, str) else None
        if found is None:
            return None
        directory = inside(arrays, found[1])
        leaf = directory_array(key, directory, root=arrays)
        if leaf is None:
            raise CorruptCheckpointError(directory, f"is missing: the array of the key {'/'.join(key)!r} in {file.name!r}")
        return leaf

    leaves, others, sequences = flatten(scanner, tree, leaf=claim)
    return Checkpoint(file, "L2", "flax, several processes", leaves, others, sequences, storage="zarr")


def commit_time(path: Path) -> int | None:
    """When the save of a step was finished, as newer versions note it; None where nothing says so."""
    file = path / "_CHECKPOINT_METADATA"
    noted = read_json(file) if file.is_file() else None
    time = noted.get("commit_timestamp_nsecs") if isinstance(noted, dict) else None
    return time if isinstance(time, int) else None


def check_committed(path: Path) -> None:
    """Refuses directories that are still being written.

    Raises:
        CheckpointError
    """
    from ..errors import IncompleteCheckpointError

    if ".orbax-checkpoint-tmp" in path.name or path.name.endswith(".orbax-checkpoint-tmp"):
        raise IncompleteCheckpointError(
            path, "is a checkpoint still being written, or one whose writer died; choose a finished step"
        )
    if not path.is_dir():
        raise CheckpointError(path, "is no directory")
