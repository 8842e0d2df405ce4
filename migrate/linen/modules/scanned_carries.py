"""Cells as before flax 0.7.2, `nn.GRUCell()(state, x)`, in a scanned method: as wide as what the scan carries.

Of `state = jnp.where(resets[:, None], first, carry)` nothing may tell the width. Where the scan hands on the cell's own
carry, that is the width of the carry with which it began: a scan whose carry changed its shape would fail.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...catalog import layers
from ...catalog.layers_recurrent import Cell
from ..values.sites import CallRecord, Site
from ..values.values import Array, Shape


def with_width(run: Any, site: Site, node: ast.Call, known: CallRecord, env: Any) -> CallRecord:
    """The record of a cell's call, with the carry of the scan in place of what the call is given."""
    layer = layers.lookup(site.target) if site.kind == "layer" and "features" not in site.bound else None
    if not isinstance(layer, Cell) or not layer.by_carry or layer.pair or not known.args:
        return known
    method = env.method.node if env.method is not None else None
    if method is None or [lifted.kind for lifted in run.scopes] != ["scan"] or not _is_handed_on(env.source, method, node):
        return known
    carried = Array(Shape.argument(method.args.args[1].arg))
    return dataclasses.replace(known, args=(carried, *known.args[1:]))


def _is_handed_on(source: Any, method: ast.FunctionDef, call: ast.Call) -> bool:
    """`state, y = cell(...)`, and `return state, y` at the end: does the method return the cell's carry as its own?"""
    statement, last = source.parents.get(call), method.body[-1]
    if len(method.args.args) < 2 or not isinstance(last, ast.Return):
        return False
    if statement is last:
        return True
    if not isinstance(statement, ast.Assign) or statement not in method.body or len(statement.targets) != 1:
        return False
    (target,) = statement.targets
    returned = last.value.elts[0] if isinstance(last.value, ast.Tuple) and last.value.elts else None
    if not isinstance(target, ast.Tuple) or not isinstance(returned, ast.Name) or not isinstance(target.elts[0], ast.Name):
        return False
    name = returned.id
    behind = method.body[method.body.index(statement) + 1 :]
    bound = {n.id for s in behind for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    returns = [n for n in ast.walk(method) if isinstance(n, ast.Return)]
    return target.elts[0].id == name and name not in bound and returns == [last]


__all__ = ["with_width"]
