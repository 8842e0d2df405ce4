"""Functions of `setup` that a layer is given, and that read what `setup` changes behind them.

    n = 3
    self.dense = nn.Dense(4, kernel_init=lambda key, shape, dtype: jnp.full(shape, n, dtype))
    n = 5                                                                         # which Linen's initializer sees

Linen calls an initializer when `setup` is over, NNX while the constructor runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...linen.project.classes import Method
from ...linen.values.closures import changed_after, free_names, is_called_here
from ...linen.values.sites import Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_LIBRARIES = ("jax.", "numpy.", "math.")


def refuse(text: ClassText) -> None:
    """Raises Unmigratable where such a function, or a method, reads a name or an attribute that is another one later."""
    setup = text.model.method("setup")
    if setup is None:
        return
    for function in setup.nodes:
        if isinstance(function, ast.Lambda | ast.FunctionDef) and function is not setup.node:
            if not is_called_here(text.run.project, setup.source, function) and _is_handed(text, setup, function):
                changed = changed_after(setup.source, setup.node, function, free_names(function))
                _raise(changed or _set_after(text, setup, function, subtree(function)), function)
        elif isinstance(function, ast.Attribute) and _is_argument(text, setup, function):
            method = text.model.method(function.attr) if _is_self(function.value) else None
            if method is not None:
                _raise(_set_after(text, setup, function, method.nodes), function)


def _raise(changed: str | None, node: ast.AST) -> None:
    if changed is not None:
        reason = f"a function that a layer is given reads `{changed}`, which setup changes afterwards"
        raise Unmigratable("NNX113", reason, node)


def _is_handed(text: ClassText, setup: Method, function: ast.Lambda | ast.FunctionDef) -> bool:
    """Is a function, or what holds it, an argument of a call that may keep it?"""
    if isinstance(function, ast.Lambda) and _is_argument(text, setup, function):
        return True
    parent = setup.source.parents[function]
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    held = {function.name} if isinstance(function, ast.FunctionDef) else set(map(ast.unparse, targets))
    reads = (n for n in setup.nodes if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Load))
    return any(ast.unparse(n) in held and _is_argument(text, setup, n) for n in reads)


def _is_argument(text: ClassText, setup: Method, node: ast.expr) -> bool:
    child: ast.AST = node
    for parent in setup.source.ancestors(node):
        if isinstance(parent, ast.Call) and child is not parent.func:
            known = text.run.project.qualname(setup.source, parent.func) or ""
            return not known.startswith(_LIBRARIES)  # which calls it at once
        if not isinstance(parent, ast.keyword | ast.List | ast.Tuple | ast.Dict | ast.IfExp | ast.Starred):
            return False
        child = parent
    return False


def _set_after(text: ClassText, setup: Method, place: ast.AST, read: Sequence[ast.AST]) -> str | None:
    """An attribute of the module that is read, and that `setup`, or what it calls, sets behind a place."""
    asked = {n.attr for n in read if isinstance(n, ast.Attribute) and _is_self(n.value)}
    position = (getattr(place, "lineno", 0), getattr(place, "col_offset", 0))
    for method in text.model.methods().values():
        for node in _stores(method.nodes):
            if node.attr in asked and (method.node is not setup.node or (node.lineno, node.col_offset) > position):
                return f"self.{node.attr}"
    return None


def _stores(nodes: Iterable[ast.AST]) -> Iterable[ast.Attribute]:
    return (n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and _is_self(n.value))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


__all__ = ["refuse"]
