"""Lists of `setup` of which the class calls some items only: Linen makes no variables for the others.

self.layers = [nn.Dense(8) for _ in range(self.depth)]
...
for layer in self.layers[:2]:
  x = layer(x)
"""

from __future__ import annotations

import ast
from typing import Any

from ..trees import subtree
from .classes import Method
from .sites import Repeated, Site, Unmigratable


def check(run: Any) -> None:
    """Refuse lists whose every use leaves out items that no other use names."""
    setup: Method | None = run.model.method("setup")
    for name, bound in run.attributes.items():
        listed = bound.value
        if setup is None or not isinstance(listed, Repeated) or listed.part:
            continue
        made: list[Site] = [s for s in run.modules_in(listed) if s.in_setup and len(s.loops) == 1 and s.call is not None]
        parts = _parts(run, name, setup) if any(s.target != "flax.linen.Dropout" for s in made) else None
        count = listed.count.value if listed.count is not None else None
        if parts and not (_covered(parts) if count is None else _covered_of(parts, count)):
            said = " and ".join(sorted(f"`{name}[{part}]`" for part in parts))
            reason = f"of a list {said} alone is called, and Linen makes no variables for the other items"
            raise Unmigratable("NNX157", reason, made[0].node)


def _parts(run: Any, name: str, setup: Method) -> set[str] | None:
    """The indices and slices by which methods name items of a list; None where they use it in any other way."""
    found: set[str] = set()
    for method in run.model.methods().values():
        if method.node is setup.node:
            continue
        nodes = list(subtree(method.node))
        picked = {n.value: n.slice for n in nodes if isinstance(n, ast.Subscript)}
        for node in nodes:
            if not (isinstance(node, ast.Attribute) and node.attr == name):
                continue
            part = picked.get(node)
            if part is None or not _is_constant(part):
                return None
            found.add(ast.unparse(part))
    return found


def _is_constant(part: ast.expr) -> bool:
    return all(isinstance(n, ast.Constant | ast.UnaryOp | ast.USub | ast.Slice) for n in subtree(part))


def _covered_of(parts: set[str], count: int) -> bool:
    """Do they come to all of so many items together?"""
    items = list(range(count))
    found: set[int] = set()
    for part in parts:
        bounds = [ast.literal_eval(bound) if bound else None for bound in part.split(":")]
        if len(bounds) > 1:
            found.update(items[slice(*bounds)])
        elif bounds[0] is not None and -count <= bounds[0] < count:
            found.add(items[bounds[0]])
    return len(found) == count


def _covered(parts: set[str]) -> bool:
    """Are there uses that may come to all items together, for some number of items?"""
    starts = {p.rstrip(":") for p in parts if p.endswith(":") and p != ":"}
    ends = {p.lstrip(":") for p in parts if p.startswith(":") and p != ":"}
    if ":" in parts or "::-1" in parts or any(p.count(":") == 2 for p in parts) or starts & ends:
        return True
    numbers = {p for p in parts if ":" not in p}
    if (ends and "-1" in numbers) or (starts and "0" in numbers) or (starts and ends):
        return True
    return not starts and not ends and len(numbers) > 1
