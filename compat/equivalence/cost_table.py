"""The costs of compiled programs as a table; imports no jax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rows(costs: Mapping[str, Any]) -> list[list[str]]:
    """A table of the costs of several programs: what, Linen, NNX."""
    table = []
    for what, sides in costs.items():
        one, two = sides.get("linen", {}), sides.get("nnx", {})
        if "error" in one or "error" in two:
            table.append([what, one.get("error", "compiled"), two.get("error", "compiled")])
            continue
        table.append([f"{what}: FLOPs", f"{one['flops']:,}", f"{two['flops']:,}"])
        if "peak" in one and "peak" in two:
            table.append([f"{what}: peak memory", _bytes(one["peak"]), _bytes(two["peak"])])
        table.append([f"{what}: collectives", _counts(one["collectives"]), _counts(two["collectives"])])
        for name in sorted({*one["outputs"], *two["outputs"]}):
            if one["outputs"].get(name) != two["outputs"].get(name):
                table.append([f"{what}: sharding of {name}", one["outputs"].get(name, ""), two["outputs"].get(name, "")])
    return table


def _bytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 1 << 20 else f"{size / 1024:.1f} KiB"


def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(found.items())) or "none"


__all__ = ["rows"]
