"""Flax's msgpack files, read in place: the structure is scanned, arrays stay where they are in the mapped file.

Sources: flax/serialization.py (`_MsgpackExtType`, `_msgpack_ext_pack`, `_chunk`) and the msgpack specification. A
scanner of our own, because `msgpack.unpackb` copies every array into memory, and because counts and lengths are
checked against the bytes that are left before anything is built (a "bomb" of a few bytes claims a billion entries).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import CheckpointError, CorruptCheckpointError, UnsafeCheckpointError
from .base import Array, Index, Key, Leaf, array_leaf, check_key, dtype_from_name, put

MAX_DEPTH = 128
CHUNKED = "__msgpack_chunked_array__"
BLOCK = 1 << 26


class Ext(NamedTuple):
    code: int
    start: int
    stop: int


class Span(NamedTuple):
    """A binary string, left where it is."""

    start: int
    stop: int


class Scanner:
    """Reads msgpack out of a buffer without copying binary payloads."""

    def __init__(self, buffer: Any, file: object) -> None:
        self.view = memoryview(buffer)
        self.file = file

    def bad(self, why: str) -> CorruptCheckpointError:
        return CorruptCheckpointError(self.file, f"{why}; the file is truncated or damaged, or is no msgpack")

    def take(self, at: int, count: int) -> int:
        """The end of a field of `count` bytes at `at`."""
        if at + count > len(self.view):
            raise self.bad(f"a field at byte {at} claims {count} bytes but {max(0, len(self.view) - at)} are left")
        return at + count

    def unpack(self, fmt: str, at: int) -> tuple[Any, int]:
        stop = self.take(at, struct.calcsize(fmt))
        return struct.unpack(fmt, self.view[at:stop])[0], stop

    def value(self, at: int, depth: int = 0) -> tuple[Any, int]:
        """The object at `at` and where it ends."""
        if depth > MAX_DEPTH:
            raise self.bad(f"nested more than {MAX_DEPTH} deep at byte {at}")
        tag, at = self.unpack("B", at)
        if tag <= 0x7F:
            return tag, at
        if tag >= 0xE0:
            return tag - 0x100, at
        if tag <= 0x8F:
            return self.map(at, tag & 0x0F, depth)
        if tag <= 0x9F:
            return self.array(at, tag & 0x0F, depth)
        if tag <= 0xBF:
            return self.text(at, tag & 0x1F)
        if tag in _CONSTANTS:
            return _CONSTANTS[tag], at
        if tag in _NUMBERS:
            return self.unpack(_NUMBERS[tag], at)
        if tag in _SIZED:
            kind, fmt = _SIZED[tag]
            count, at = self.unpack(fmt, at) if isinstance(fmt, str) else (fmt, at)
            if kind == "ext":
                code, at = self.unpack("b", at)
                return Ext(code, at, self.take(at, count)), at + count
            if kind == "bin":
                return Span(at, self.take(at, count)), at + count
            if kind == "str":
                return self.text(at, count)
            return self.array(at, count, depth) if kind == "array" else self.map(at, count, depth)
        raise self.bad(f"byte {at - 1} is {tag:#x}, which starts nothing")

    def text(self, at: int, count: int) -> tuple[str, int]:
        stop = self.take(at, count)
        return bytes(self.view[at:stop]).decode("utf-8", "surrogateescape"), stop

    def array(self, at: int, count: int, depth: int) -> tuple[list[Any], int]:
        self.take(at, count)  # every entry needs a byte
        items = []
        for _ in range(count):
            item, at = self.value(at, depth + 1)
            items.append(item)
        return items, at

    def map(self, at: int, count: int, depth: int) -> tuple[dict[str, Any], int]:
        self.take(at, 2 * count)
        items: dict[str, Any] = {}
        for _ in range(count):
            key, at = self.value(at, depth + 1)
            if isinstance(key, Span):
                key = bytes(self.view[key.start : key.stop]).decode("utf-8", "surrogateescape")
            if not isinstance(key, (str, int)):
                raise self.bad(f"a key at byte {at} is of type {type(key).__name__}")
            value, at = self.value(at, depth + 1)
            if str(key) in items:
                raise CorruptCheckpointError(self.file, f"two entries of one dict have the key {str(key)!r}")
            items[str(key)] = value
        return items, at

    def ndarray(self, ext: Ext) -> tuple[tuple[int, ...], np.dtype[Any], int]:
        """Shape, dtype and the byte at which the data of a flax array begins."""
        inner, stop = self.value(ext.start)
        if not (isinstance(inner, list) and len(inner) == 3 and isinstance(inner[2], Span) and stop <= ext.stop):
            raise self.bad(f"the array at byte {ext.start} is not (shape, dtype, bytes)")
        shape, name, data = inner
        if isinstance(name, Span):
            name = bytes(self.view[name.start : name.stop])
        if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
            raise self.bad(f"the array at byte {ext.start} has the shape {str(shape)[:60]}")
        dtype = dtype_from_name(name, self.file)
        size = dtype.itemsize
        for n in shape:  # Python integers: no overflow for absurd shapes
            size *= n
        if size != data.stop - data.start:
            raise self.bad(f"an array of shape {tuple(shape)} and dtype {dtype} has {data.stop - data.start} bytes")
        return tuple(shape), dtype, data.start


_CONSTANTS: dict[int, Any] = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_SIZED: dict[int, tuple[str, str | int]] = {
    0xC4: ("bin", ">B"), 0xC5: ("bin", ">H"), 0xC6: ("bin", ">I"),
    0xC7: ("ext", ">B"), 0xC8: ("ext", ">H"), 0xC9: ("ext", ">I"),
    0xD4: ("ext", 1), 0xD5: ("ext", 2), 0xD6: ("ext", 4), 0xD7: ("ext", 8), 0xD8: ("ext", 16),
    0xD9: ("str", ">B"), 0xDA: ("str", ">H"), 0xDB: ("str", ">I"),
    0xDC: ("array", ">H"), 0xDD: ("array", ">I"), 0xDE: ("map", ">H"), 0xDF: ("map", ">I"),
}  # fmt: skip


def map_file(path: Path) -> Any:
    """The file's bytes, mapped read-only; empty files cannot be mapped."""
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                raise CorruptCheckpointError(path, "is empty; the write never finished")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise CheckpointError(path, f"cannot be read: {error.strerror or error}") from None


def scan(path: Path) -> tuple[Scanner, Any]:
    """The scanner and the object tree of a msgpack file.

    Raises:
        CorruptCheckpointError: truncated, damaged, or with bytes left over. UnsafeCheckpointError: a pickle.
    """
    buffer = map_file(path)
    if buffer[:1] == b"\x80" and len(buffer) > 1 and buffer[1] in (2, 3, 4, 5) and buffer[-1:] == b".":
        raise UnsafeCheckpointError(
            path, "is a pickle, which can run any code when loaded; it is never loaded. Save it as msgpack or Orbax"
        )
    scanner = Scanner(buffer, path)
    tree, stop = scanner.value(0)
    if stop != len(scanner.view):
        raise scanner.bad(f"{len(scanner.view) - stop} bytes are left after the end of the tree")
    return scanner, tree


def flatten(
    scanner: Scanner, tree: Any, *, leaf: Callable[[Key, Any], Leaf | None] | None = None
) -> tuple[dict[Key, Leaf], dict[Key, Any], set[Key]]:
    """Leaves, other values and list prefixes of a scanned tree.

    `leaf` may claim a value first (placeholders of other layouts) by returning a Leaf.
    """
    leaves: dict[Key, Leaf] = {}
    others: dict[Key, Any] = {}
    sequences: set[Key] = set()

    def walk(key: Key, value: Any) -> None:
        if leaf is not None and (found := leaf(key, value)) is not None:
            put(leaves, key, found, scanner.file)
        elif isinstance(value, dict) and CHUNKED in value:
            put(leaves, key, _chunked(scanner, key, value), scanner.file)
        elif isinstance(value, dict) and value:
            for name, child in _named_fields(value).items():
                walk((*key, *check_key([name], scanner.file)), child)
        elif isinstance(value, list) and value:
            sequences.add(key)
            for i, child in enumerate(value):
                walk((*key, str(i)), child)
        elif isinstance(value, Ext):
            put(leaves, key, _ext(scanner, key, value), scanner.file)
        elif isinstance(value, (bool, int, float)):
            put(leaves, key, array_leaf(key, np.asarray(value), str(scanner.file), weak=True), scanner.file)
        elif isinstance(value, Span):
            put(others, key, bytes(scanner.view[value.start : min(value.stop, value.start + 256)]), scanner.file)
        else:
            put(others, key, value, scanner.file)

    walk((), tree)
    return leaves, others, sequences


def _named_fields(value: dict[str, Any]) -> dict[str, Any]:
    """A namedtuple of flax before 0.3.5 as it is now: `{'name': …, 'fields': {'0': 'mu'}, 'values': {'0': …}}`."""
    if value.keys() != {"name", "fields", "values"}:
        return value
    fields, values = value["fields"], value["values"]
    if not (isinstance(fields, dict) and isinstance(values, dict) and isinstance(value["name"], str)):
        return value
    names = list(fields.values())
    if fields.keys() != values.keys() or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        return value
    return {fields[position]: values[position] for position in fields}


def _ext(scanner: Scanner, key: Key, ext: Ext) -> Leaf:
    if ext.code in (1, 3):
        shape, dtype, at = scanner.ndarray(ext)
        array = np.frombuffer(scanner.view, dtype, count=int(np.prod(shape, dtype=np.int64)), offset=at).reshape(shape)
        return Leaf(key, shape, dtype, str(scanner.file), lambda index: lambda: array[index])
    if ext.code == 2:
        pair, _ = scanner.value(ext.start)
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(p, (int, float)) for p in pair):
            return array_leaf(key, np.asarray(complex(*pair)), str(scanner.file), weak=True)
    raise scanner.bad(f"key {'/'.join(key)!r} has an extension of unknown type {ext.code}")


def _chunked(scanner: Scanner, key: Key, value: dict[str, Any]) -> Leaf:
    """Arrays of more than 2**30 bytes, which flax splits into flat pieces."""
    shape_items, chunk_items = value.get("shape"), value.get("chunks")
    if not isinstance(shape_items, dict) or not isinstance(chunk_items, dict) or not chunk_items:
        raise scanner.bad(f"the chunked array {'/'.join(key)!r} lacks its shape or its chunks")
    try:
        shape = tuple(int(shape_items[str(i)]) for i in range(len(shape_items)))
        parts = [_ext(scanner, (*key, str(i)), chunk_items[str(i)]) for i in range(len(chunk_items))]
    except (KeyError, TypeError, AttributeError):
        raise scanner.bad(f"a chunk or a size of the chunked array {'/'.join(key)!r} is missing") from None
    sizes = [int(np.prod(part.shape, dtype=np.int64)) for part in parts]
    if any(n < 0 for n in shape) or sum(sizes) != int(np.prod(shape, dtype=np.int64)):
        raise scanner.bad(f"the chunks of {'/'.join(key)!r} do not add up to its shape {shape}")
    dtype = parts[0].dtype
    if any(part.dtype != dtype for part in parts):
        raise scanner.bad(f"the chunks of {'/'.join(key)!r} differ in dtype")
    flats = [part.read().reshape(-1) for part in parts]  # views into the mapped file
    starts = np.cumsum([0, *sizes])

    def flat(start: int, stop: int) -> Array:
        out = np.empty(stop - start, dtype)
        for begin, piece in zip(starts, flats):
            lo, hi = max(start, int(begin)), min(stop, int(begin) + len(piece))
            if lo < hi:
                out[lo - start : hi - start] = piece[lo - int(begin) : hi - int(begin)]
        return out

    return Leaf(key, shape, dtype, str(scanner.file), lambda index: lambda: read_rows(flat, shape, dtype, index))


def read_rows(flat: Callable[[int, int], Array], shape: tuple[int, ...], dtype: np.dtype[Any], index: Index) -> Array:
    """A block of an array that can only be read as flat ranges, a bounded number of rows at a time."""
    if not shape:
        return flat(0, 1).reshape(())
    row = int(np.prod(shape[1:], dtype=np.int64))
    first, rest = index[0], index[1:]
    out = np.empty([s.stop - s.start for s in index], dtype)
    step = max(1, BLOCK // max(1, row * dtype.itemsize))
    for lo in range(first.start, first.stop, step):
        hi = min(first.stop, lo + step)
        out[lo - first.start : hi - first.start] = flat(lo * row, hi * row).reshape(hi - lo, *shape[1:])[
            (slice(None), *rest)
        ]
    return out
