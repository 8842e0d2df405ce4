"""Single files: flax msgpack (L1), Hugging Face's flax weights, safetensors, npz. Arrays stay in the mapped file."""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError, CorruptCheckpointError, UnknownLayoutError, UnsafeCheckpointError
from .base import Array, Checkpoint, Index, Key, Leaf, check_key, dtype_from_name, inside, put, read_json
from .msgpack_tree import flatten, map_file, read_rows, scan

_SAFETENSORS = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64",
}  # fmt: skip
# What reading a damaged zip file raises.
_DAMAGE = (ValueError, OSError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, struct.error)
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib")


def read_file(path: Path) -> Checkpoint:
    """Opens a single-file checkpoint, by its contents rather than by its name.

    Raises:
        UnknownLayoutError, CorruptCheckpointError, UnsafeCheckpointError, CheckpointError
    """
    if path.name.endswith(".index.json"):
        return read_index(path)
    buffer = map_file(path)
    head = bytes(buffer[:16])
    if head[:4] == b"PK\x03\x04":
        return _read_npz(path)
    if path.suffix in _PICKLES or (head[:1] == b"\x80" and len(head) > 1 and 2 <= head[1] <= 5 and buffer[-1:] == b"."):
        raise UnsafeCheckpointError(
            path, "is a pickle, which can run any code when loaded; it is never loaded. Save it as msgpack or Orbax"
        )
    if path.suffix == ".safetensors" or head[8:10] in (b'{"', b"{}", b"{ "):
        return _read_safetensors(path)
    if head[:6] == b"\x93NUMPY":
        raise UnknownLayoutError(path, "is a single .npy array without keys; save an .npz or a tree")
    scanner, tree = scan(path)
    if not isinstance(tree, dict):
        raise UnknownLayoutError(path, f"is msgpack, but holds a {type(tree).__name__} instead of a tree of arrays")
    leaves, others, sequences = flatten(scanner, tree)
    if not leaves:
        raise UnknownLayoutError(path, "is msgpack, but holds no array")
    hf = path.name.startswith("flax_model") or {k[0] for k in leaves}.isdisjoint(("params", "step", "opt_state"))
    return Checkpoint(
        path, "hf" if path.name.startswith("flax_model") else "L1",
        "flax msgpack, parameters only" if hf else "flax msgpack", leaves, others, sequences, storage="msgpack",
    )  # fmt: skip


def read_index(path: Path) -> Checkpoint:
    """A sharded Hugging Face checkpoint: `*.index.json` with the file of every key."""
    index = read_json(path)
    weights = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weights, dict) or not weights:
        raise CorruptCheckpointError(path, "has no `weight_map`; truncated, or no weight index")
    parts: dict[str, Checkpoint] = {}
    for name in sorted(set(map(str, weights.values()))):
        file = inside(path.parent, name, links=True)  # the hub keeps its files as links into a store of blobs
        if not file.is_file():
            raise CorruptCheckpointError(file, f"is missing: a part of the checkpoint, named in {path.name}")
        parts[name] = read_file(file)
    leaves: dict[Key, Leaf] = {}
    for part in parts.values():
        for key, leaf in part.leaves.items():
            put(leaves, key, leaf, part.path)
    have = {_canonical(leaf.name) for leaf in leaves.values()}
    lost = sorted(k for k in weights if _canonical(k) not in have)
    if lost:
        raise CorruptCheckpointError(path, f"names keys that are in none of its files: {', '.join(lost[:20])}")
    first = next(iter(parts.values()))
    layout = "hf" if first.storage == "msgpack" else first.layout
    return Checkpoint(path, layout, f"{len(parts)} weight files with an index", leaves, storage=first.storage)


def _canonical(name: str) -> str:
    return name.replace("/", ".")


def _split(name: str, file: Path) -> Key:
    """Flat names: `a/b/c`, else `a.b.c`."""
    parts = name.split("/") if "/" in name else name.split(".")
    if "" in parts:
        raise UnsafeCheckpointError(file, f"key {name!r} has an empty component (an absolute path?); refused")
    return check_key(parts, file)


def _read_safetensors(path: Path) -> Checkpoint:
    buffer = map_file(path)
    if len(buffer) < 8:
        raise CorruptCheckpointError(path, "is too short for a safetensors header; truncated")
    (size,) = struct.unpack("<Q", buffer[:8])
    if size > len(buffer) - 8:
        raise CorruptCheckpointError(path, f"claims a header of {size} bytes but has {len(buffer) - 8}; truncated")
    try:
        header: dict[str, Any] = json.loads(bytes(buffer[8 : 8 + size]), object_pairs_hook=_once)
        header.pop("__metadata__", None)
        entries = []
        for name, entry in header.items():
            lo, hi = map(int, entry["data_offsets"])
            entries.append((name, entry["dtype"], tuple(map(int, entry["shape"])), lo, hi))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptCheckpointError(path, f"its safetensors header is damaged ({error})") from None
    leaves: dict[Key, Leaf] = {}
    base, end = 8 + size, len(buffer) - 8 - size
    for name, kind, shape, lo, hi in entries:
        if kind not in _SAFETENSORS:
            raise CorruptCheckpointError(path, f"tensor {name!r} has the unknown dtype {kind!r}")
        dtype = dtype_from_name(_SAFETENSORS[kind], path)
        count = 1
        for n in shape:
            count *= n
        if not 0 <= lo <= hi <= end or min(shape, default=0) < 0 or count * dtype.itemsize != hi - lo:
            raise CorruptCheckpointError(path, f"tensor {name!r}: bytes {lo}:{hi} of {end} do not hold {shape} {dtype}")
        array = np.frombuffer(buffer, dtype, count=count, offset=base + lo).reshape(shape)
        key = _split(name, path)
        put(leaves, key, Leaf(key, shape, dtype, str(path), _view(array)), path)
    if not leaves:
        raise UnknownLayoutError(path, "is safetensors, but holds no tensor")
    return Checkpoint(path, "safetensors", "safetensors", leaves, storage="safetensors")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose names may stand once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _view(array: Array) -> Any:
    return lambda index: lambda: array[index]


def _read_npz(path: Path) -> Checkpoint:
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise CorruptCheckpointError(path, f"is a damaged or truncated zip file ({error})") from None
    names = archive.namelist()
    if any(name.endswith((".pkl", "data.pkl")) for name in names):
        raise UnsafeCheckpointError(path, "is a pickled PyTorch checkpoint, which is never loaded. Save it as safetensors")
    leaves: dict[Key, Leaf] = {}
    for entry in archive.infolist():
        if not entry.filename.endswith(".npy"):
            raise UnknownLayoutError(path, f"is a zip file with {entry.filename[:80]!r} in it, so no .npz of arrays")
        key = _split(entry.filename[: -len(".npy")], path)
        put(leaves, key, _npy_leaf(path, archive, entry, key), path)
    if not leaves:
        raise UnknownLayoutError(path, "is an empty zip file")
    return Checkpoint(path, "npz", "numpy npz of flat keys", leaves, storage="npz")


def _npy_leaf(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, key: Key) -> Leaf:
    try:
        with archive.open(entry) as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
            offset = file.tell()
    except _DAMAGE as error:
        raise CorruptCheckpointError(path, f"entry {entry.filename!r} is damaged or refused ({error})") from None
    if dtype.hasobject:
        raise UnsafeCheckpointError(path, f"entry {entry.filename!r} holds pickled Python objects, which are never loaded")
    if fortran and len(shape) > 1:
        stored = tuple(reversed(shape))
    else:
        stored, fortran = tuple(shape), False
    if re.fullmatch(r"\|?V2", dtype.str) or dtype.str.endswith("V2"):  # numpy has no name for bfloat16
        dtype = dtype_from_name("bfloat16", path)
    elif dtype.kind == "V":
        raise CorruptCheckpointError(
            path,
            f"entry {entry.filename!r} lost its dtype: numpy has no name for {dtype.itemsize * 8} bits of this kind "
            f"(float8, int4) and wrote {dtype.str}; save it as safetensors or msgpack",
        )

    stored_dtype, dtype = dtype, dtype.newbyteorder("=")  # big-endian arrays are turned while they are read

    def flat(start: int, stop: int) -> Array:
        try:
            with zipfile.ZipFile(path) as again, again.open(entry) as file:
                file.seek(offset + start * dtype.itemsize)
                data = file.read((stop - start) * dtype.itemsize)
        except _DAMAGE as error:
            raise CorruptCheckpointError(path, f"entry {entry.filename!r} is damaged ({error})") from None
        if len(data) != (stop - start) * dtype.itemsize:
            raise CorruptCheckpointError(path, f"entry {entry.filename!r} is truncated")
        return np.frombuffer(data, stored_dtype).astype(dtype, copy=False)

    def start(index: Index) -> Any:
        if fortran:
            return lambda: read_rows(flat, stored, dtype, tuple(reversed(index))).T
        return lambda: read_rows(flat, stored, dtype, index)

    return Leaf(key, tuple(shape), dtype, str(path), start)


def check_file(path: Path) -> None:
    """Raises CheckpointError where the path is no readable file."""
    if not path.is_file():
        raise CheckpointError(path, "does not exist")
