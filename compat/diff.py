"""Two checkpoints compared: keys, shapes, dtypes, and values by streaming; across formats and across Linen and NNX."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .formats import Checkpoint, Index, Key, Leaf
from .keys import form, unbox_key

BLOCK = 1 << 25


@dataclasses.dataclass
class Difference:
    """One finding. `kind`: only_a, only_b, shape, dtype, value."""

    kind: str
    key: str
    message: str


@dataclasses.dataclass
class DiffResult:
    """`compared` arrays were found on both sides; the checkpoints are equal if there are no differences."""

    compared: int
    differences: list[Difference]

    @property
    def equal(self) -> bool:
        return not self.differences


_COLLECTIONS = ("batch_stats", "cache", "intermediates")


def _forms(keys: Iterable[Key], whole: Iterable[Key], any_collection: bool) -> dict[str, list[Key]]:
    """Keys by their form without boxes and without the levels in which Linen and NNX differ; names of modules stay."""
    table: dict[str, list[Key]] = defaultdict(list)
    bare = {key: unbox_key(key) for key in whole}
    # A state of NNX has no collections: its parts are `model` and `optimizer`, or the model's own names.
    linen = {"params", "opt_state"} & {k[0] for k in bare.values()}
    doubled = all(k[:2] == ("params", "params") for k in bare.values() if k[0] == "params")  # params held {'params': ...}
    for key in keys:
        parts = bare[key]
        if not linen:
            parts = parts[1:] if len(parts) > 1 and parts[0] in ("model", "optimizer") else parts
        elif parts[0] == "params" and len(parts) > 1:
            parts = parts[2:] if doubled else parts[1:]
        elif parts[0] != "opt_state" and len(parts) > 1 and (any_collection or parts[0] in _COLLECTIONS):
            parts = parts[1:]
        table[f"opt:{form(parts[1:])}" if parts[0] == "opt_state" else form(parts)].append(key)
    return table


def diff(
    a: Checkpoint,
    b: Checkpoint,
    *,
    values: bool = True,
    atol: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> DiffResult:
    """Compares two opened checkpoints.

    Keys are paired exactly where they are equal, else by their form, so that `params/Block_0/kernel/value` of a Linen
    checkpoint meets `model/Block/0/kernel/value` of an NNX one.

    Args:
        values: also reads the arrays, a block at a time.
        atol: absolute tolerance; 0 demands equal bits (NaN equals NaN).
    """
    pairs, only_a, only_b = _pairs(a, b)
    found = [Difference("only_a", k, f"only in {a.path}") for k in only_a]
    found += [Difference("only_b", k, f"only in {b.path}") for k in only_b]
    total = sum(x.nbytes for x, _ in pairs) if values else 0
    done = 0
    for left, right in pairs:
        name = left.name if left.name == right.name else f"{left.name} = {right.name}"
        if left.shape != right.shape:
            found.append(Difference("shape", name, f"{left.shape} against {right.shape}"))
        else:
            counters = not left.shape and left.dtype.kind in "iu" and right.dtype.kind in "iu"
            if left.dtype != right.dtype and not (left.weak or right.weak or counters):
                found.append(Difference("dtype", name, f"{left.dtype} against {right.dtype}"))
            if values:
                text = _values(left, right, atol)
                if text:
                    found.append(Difference("value", name, text))
        done += left.nbytes
        if progress is not None and total:
            progress(done, total)
    return DiffResult(len(pairs), found)


def _pairs(a: Checkpoint, b: Checkpoint) -> tuple[list[tuple[Leaf, Leaf]], list[str], list[str]]:
    pairs = []
    left, right = dict(a.leaves), dict(b.leaves)
    for key in list(left):
        if key in right:
            pairs.append((left.pop(key), right.pop(key)))
    for any_collection in (False, True):  # the known ones first: `ema_params/w` must not take the place of `params/w`
        forms = _forms(left, a.leaves, any_collection), _forms(right, b.leaves, any_collection)
        for text, mine in forms[0].items():
            theirs = forms[1].get(text, [])
            if len(mine) == len(theirs) == 1:
                pairs.append((left.pop(mine[0]), right.pop(theirs[0])))
    pairs.sort(key=lambda pair: pair[0].key)
    return pairs, sorted(leaf.name for leaf in left.values()), sorted(leaf.name for leaf in right.values())


def _values(left: Leaf, right: Leaf, atol: float) -> str | None:
    """What differs in the values, None if nothing does."""
    count = 0
    worst, where = 0.0, None
    for index in blocks(left.shape, max(left.dtype.itemsize, right.dtype.itemsize)):
        x, y = np.asarray(left.read(index)), np.asarray(right.read(index))
        unequal = _unequal(x, y, atol)
        if not unequal.any():
            continue
        count += int(unequal.sum())
        wide = _wide(x, y)
        distance = np.where(unequal, np.abs(np.subtract(*wide)), 0)
        distance = np.nan_to_num(distance, nan=np.inf)
        flat = int(np.argmax(distance))
        if where is None or distance.reshape(-1)[flat] > worst:
            worst = float(distance.reshape(-1)[flat])
            offset = np.unravel_index(flat, distance.shape) if distance.shape else ()
            where = tuple(int(s.start + o) for s, o in zip(index, offset))
    if where is None:
        return None
    return f"{count} of {int(np.prod(left.shape, dtype=np.int64))} values differ, by up to {worst:.3g} at {where}"


def _wide(x: Any, y: Any) -> tuple[Any, Any]:
    kind = np.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else np.float64
    return x.astype(kind), y.astype(kind)


def _unequal(x: Any, y: Any, atol: float) -> Any:
    wide = _wide(x, y)
    same = (wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1]))
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        same = x == y  # 64-bit integers do not fit into a float
    return ~same & ~(np.abs(wide[0] - wide[1]) <= atol) if atol else ~same


def blocks(shape: tuple[int, ...], itemsize: int) -> Iterator[Index]:
    """Blocks of bounded size that cover an array, along its first dimensions."""
    if not shape:
        yield ()
        return
    row = itemsize * int(np.prod(shape[1:], dtype=np.int64))
    if row > BLOCK:
        for i in range(shape[0]):
            for rest in blocks(shape[1:], itemsize):
                yield (slice(i, i + 1), *rest)
        return
    step = max(1, BLOCK // max(1, row))
    for i in range(0, shape[0], step):
        yield (slice(i, min(shape[0], i + step)), *(slice(0, n) for n in shape[1:]))
