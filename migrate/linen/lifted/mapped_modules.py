"""Modules given to `jax.vmap` or `jax.grad` as they are: `jax.vmap(self.encoder, 1, 1)(x)`.

The text stays, so each module that is called there must be called alike in NNX, and do no more than compute: one trace
stands for all members, and what a module draws or updates cannot be changed from within.
"""

from __future__ import annotations

import ast
from typing import Any

from ...catalog import layers
from ...trees import subtree
from ..values.arguments import parameters_of
from ..values.localize import BUILTINS
from ..values.sites import Function, Module, Site, Unmigratable
from ..values.values import Global, Tup, Value

_SEQUENTIAL = "flax.linen.Sequential"
# Of one array alone their calls are written as they were.
_NORMS = frozenset(f"flax.linen.{name}" for name in ("LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm"))


def check(run: Any, value: Value, node: ast.Call) -> None:
    """Refuse modules that may do more than compute; whether a class of the project does, its plan says later on."""
    for site in (kind for made in run.modules_in(value) for kind in (made, *made.alternatives)):
        site.renders["mapped"] = tuple(dict.fromkeys((*site.renders.get("mapped", ()), node)))
        if site.lifted or not (site.kind == "class" or computes(run, site, node)):
            given = f"a module is given to `{ast.unparse(node.func)}` as it is"
            raise Unmigratable("NNX134", f"{given}; call it in a function", node)


def computes(run: Any, site: Site, node: ast.Call) -> bool:
    """Does the call of a layer do no more than compute, and is it written as it was?"""
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    if site.target == _SEQUENTIAL:
        held = site.bound.get("layers")
        items = held.abs.value if held is not None else None
        return isinstance(items, Tup) and all(_item_computes(run, item, node) for item in items.items)
    if layer is None or layer.wrapper or layer.collections - {"params"} or layer.streams:
        return False
    return type(layer).call is layers.Layer.call or site.target in _NORMS


def _item_computes(run: Any, item: Value, node: ast.Call) -> bool:
    """Of an item of a Sequential: a module, a function of a library, or one that reads nothing of the module."""
    if isinstance(item, Module):
        check(run, item, node)
        return True
    if isinstance(item, Function):
        own = {*parameters_of(item.node), *BUILTINS}
        names = [n for n in subtree(item.node) if isinstance(n, ast.Name) and n.id not in own]
        return item.method is None and all(run.project.qualname(item.source, name) is not None for name in names)
    return isinstance(item, Global)


__all__ = ["check", "computes"]
