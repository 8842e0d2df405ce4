"""Modules and parameters that a flag of the call decides about: the constructor makes them whatever the flag will be.

Linen makes them at the first call in which the flag asks for them, so what `init` made without it has no values for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...trees import subtree
from ..execution.early_returns import LEFT_EARLY
from ..values.sites import Site


def made_under_flags(run: Any) -> Iterator[tuple[Site, str]]:
    """Each place that the method's own defaults leave out, or say nothing of, and the calls in which Linen makes it."""
    for site in run.sites:
        method = run.model.method(site.method)
        if site.in_setup or site.lazy or site.through or site.kind == "rng" or method is None:
            continue
        defaults = {p.arg: method.default(p.arg) for p in method.parameters}
        for node, of_the_call in site.conditions:
            if of_the_call and isinstance(node, ast.If) and site.source is method.source:
                made = _truth(node.test, defaults)
                inside = any(n is site.node for s in node.body for n in subtree(s))
                if made is None or made is not inside:
                    yield site, f"in which `{ast.unparse(node.test)}` asks for it"
                    break
        else:
            for way in site.renders.get(LEFT_EARLY, ()) if site.source is method.source else ():
                asked = [(test, holds) for branch, test, holds in way if branch.test is None and not branch.text]
                if all(_truth(test, defaults) in (None, holds) for test, holds in asked):
                    yield site, f"that does not return before it (`{ast.unparse(asked[0][0])}`)"
                    break


def _truth(test: ast.expr, defaults: Mapping[str, ast.expr | None]) -> bool | None:
    """Whether a condition holds where all flags are left at their defaults; None where that is not seen."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand, defaults)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_truth(value, defaults) for value in test.values]
        deciding = isinstance(test.op, ast.Or)
        return deciding if deciding in parts else None if None in parts else not deciding
    if isinstance(test, ast.Name):
        default = defaults.get(test.id)
        return bool(default.value) if isinstance(default, ast.Constant) else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.NotEq):
        left = defaults.get(test.left.id) if isinstance(test.left, ast.Name) else None
        right = test.comparators[0]
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return (left.value == right.value) is isinstance(test.ops[0], ast.Eq)
    return None
