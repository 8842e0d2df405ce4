"""Inputs of `init` that are taken from something, `next(batches)`: a program takes as many of them as it did.

The constructor is given the sizes of the inputs. An input of which it needs none would not be taken any more, and one of
which it needs two would be taken twice: whatever comes after it would be another batch.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function
from ...trees import subtree

if TYPE_CHECKING:
    from .rewrite import Rewrite

_LIBRARIES = ("jax.", "flax.", "optax.", "numpy.", "math.", "functools.")
# Methods that change nothing, of whatever has them: of arrays, shapes and configurations.
_CHANGING_NOTHING = frozenset(
    ["reshape", "astype", "transpose", "squeeze", "ravel", "flatten", "repeat", "sum", "mean", "copy", "numpy", "item"]
    + ["tolist", "block_until_ready", "keys", "values", "items", "format", "to_dict"]
)
_BUILTINS = frozenset(
    {"len", "range", "tuple", "list", "dict", "set", "int", "float", "str", "bool", "max", "min", "sum", "sorted", "zip"}
    | {"enumerate", "iter", "getattr", "isinstance", "type", "map"}
)


def as_often(form: Rewrite, inputs: list[ast.expr], sizes: list[ast.AST], *, again: bool) -> bool:
    """Do sizes evaluate what is taken from something as often as the inputs do, and in their order?

    `again`: the inputs stay, too.
    """
    drawn = [node for node in inputs if taken(form, node)]
    said = [ast.dump(node) for node in drawn]
    if again:
        return not any(_evaluations(node, sizes) for node in drawn)
    return len(set(said)) < 2 and all(_evaluations(node, sizes) == len(drawn) for node in drawn)


def taken(form: Rewrite, node: ast.AST, depth: int = 0) -> bool:
    """May an expression give something else when it is evaluated again, or change what others give?"""
    return any(_takes(form, inner, depth) for inner in subtree(node) if isinstance(inner, ast.Call))


def _changes(body: list[ast.AST]) -> bool:
    """Does a function change what is not its own?"""
    nodes = [inner for statement in body for inner in subtree(statement)]
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom):
            return True
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            base: ast.AST = node
            while isinstance(base, ast.Attribute | ast.Subscript):
                base = base.value
            if not (isinstance(base, ast.Name) and base.id in own):
                return True
    return False


def _takes(form: Rewrite, call: ast.Call, depth: int) -> bool:
    name = form.flow.name(call.func) or ""
    if name.startswith(_LIBRARIES):
        return name.startswith("numpy.random.")  # one generator for all
    value = form.flow.value(call.func)
    if isinstance(value, Function):
        bodies = [statement for node in value.nodes for statement in _body(node)]
        return _changes(bodies) or depth > 3 or any(taken(form, statement, depth + 1) for statement in bodies)
    if isinstance(call.func, ast.Attribute):
        looked_up = call.func.attr == "get" and bool(call.args)  # of a dictionary; a queue's takes
        return not looked_up and call.func.attr not in _CHANGING_NOTHING
    if isinstance(call.func, ast.Name) and call.func.id == "next" and call.args:
        return not _begins(form, call.args[0])
    if isinstance(call.func, ast.Name) and (call.func.id in _BUILTINS or call.func.id[:1].isupper()):
        return False
    return isinstance(call.func, ast.Name)


def _begins(form: Rewrite, node: ast.expr) -> bool:
    """`iter(data)` of a list, which begins anew each time: that of a generator, or of a loader, may not."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "iter"
    given = node.args[0] if isinstance(node, ast.Call) and named and len(node.args) == 1 else None
    if not isinstance(given, ast.Name):
        return False
    same = form.flow.occurrences(form.flow.symbol(form.source(given), given))
    stores = [name for name in same if not isinstance(name.ctx, ast.Load)]
    value = getattr(form.parent(stores[0]), "value", None) if len(stores) == 1 else None
    return isinstance(value, ast.List | ast.Tuple | ast.ListComp | ast.Dict)


def _body(function: ast.AST) -> list[ast.AST]:
    body = getattr(function, "body", [])
    return body if isinstance(body, list) else [body]


def _evaluations(node: ast.expr, said: list[ast.AST]) -> int:
    """How often sizes evaluate an input."""
    wanted = ast.dump(node)
    return sum(type(inner) is type(node) and ast.dump(inner) == wanted for tree in said for inner in ast.walk(tree))
