"""Modules that one pass of a loop makes for the others: `layer = layer or nn.Dense(4)`.

The constructor's loop makes one in every pass, as it does not know what the call's names held in the pass before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linen.values.sites import Site, Unmigratable
from ...trees import subtree


def refuse(site: Site) -> None:
    """A module is made, or not, by what the name that keeps it holds from an earlier pass."""
    if site.kind not in ("layer", "class") or site.in_setup:
        return
    tests, kept = _kept(site)
    for above in site.source.ancestors(site.node):
        if isinstance(above, ast.FunctionDef | ast.Lambda):
            return
        if isinstance(above, ast.If):
            tests.append(above.test)
        if isinstance(above, ast.For):
            for test in tests:
                for name in (n for n in subtree(test) if isinstance(n, ast.Name)):
                    if name.id in kept and not _is_fresh(site, above, name):
                        reason = f"a pass of a loop makes `{name.id}` for the passes after it: `{ast.unparse(test)}`"
                        raise Unmigratable("NNX122", reason, site.node)


def _kept(site: Site) -> tuple[list[ast.expr], set[str]]:
    """The conditions within the statement that makes a module, and the names that it gives it."""
    tests: list[ast.expr] = []
    part: ast.AST = site.node
    held = site.source.parents.get(part)
    while isinstance(held, ast.IfExp | ast.BoolOp | ast.NamedExpr | ast.Tuple | ast.List):
        if isinstance(held, ast.IfExp):
            tests.append(held.test)
        elif isinstance(held, ast.BoolOp):
            tests += [value for value in held.values if value is not part]
        elif isinstance(held, ast.NamedExpr):
            return tests, {held.target.id}
        part, held = held, site.source.parents.get(held)
    if isinstance(held, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return tests, set(_names(held))
    if isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute) and isinstance(held.func.value, ast.Name):
        return tests, {held.func.value.id}  # `layers.append(nn.Dense(4))`
    return tests, set()


def _names(statement: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterator[str]:
    """What it stores in: `layers` of `layers[i] = nn.Dense(4)`, too."""
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            while isinstance(part, ast.Subscript | ast.Attribute | ast.Starred):
                part = part.value
            if isinstance(part, ast.Name):
                yield part.id


def _is_fresh(site: Site, loop: ast.For, name: ast.Name) -> bool:
    """Does every pass give the name a value of its own before it asks?"""
    around = set(site.source.ancestors(name))
    for statement in loop.body:
        if statement in around:
            return False
        if isinstance(statement, ast.Assign | ast.AnnAssign) and name.id in _names(statement):
            return True
    return False


__all__ = ["refuse"]
