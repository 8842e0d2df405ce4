"""Lists, dicts and arrays that a layer which is made later reads, and that change before it is made.

    self.head = linen_parity.Later(lambda rngs, inputs, *, sizes=sizes: nnx.Linear(inputs.shape[-1], sizes[0], rngs=rngs))
    sizes[0] = 8      # the call on shapes makes the layer when all is said

A name that is bound again does no harm: the function holds what it stood for.
"""

from __future__ import annotations

import ast
from collections.abc import Set

from ...linen.execution.aliases import with_others
from ...linen.values.mutation import changed_names
from ...linen.values.sites import Site, Unmigratable
from ...trees import subtree


def refuse(site: Site, names: Set[str]) -> None:
    """Raises NNX110 where what one of the names holds changes behind the place of the layer."""
    function = site.source.function_of(site.node)
    if function is None or not names:
        return
    loops = [n for n in site.source.ancestors(site.node) if isinstance(n, ast.For | ast.While)]
    for statement in (n for n in subtree(function) if isinstance(n, ast.stmt)):
        changed = changed_names(statement) | _grown(site, statement)
        again = any(loop in site.source.ancestors(statement) for loop in loops)
        if changed and (again or statement.lineno > (site.node.end_lineno or site.node.lineno)):
            found = names & with_others([function], changed)
            if found:
                what = f"`{min(found)}` changes after `{ast.unparse(site.node)}`, whose input size is not known there"
                raise Unmigratable("NNX110", what, site.node)


def _grown(site: Site, statement: ast.stmt) -> frozenset[str]:
    """`sizes += 1` of what the layer takes an item of, or asks for something: a list or an array, which stays the same."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
        return frozenset()
    name = statement.target.id
    parts = (n.value for n in subtree(site.node) if isinstance(n, ast.Subscript | ast.Attribute))
    return frozenset({name} if any(isinstance(n, ast.Name) and n.id == name for n in parts) else ())


__all__ = ["refuse"]
