"""How far reads run ahead of the copies onto devices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from nnx_migrate.compat.formats.base import Array, Index, Leaf
from nnx_migrate.compat.load import load
from nnx_migrate.compat.target import Slot

BYTES = 4 * 1024


class Source:
    """Leaves of 4 KiB each; `most` is how many of them were on their way at once."""

    def __init__(self) -> None:
        self.flying = self.most = 0

    def leaf(self, number: int) -> Leaf:
        def start(index: Index) -> Callable[[], Array]:
            self.flying += 1
            self.most = max(self.most, self.flying)

            def wait() -> Array:
                self.flying -= 1
                return np.full((1024,), number, np.float32)[index]

            return wait

        return Leaf((f"{number}",), (1024,), np.dtype(np.float32), "file", start)


def _load(count: int, budget: int, most: int) -> int:
    source = Source()
    slots = [Slot((n,), (), (n,), "params", (), None, (1024,), np.dtype(np.float32)) for n in range(count)]
    values = load(
        ((slot, source.leaf(n), np.dtype(np.float32), None) for n, slot in enumerate(slots)), budget=budget, most=most
    )
    assert [float(values[(n,)][0]) for n in range(count)] == list(range(count))
    return source.most


@pytest.mark.parametrize(
    "budget, most, cores, expected",
    [
        (3 * BYTES, 0, 1, 3),  # one core is busy with the first: the budget holds
        (3 * BYTES, 100 * BYTES, 2, 3),
        (3 * BYTES, 100 * BYTES, 8, 8),  # every core has a block to decode
        (3 * BYTES, 5 * BYTES, 8, 5),  # but for what memory allows
        (3 * BYTES, 2 * BYTES, 8, 3),  # a machine of little memory still has the budget
        (BYTES // 2, 0, 8, 1),  # a leaf larger than all of that goes alone
        (100 * BYTES, 0, 2, 20),
    ],
)
def test_reads_run_ahead_as_far_as_cores_and_memory_allow(
    monkeypatch: pytest.MonkeyPatch, budget: int, most: int, cores: int, expected: int
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert _load(20, budget, most) == expected


def test_the_memory_of_a_container_is_what_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = sys.modules[load.__module__]
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(module, "_CGROUP_LIMIT", limit)
    machine = module._memory()
    assert machine > 1 << 28
    limit.write_text("max\n")
    assert module._memory() == machine
    limit.write_text("268435456\n")
    assert module._memory() == 268435456
