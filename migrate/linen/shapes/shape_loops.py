"""Loops over the dimensions of an input: `for i in range(x.ndim)`, `for size in x.shape[1:]`.

The constructor goes through them as well, where the loop makes something or fills a list that the constructor has. Loops
that only compute (the steps of a sequence) stay the call's: the constructor would ask for the size of a batch.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from ..values.mutation import changed_names
from ..values.sites import Abs, Localized
from ..values.values import Array


def fills_lists(node: ast.AST, env: Any) -> bool:
    """Does a loop change a list or number that the constructor has, too?"""
    statements = [s for s in subtree(node) if isinstance(s, ast.stmt)] if isinstance(node, ast.For) else []
    added = {s.target.id for s in statements if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)}
    return any(env.is_local(name) for name in added.union(*[changed_names(s) for s in statements]))


def shape_iterator(run: Any, node: ast.expr, iterated: Abs, env: Any) -> Localized | None:
    """What the constructor goes through, too; None for arrays and modules, and for what the call decides."""
    if run.in_setup or iterated.flags or isinstance(iterated.value, Array):
        return None
    if any(run.holds_module(run.evaluated[n].value) for n in subtree(node) if n in run.evaluated):
        return None  # `range(len(self.layers) - 1)`: what the constructor makes there follows the list
    said: Localized | None = run.localize(node, env)
    return said


__all__ = ["fills_lists", "shape_iterator"]
