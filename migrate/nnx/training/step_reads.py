"""Reads of the step of an `nnx.Optimizer`, which is unsigned: a TrainState counts in Python's integers, then in signed ones.

    jnp.maximum(state.step - 100, 0)       →   jnp.maximum(optimizer.step[...].astype(int) - 100, 0)
    jax.random.fold_in(key, state.step)    →   jax.random.fold_in(key, optimizer.step[...])

An unsigned step less what is greater is some four billion, without a word.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_makers import maker_of
from ...linen.flow.flow_values import SAVES

if TYPE_CHECKING:
    from .native import _Native

# What takes an unsigned number as it takes a signed one.
_TAKERS = {"jax.random.fold_in", "int", "float", "str", "print", "builtins.int", "builtins.float", "builtins.str", *SAVES}
_RISING = (ast.Add, ast.Mult, ast.Mod, ast.FloorDiv)  # of two that are not negative, neither is the result


def text(form: _Native, reads: list[ast.AST], optimizer: str) -> str:
    """The step, with a sign where one of the places that read it may ask for one."""
    plain = f"{optimizer}.step[...]"
    return plain if all(_unsigned_will_do(form, node) for node in reads) else f"{plain}.astype(int)"


def _unsigned_will_do(form: _Native, node: ast.AST) -> bool:
    """Is an expression used where its sign cannot matter, nor the sign of what is computed from it?"""
    parent = form.parent(node)
    if isinstance(parent, ast.keyword):
        parent = form.parent(parent)
    if isinstance(parent, ast.Call) and parent.func is not node:
        name = form.flow.name(parent.func) or (parent.func.id if isinstance(parent.func, ast.Name) else "")
        return name in _TAKERS or name.startswith("orbax.") or _saves(form, parent)
    if isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is node:
        return True
    if isinstance(parent, ast.FormattedValue):
        return parent.conversion == -1  # `!r` names the type
    if isinstance(parent, ast.Compare):
        others = [other for other in [parent.left, *parent.comparators] if other is not node]
        return all(_number(other, int) for other in others)
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is node else parent.left
        if isinstance(parent.op, ast.Add | ast.Mult | ast.Sub | ast.Div) and _number(other, float):
            return True  # a float, from here on
        divides = isinstance(parent.op, ast.Mod | ast.FloorDiv) and parent.right is node
        if not isinstance(parent.op, _RISING) or divides or not _number(other, int):
            return False
        return _unsigned_will_do(form, parent)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return parent.value is node and _named_will_do(form, parent.targets[0])
    return False


def _saves(form: _Native, call: ast.Call) -> bool:
    """`manager.save(state.step, args=...)` of Orbax."""
    method = call.func
    return isinstance(method, ast.Attribute) and maker_of(form.flow, method.value).startswith("orbax.")


def _number(node: ast.expr, kind: type[int] | type[float]) -> bool:
    """Is it a constant of a kind? (The minus of a negative one is an operator.)"""
    return isinstance(node, ast.Constant) and type(node.value) is kind


def _named_will_do(form: _Native, target: ast.Name) -> bool:
    """The same of a name for the step alone."""
    symbol = form.flow.symbol(form.source(target), target)
    if symbol[1] is None:  # other files may read it
        return False
    mine = form.flow.occurrences(symbol)
    stores = [node for node in mine if not isinstance(node.ctx, ast.Load)]
    return stores == [target] and all(_unsigned_will_do(form, node) for node in mine if node is not target)
