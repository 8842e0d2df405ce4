"""Names that a pass of a loop may have from an earlier one: a condition gives them a value on some of its paths only.

for i in range(self.depth):
    if i == 0:
        block = Wide
    elif i == 2:
        block = Narrow
    x = block(8)(x)         # the second pass has the first one's
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...source import SourceFile
from ...trees import subtree

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def may_be(source: SourceFile, node: ast.If, name: str) -> bool:
    """May a name hold, behind a condition, what an earlier pass of the loop around it has left?"""
    loop = next((a for a in source.ancestors(node) if isinstance(a, (*_LOOPS, ast.FunctionDef, ast.Lambda))), None)
    if not isinstance(loop, _LOOPS) or _binds([node], name):
        return False
    before = []
    for statement in loop.body:
        if statement is node or node in subtree(statement):
            break
        before.append(statement)
    return not _binds(before, name)


def _binds(statements: Sequence[ast.stmt], name: str) -> bool:
    """Do statements give a name a value on each of their paths, or leave by an error?"""
    for statement in statements:
        if isinstance(statement, ast.Raise):
            return True
        if isinstance(statement, ast.If):
            if statement.orelse and _binds(statement.body, name) and _binds(statement.orelse, name):
                return True
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom | ast.With):
            if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in subtree(statement)):
                return True
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name:
            return True
    return False


__all__ = ["may_be"]
