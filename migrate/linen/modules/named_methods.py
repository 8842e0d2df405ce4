"""Methods that a class names without calling them: `return self._uniform`, `{"uniform": self._uniform}[self.kind](n)`.

Whoever calls such a method runs its body as it stands, so that it may draw random numbers; what it made would have no place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...trees import of_kind, said
from ..project.classes import Method
from ..values.sites import Unmigratable


def found(run: Any) -> Iterator[Method]:
    """The private ones of which a draw was not followed where they are called."""
    followed = {site.node for site in run.sites}
    methods = run.model.methods()
    for name, method in methods.items():
        if not name.startswith("_") or name.startswith("__") or method.compact or method.node.decorator_list:
            continue
        draws = [node for node in of_kind(method.node, ast.Call) if _is_draw(node)]
        if not followed.issuperset(draws) and any(_names(other, name) for other in methods.values()):
            yield method


def _is_draw(node: ast.Call) -> bool:
    func = node.func
    return isinstance(func, ast.Attribute) and func.attr == "make_rng" and said(func.value) == "self"


def _names(method: Method, name: str) -> bool:
    for node in method.nodes:
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
            called = method.source.parents.get(node)
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if own and not (isinstance(called, ast.Call) and called.func is node):
                return True
    return False


def refuse(run: Any, method: Method) -> None:
    """After the method was followed."""
    made = next((site for site in run.sites_of(method.name) if site.kind != "rng"), None)
    if made is not None:
        reason = f"`{method.name}` makes modules or variables, and is named where it is not called"
        raise Unmigratable("NNX134", reason, made.node)


__all__ = ["found", "refuse"]
