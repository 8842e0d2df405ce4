"""Conditions of which fields alone decide for a module, as those within them say what these fields are.

    if self.kind == "dot" or (self.kind == "auto" and mode == "decode"):
        return x
    if self.kind == "deep":
        return Deep()(x)

Whatever `mode` is: where `Deep` is made, `self.kind` is "deep", and the first condition does not hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...trees import subtree
from ..values.sites import Site


def is_settled(run: Any, node: ast.AST, site: Site, holds: bool) -> bool:
    """Does a condition come out as it must, wherever the conditions within it lead to the site?"""
    test = getattr(node, "test", None)
    if not isinstance(test, ast.BoolOp) or not _is_of_method(run, test):
        return False
    known = dict(_known(run, site))
    return bool(known) and _answer(test, known) is holds


def _known(run: Any, site: Site) -> Iterator[tuple[str, object]]:
    """The fields that the site's conditions compare with constants, and those they are equal to."""
    sides = site.renders.get("sides", {})
    for node, _ in site.conditions:
        test = getattr(node, "test", None)
        if test is None or not _is_of_method(run, test):
            continue
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        for part in parts if sides.get(node) is True else ():
            found = _compared(part)
            if found is not None and found[0] in run.fields and found[2]:
                yield found[0], found[1]


def _is_of_method(run: Any, test: ast.expr) -> bool:
    """Does a condition stand in a method of the class, so that its `self` is the module? It may be put together anew."""
    asked = next((node for node in subtree(test) if isinstance(node, ast.Attribute)), None)
    methods = run.model.methods().values() if asked is not None else ()
    return any(asked in method.source.parents and method.node in method.source.ancestors(asked) for method in methods)


def _compared(test: ast.expr | None) -> tuple[str, object, bool] | None:
    """The field, the constant, and whether they are the same: `self.kind == "deep"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq | ast.NotEq):
        return None
    left, right = test.left, test.comparators[0]
    if not isinstance(left, ast.Attribute) or not isinstance(left.value, ast.Name) or left.value.id != "self":
        return None
    if not isinstance(right, ast.Constant) or not isinstance(right.value, str):
        return None
    return left.attr, right.value, isinstance(test.ops[0], ast.Eq)


def _answer(test: ast.expr, known: Mapping[str, object]) -> bool | None:
    if isinstance(test, ast.BoolOp):
        answers = [_answer(value, known) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in answers:
            return decisive
        return None if None in answers else not decisive
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = _answer(test.operand, known)
        return None if answer is None else not answer
    found = _compared(test)
    if found is None or found[0] not in known:
        return None
    field, constant, same = found
    return (known[field] == constant) is same


__all__ = ["is_settled"]
