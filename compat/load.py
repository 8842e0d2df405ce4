"""Blocks of leaves onto devices: every process reads the shards that it owns and nothing else.

Reads run ahead of the copies, bounded in bytes, so that neither the disk nor the devices wait and host memory stays
flat. One core decodes one stored chunk: where a leaf is large, the bound grows until there is one for every core.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .errors import MismatchError
from .formats.base import Array, Index, Leaf, normal_index
from .target import Slot, is_typed_key, key_impl

IN_FLIGHT = 1 << 29  # bytes, whatever the machine
_SHARE = 16  # of the machine's memory, that more than IN_FLIGHT may take
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def load(
    work: Iterable[tuple[Slot, Leaf, Any, Any]],
    *,
    budget: int = IN_FLIGHT,
    most: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[tuple[Any, ...], Any]:
    """Reads leaves into jax arrays.

    Args:
        work: (slot, leaf, dtype of the result, sharding or None for the default device).
        budget: bytes that may be on their way at once; a single leaf may exceed it.
        most: bytes that may be on their way while there are fewer blocks than cores; None: a 16th of the memory.
        progress: is told the bytes of every finished leaf.

    Returns:
        Arrays by slot path.
    """
    done: dict[tuple[Any, ...], Any] = {}
    waiting: deque[_Pending] = deque()
    flying = 0
    most = max(budget, _memory() // _SHARE if most is None else most)
    cores = os.cpu_count() or 1
    for slot, leaf, dtype, sharding in work:
        pending = _Pending(slot, leaf, dtype, sharding)
        while waiting and flying + pending.nbytes > (budget if sum(len(p.waits) for p in waiting) >= cores else most):
            flying -= waiting[0].nbytes
            _finish(waiting.popleft(), done, progress)
        pending.begin()
        flying += pending.nbytes
        waiting.append(pending)
    while waiting:
        _finish(waiting.popleft(), done, progress)
    return done


def _memory() -> int:
    """Bytes of memory that this machine, or this container, has; 0 where that is not known."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on this system
        return 0
    try:
        return min(physical, int(_CGROUP_LIMIT.read_text()))
    except (OSError, ValueError):  # no cgroup, or "max"
        return physical


def _finish(pending: _Pending, done: dict[tuple[Any, ...], Any], progress: Callable[[int], None] | None) -> None:
    done[pending.slot.path] = pending.finish()
    if progress is not None:
        progress(pending.nbytes)


def begin_read(leaf: Leaf, index: Index) -> Callable[[], Array]:
    """Every block that this process reads passes through here."""
    return leaf.start(index)


class _Pending:
    """One leaf on its way."""

    def __init__(self, slot: Slot, leaf: Leaf, dtype: Any, sharding: Any) -> None:
        self.slot, self.leaf, self.dtype, self.sharding = slot, leaf, dtype, sharding
        # Typed PRNG keys are stored as their data, which has one more dimension.
        self.typed = is_typed_key(slot.dtype)
        self.shape = leaf.shape
        self.blocks: dict[tuple[tuple[int, int], ...], list[Any]] = {}  # slices do not hash
        if sharding is None:
            self.blocks[tuple((0, n) for n in self.shape)] = []
        else:
            for device, index in sharding.addressable_devices_indices_map(self.shape).items():
                bounds = tuple((s.start, s.stop) for s in normal_index(index, self.shape))
                self.blocks.setdefault(bounds, []).append(device)
        self.nbytes = sum(int(np.prod([b - a for a, b in i], dtype=np.int64)) for i in self.blocks) * leaf.dtype.itemsize
        self.waits: list[tuple[Callable[[], Array], list[Any]]] = []

    def begin(self) -> None:
        self.waits = [
            (begin_read(self.leaf, tuple(slice(*b) for b in bounds)), devices) for bounds, devices in self.blocks.items()
        ]

    def finish(self) -> Any:
        import jax
        import jax.numpy as jnp

        if self.sharding is None:
            block = self.convert(self.waits[0][0]())
            return self.key(jnp.asarray(block)) if self.typed else jnp.asarray(block)
        pieces = []
        while self.waits:
            wait, devices = self.waits.pop(0)
            block = self.convert(wait())
            pieces += [jax.device_put(block, device) for device in devices]
        whole = jax.make_array_from_single_device_arrays(self.shape, self.sharding, pieces)
        # Compiled, as no process can put an array onto the devices of another.
        return jax.jit(self.key, out_shardings=self.sharding)(whole) if self.typed else whole

    def key(self, data: Any) -> Any:
        """Typed keys of their data."""
        import jax

        return jax.random.wrap_key_data(data, impl=key_impl(self.slot.dtype))

    def convert(self, block: Array) -> Array:
        """The block in the dtype of its target; integers only where the value survives."""
        block = np.asarray(block)
        if self.typed:
            return block.astype(np.uint32, copy=False)
        if block.dtype == self.dtype:
            return block
        with np.errstate(over="ignore"):
            new = block.astype(self.dtype)
        exact = np.issubdtype(self.dtype, np.integer) or self.dtype == np.bool_
        if exact and not np.array_equal(new.astype(np.float64), block.astype(np.float64)):
            raise MismatchError(
                "a value does not survive the change of dtype:",
                [f"{self.slot.name}: {self.leaf.name} is {block.dtype} {block!s:.40}, not to be held by {self.dtype}"],
            )
        return new
