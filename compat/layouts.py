"""Leaves made of other leaves: concatenated gates, stacked and unstacked layers. Read block by block like any leaf."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import MismatchError
from .formats.base import Array, Index, Leaf

Restacks = Mapping[str, "str | tuple[str, int]"]


def concat(parts: Sequence[Leaf], axis: int) -> Leaf:
    """The parts one after another along `axis`.

    Raises:
        MismatchError: parts whose dtypes or other dimensions differ.
    """
    first = parts[0]
    axis %= max(1, len(first.shape))
    _same(parts, axis)
    edges = np.cumsum([0, *(p.shape[axis] for p in parts)])
    shape = (*first.shape[:axis], int(edges[-1]), *first.shape[axis + 1 :])

    def start(index: Index) -> Callable[[], Array]:
        want = index[axis]
        waits = []
        for part, lo, hi in zip(parts, edges, edges[1:]):
            a, b = max(want.start, int(lo)), min(want.stop, int(hi))
            if a < b:
                waits.append(part.start((*index[:axis], slice(a - int(lo), b - int(lo)), *index[axis + 1 :])))
        return lambda: np.concatenate([wait() for wait in waits], axis=axis)

    return dataclasses.replace(first, shape=shape, start=start, storage=None, chunks=None, sharding=None)


def stack(parts: Sequence[Leaf], axis: int) -> Leaf:
    """The parts as layers along a new dimension `axis`."""
    first = parts[0]
    axis %= len(first.shape) + 1
    _same(parts, None)
    shape = (*first.shape[:axis], len(parts), *first.shape[axis:])

    def start(index: Index) -> Callable[[], Array]:
        inner = (*index[:axis], *index[axis + 1 :])
        waits = [parts[i].start(inner) for i in range(index[axis].start, index[axis].stop)]
        return lambda: np.stack([wait() for wait in waits], axis=axis)

    return dataclasses.replace(first, shape=shape, start=start, storage=None, chunks=None, sharding=None)


def take(leaf: Leaf, axis: int, number: int) -> Leaf:
    """Layer `number` of a stacked leaf."""
    axis %= len(leaf.shape)
    shape = (*leaf.shape[:axis], *leaf.shape[axis + 1 :])

    def start(index: Index) -> Callable[[], Array]:
        wait = leaf.start((*index[:axis], slice(number, number + 1), *index[axis:]))
        return lambda: wait().squeeze(axis)

    return dataclasses.replace(leaf, shape=shape, start=start, storage=None, chunks=None, sharding=None)


def part_of(leaf: Leaf, axis: int, number: int, count: int) -> Leaf:
    """Piece `number` of `count` equal pieces along `axis`: one gate of a packed layer."""
    axis %= len(leaf.shape)
    size = leaf.shape[axis] // count
    shape = (*leaf.shape[:axis], size, *leaf.shape[axis + 1 :])

    def start(index: Index) -> Callable[[], Array]:
        want = index[axis]
        moved = slice(want.start + number * size, want.stop + number * size)
        return leaf.start((*index[:axis], moved, *index[axis + 1 :]))

    return dataclasses.replace(leaf, shape=shape, start=start, storage=None, chunks=None, sharding=None)


def _same(parts: Sequence[Leaf], axis: int | None) -> None:
    def rest(leaf: Leaf) -> tuple[Any, ...]:
        shape = leaf.shape if axis is None else (*leaf.shape[:axis], *leaf.shape[axis + 1 :])
        return (shape, leaf.dtype)

    odd = [p for p in parts if rest(p) != rest(parts[0])]
    if odd:
        raise MismatchError(
            "layers that belong together differ:", [f"{p.name}: {p.shape} {p.dtype}" for p in (parts[0], *odd)]
        )


@dataclasses.dataclass(frozen=True)
class Restack:
    """One stack or unstack rule. `#` stands for the layer number, on the side that has one entry for each layer.

    `Restack.parse({'DotReluDot_#': 'ScanDotReluDot_0'})` reads unrolled layers into a stacked one;
    `{'ScanBlock_0': 'Block/#'}` the other way. A tuple adds the stacked axis: `('ScanBlock_0', 1)`.
    """

    source: str
    target: str
    axis: int = 0

    @classmethod
    def parse(cls, rules: Restacks | None) -> list[Restack]:
        found = []
        for source, value in (rules or {}).items():
            target, axis = value if isinstance(value, tuple) else (value, 0)
            if ("#" in source) == ("#" in target):
                raise MismatchError(
                    "restack= is not valid:",
                    [f"{source!r}: {target!r} needs `#`, the layer number, on exactly one side"],
                )
            found.append(cls(source, target, axis))
        return found

    @property
    def stacks(self) -> bool:
        """From one entry for each layer to one stacked entry."""
        return "#" in self.source

    def find(self, path: Sequence[Any], start: int) -> tuple[int, int | None] | None:
        """Where the target's name ends in `path` if it begins at `start`, and the layer number."""
        pattern = re.escape(self.target).replace(r"\#", r"(\d+)")
        for end in range(start + 1, len(path) + 1):
            text = "/".join(map(str, path[start:end]))
            joined = text.replace("/", "_")
            hit = re.fullmatch(pattern, text) or re.fullmatch(pattern.replace("/", "_"), joined)
            if hit:
                return end, int(hit[1]) if hit.groups() else None
        return None

    def source_path(self, number: int | None) -> tuple[str, ...]:
        return tuple((self.source if number is None else self.source.replace("#", str(number))).split("/"))
