"""Modules of one list that a flag of the call decides about together: it makes all of them, or none.

for width in self.widths:
  if attend and x.shape[1] in self.heights:
    x = x + nn.Dense(width)(x)

Without `attend` no call takes any of them, and with it each is numbered as the sizes say.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...linen.execution.execute import Execution
from ...linen.values.sites import Site
from ...trees import subtree

Question = tuple[str, bool | None]


def made_together(run: Execution, sites: Sequence[Site]) -> bool:
    """Do these places ask the same flags of the call, which stay what they are while the method runs?

    Those that are always made may come before the others.
    """
    asked = {site: _questions(run, site) for site in sites}
    always = [site for site in sites if asked[site] == frozenset()]
    others = [site for site in sites if site not in always]
    if not others or any(asked[site] is None or asked[site] != asked[others[0]] for site in others):
        return False
    first = min(site.origin for site in others)
    loops = {id(loop.node) for site in others for loop in site.loops}
    return all(s.origin < first and not any(id(loop.node) in loops for loop in s.loops) for s in always)


def _questions(run: Execution, site: Site) -> frozenset[Question] | None:
    """What a place asks of the call, and the answers; None where these may change during the call."""
    method = run.model.method(site.method)
    if method is None or site.through or site.source is not method.source:
        return None
    steady = {p.arg for p in method.parameters} - _bound_again(method.node)
    sides = site.renders.get("sides", {})
    found: set[Question] = set()
    for node, of_the_call in site.conditions:
        if not of_the_call:
            continue
        parts = run.analyser.split.get(node, [node.test] if isinstance(node, ast.If | ast.IfExp) else [])
        if not parts or not all(isinstance(n, ast.Name) and n.id in steady for part in parts for n in _leaves(part)):
            return None
        # Of `a and b` that does not hold, either may be what fails.
        alone = len(parts) == 1 or (isinstance(node, ast.If) and _decided(node, sides.get(node)))
        texts = [ast.unparse(part) for part in parts] if alone else [ast.unparse(node.test)]  # type: ignore[attr-defined]
        found |= {(text, sides.get(node)) for text in texts}
    return frozenset(found)


def _decided(node: ast.If, holds: bool | None) -> bool:
    """Do all parts of `and` hold, or none of `or`?"""
    return isinstance(node.test, ast.BoolOp) and holds is isinstance(node.test.op, ast.And)


def _leaves(part: ast.expr) -> list[ast.expr]:
    """What a question is made of, other than constants."""
    if isinstance(part, ast.BoolOp):
        return [leaf for value in part.values for leaf in _leaves(value)]
    if isinstance(part, ast.UnaryOp):
        return _leaves(part.operand)
    if isinstance(part, ast.Compare):
        return [leaf for value in (part.left, *part.comparators) for leaf in _leaves(value)]
    return [] if isinstance(part, ast.Constant) else [part]


def _bound_again(function: ast.AST) -> set[str]:
    """The names that a function, or one within it, binds, besides its own parameters."""
    own = {id(a) for a in ast.walk(getattr(function, "args", function)) if isinstance(a, ast.arg)}
    names = {n.id for n in subtree(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return names | {n.arg for n in subtree(function) if isinstance(n, ast.arg) and id(n) not in own}


__all__ = ["made_together"]
