"""Which statements exclude each other."""

from __future__ import annotations

import ast

from ...trees import subtree


def exclusive(a: ast.AST, b: ast.AST, within: ast.AST) -> bool:
    """Do the two stand in different branches of one `if`, so that one or the other is reached?"""

    def holds(statements: list[ast.stmt], node: ast.AST) -> bool:
        return any(n is node for s in statements for n in subtree(s))

    branches = [n for n in subtree(within) if isinstance(n, ast.If)]
    return any(holds(n.body, x) and holds(n.orelse, y) for n in branches for x, y in ((a, b), (b, a)))
