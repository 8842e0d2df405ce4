"""Which assignments of a local name a use of it can see: `cls = partial(Net)`, then `cls = partial(Ensemble, net=cls)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...source import SourceFile
from ...trees import subtree

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_Binder = ast.Assign | ast.AnnAssign | ast.NamedExpr
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def reaching(source: SourceFile, use: ast.Name, scope: ast.AST, binders: Sequence[_Binder]) -> tuple[list[_Binder], bool]:
    """Of the assignments of a name in a function those whose value a use may have, and whether the caller's may be left.

    An assignment in a block that the use stands in, before it, hides all that come before. Where another function is
    between, as the code of a closure, nothing is said of the order.
    """
    around = list(_until(source, use, scope))
    inner = [p for binder in binders for p in _until(source, binder, scope)]
    if any(isinstance(p, _FUNCTIONS) for p in (*around, *inner)):
        return list(binders), True
    own = next((p for p in around if p in binders), None)
    repeated = False
    for child in around:
        repeated |= isinstance(child, _LOOPS)
        before = _before(source.parents[child], child)
        hiding = [s for s in before if s in binders and isinstance(s, ast.Assign | ast.AnnAssign)]
        if hiding:
            within = set(subtree(child))
            later = before[before.index(hiding[-1]) :]
            within.update(n for statement in later for n in subtree(statement))
            return [b for b in binders if b in within and (b is not own or repeated)], False
    seen = [b for b in binders if b is not own or repeated]  # its own value is not there yet
    if not any(isinstance(p, _LOOPS) for p in around):
        place = (use.lineno, use.col_offset)
        seen = [b for b in seen if (b.lineno, b.col_offset) < place]
    return seen, True


def _until(source: SourceFile, node: ast.AST, scope: ast.AST) -> Iterator[ast.AST]:
    for parent in source.ancestors(node):
        if parent is scope:
            return
        yield parent


def _before(parent: ast.AST, child: ast.AST) -> list[ast.stmt]:
    """The statements in front of one in its block."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and child in block:
            return list(block[: block.index(child)])
    return []


__all__ = ["reaching"]
