"""Functions in a method that are handed to something, and whether that calls them at once.

`jax.vmap(f)(x)` does; an object that keeps a function, `Policy(f)`, or who gets it as the result, calls it when the class
has been called already: Linen has no variables of such a call either, unless `init` comes to another one.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution

_PARTIAL = frozenset({"functools.partial", "jax.tree_util.Partial"})
_OF_LIBRARIES = ("jax.", "flax.", "numpy.", "einops.", "optax.", "functools.", "itertools.", "builtins.")


def is_called(run: Execution, source: SourceFile, function: ast.FunctionDef | ast.Lambda, method: ast.AST) -> bool:
    """Is a function called while the method around it is, as far as its uses show?"""
    if function in run.called_by_networks:
        return True
    if isinstance(function, ast.Lambda):
        return _is_used_at_once(run, source, function)
    uses = [n for n in subtree(method) if isinstance(n, ast.Name) and n.id == function.name and isinstance(n.ctx, ast.Load)]
    return any(_is_used_at_once(run, source, use) for use in uses if function not in source.ancestors(use))


def _is_used_at_once(run: Execution, source: SourceFile, use: ast.AST) -> bool:
    parent = source.parents.get(use)
    if isinstance(parent, ast.keyword):
        use, parent = parent, source.parents.get(parent)
    if isinstance(parent, ast.Return):
        return False
    if not isinstance(parent, ast.Call) or parent.func is use:
        return True
    name = run.project.qualname(source, parent.func)
    if name in _PARTIAL:
        return _is_used_at_once(run, source, parent)
    if name is None or name.startswith(_OF_LIBRARIES) or any(call is parent for s in run.sites for call, _, _ in s.calls):
        return True
    found = run.project.definition(name)
    return isinstance(found[1], ast.FunctionDef) if found is not None else "." not in name


__all__ = ["is_called"]
