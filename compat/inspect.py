"""What a checkpoint holds, without reading an array: as a tree, a table, or JSON."""

from __future__ import annotations

import json
from typing import Any

from .formats import Checkpoint, Key, Leaf


def describe(checkpoint: Checkpoint) -> dict[str, Any]:
    """Everything known of a checkpoint, as plain data (schema version 1)."""
    return {
        "version": 1,
        "path": str(checkpoint.path),
        "layout": checkpoint.layout,
        "era": checkpoint.era,
        "storage": checkpoint.storage,
        "step": checkpoint.step,
        "steps": checkpoint.steps,
        "item": checkpoint.item,
        "items": checkpoint.items,
        "bytes": checkpoint.nbytes,
        "arrays": [_row(leaf) for _, leaf in sorted(checkpoint.leaves.items(), key=_order)],
        "others": {"/".join(k): _plain(v) for k, v in sorted(checkpoint.others.items())},
        "notes": checkpoint.notes,
    }


def _row(leaf: Leaf) -> dict[str, Any]:
    sharding = leaf.sharding
    return {
        "key": leaf.name,
        "shape": list(leaf.shape),
        "dtype": leaf.dtype.name,
        "bytes": leaf.nbytes,
        "chunks": None if leaf.chunks is None else list(leaf.chunks),
        "prng_key": leaf.key_impl,
        "sharding": None
        if sharding is None
        else {
            "mesh": dict(zip(sharding.axis_names, sharding.mesh_shape)),
            "spec": [list(p) if isinstance(p, tuple) else p for p in sharding.spec],
        },
    }


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _order(entry: tuple[Key, Leaf]) -> tuple[Any, ...]:
    """`layers_10` after `layers_9`."""
    import re

    return tuple(tuple(int(p) if p.isdigit() else p for p in re.split(r"(\d+)", part)) for part in entry[0])


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def _sharding_text(row: dict[str, Any]) -> str:
    sharding = row["sharding"]
    if sharding is None:
        return ""
    spec = ", ".join("None" if p is None else "+".join(p) if isinstance(p, list) else str(p) for p in sharding["spec"])
    mesh = "x".join(str(n) for n in sharding["mesh"].values())
    return f"P({spec}) on {mesh}"


def header(report: dict[str, Any]) -> str:
    lines = [
        f"{report['path']}",
        f"  layout {report['layout']} ({report['era']}), stored as {report['storage']}, "
        f"{len(report['arrays'])} arrays, {size(report['bytes'])}",
    ]
    if report["step"] is not None:
        others = [s for s in report["steps"] if s != report["step"]]
        lines.append(f"  step {report['step']}" + (f"; also {', '.join(map(str, others))}" if others else ""))
    if report["items"]:
        others = [i for i in report["items"] if i != report["item"]]
        lines.append(f"  item {report['item']}" + (f"; also {', '.join(others)}" if others else ""))
    return "\n".join([*lines, *(f"  note: {note}" for note in report["notes"])])


def as_table(report: dict[str, Any]) -> str:
    """One line for each array."""
    rows = [
        (r["key"], "x".join(map(str, r["shape"])) or "scalar", r["dtype"], size(r["bytes"]), _sharding_text(r))
        for r in report["arrays"]
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
    body = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([header(report), *body])


def as_tree(report: dict[str, Any]) -> str:
    """The saved tree, with sizes of its branches."""
    root: dict[str, Any] = {}
    for row in report["arrays"]:
        node = root
        *parents, name = row["key"].split("/")
        for part in parents:
            node = node.setdefault(part, {})
        node[name] = _Row(row)
    lines = [header(report)]

    def total(node: Any) -> int:
        return int(node.row["bytes"]) if isinstance(node, _Row) else sum(total(child) for child in node.values())

    def walk(node: dict[str, Any], indent: str) -> None:
        for i, (name, child) in enumerate(node.items()):
            last = i == len(node) - 1
            stem = f"{indent}{'└─' if last else '├─'} {name}"
            if isinstance(child, _Row):
                row = child.row
                shape = "x".join(map(str, row["shape"])) or "scalar"
                lines.append(f"{stem}  {row['dtype']} {shape}  {_sharding_text(row)}".rstrip())
            else:
                lines.append(f"{stem}  ({size(total(child))})")
                walk(child, indent + ("   " if last else "│  "))

    walk(root, "")
    return "\n".join(lines)


class _Row:
    """Tells an array from a branch of the same tree."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row


def as_json(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=2)
