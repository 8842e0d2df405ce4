"""Expressions that give the same wherever in a method they are said."""

from __future__ import annotations

import ast

from ..source import SourceFile
from ..trees import subtree
from .pure import is_pure

_INITIALIZERS = ("flax.linen.initializers.", "jax.nn.initializers.")


def is_stable(source: SourceFile, method: ast.FunctionDef, node: ast.expr) -> bool:
    """Does an expression in a method give the same in all of it, from where its names are bound on?

    Its own names are bound once, outside of loops, and it reads nothing of `self` that the method sets.
    """
    if not gives_one_value(source, node):
        return False
    stored = {n.attr for n in subtree(method) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}
    if any(isinstance(n, ast.Attribute) and n.attr in stored for n in subtree(node)):
        return False
    return all(_is_bound_once(source, method, n) for n in subtree(node) if isinstance(n, ast.Name))


def gives_one_value(source: SourceFile, node: ast.expr) -> bool:
    """Nothing but names, numbers and what is made of them; or a call that makes an initializer of such."""
    if isinstance(node, ast.Call):
        maker = source.names.qualname(node.func) or ""
        given = [*node.args, *[k.value for k in node.keywords]]
        return maker.startswith(_INITIALIZERS) and all(gives_one_value(source, a) for a in given)
    return is_pure(node) and not any(isinstance(n, ast.Subscript) for n in subtree(node))


def _is_bound_once(source: SourceFile, method: ast.FunctionDef, name: ast.Name) -> bool:
    scope = source.names.binding_scope(name.id, name)
    if scope is None:
        return len([n for n in source.names.binders(name.id) if source.names.bound_by(n) is None]) <= 1
    binders = [n for n in source.names.binders(name.id) if source.names.bound_by(n) is scope]
    if scope is not method or len(binders) != 1:
        return False
    same = (n for n in subtree(method) if isinstance(n, ast.Name) and n.id == name.id)
    if name.id != "self" and any(_may_change(source, n) for n in same):
        return False
    loops = (ast.For, ast.While, ast.AsyncFor)
    return not any(isinstance(outer, loops) for outer in source.ancestors(binders[0]) if outer is not method)


def _may_change(source: SourceFile, name: ast.Name) -> bool:
    """`sizes[0] = 3`, `sizes.append(3)`."""
    part = source.parents[name]
    if isinstance(part, ast.Subscript):
        return part.value is name and not isinstance(part.ctx, ast.Load)
    called = source.parents[part] if isinstance(part, ast.Attribute) else None
    return isinstance(called, ast.Call) and called.func is part


def bound_once(source: SourceFile, method: ast.FunctionDef, func: ast.expr) -> ast.expr | None:
    """What a name of a method holds that one statement of its own body, ahead of `func`, gives it alone."""
    if not isinstance(func, ast.Name) or source.names.binding_scope(func.id, func) is not method:
        return None
    binders = [n for n in source.names.binders(func.id) if source.names.bound_by(n) is method]
    statement = source.parents.get(binders[0]) if len(binders) == 1 else None
    if not isinstance(statement, ast.Assign) or statement.targets != binders or source.parents[statement] is not method:
        return None
    return statement.value if statement.lineno < func.lineno else None


__all__ = ["bound_once", "gives_one_value", "is_stable"]
