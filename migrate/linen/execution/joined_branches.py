"""Arrays that one side of a condition joins to something: `if skip is not None: x = jnp.concatenate([x, skip], -1)`.

Of two sides a width that is not known is taken to be the other's. Here it is not: something is added to it. And names that
are None on one side alone, of which behind the condition no more is known than before it.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence

from ...trees import subtree
from ..values.environment import Env
from ..values.sites import Abs
from ..values.values import Array, Const, Shape, Value

_JOINS = frozenset({"concatenate", "concat", "hstack", "append"})


def widen(node: ast.If, sides: tuple[Env, Env], env: Env) -> None:
    """Forget the width of such an array behind the condition, where the side that joins it does not say the new one."""
    for body, side in zip((node.body, node.orelse), sides):
        for name in _joined(body):
            there, now = side.names.get(name), env.names.get(name)
            if there is not None and now is not None and _width(there.value) is None and _width(now.value) is not None:
                env.names[name] = dataclasses.replace(now, value=_without_width(now.value))


def of_either(node: ast.IfExp, then: Abs, orelse: Abs, found: Abs) -> Abs:
    """The same of `x if skip is None else jnp.concatenate([x, skip], -1)`."""
    for own, other, side in ((node.body, node.orelse, then), (node.orelse, node.body, orelse)):
        joins = isinstance(own, ast.Call) and isinstance(other, ast.Name) and _joins(own, other.id)
        if joins and _width(side.value) is None:
            return dataclasses.replace(found, value=_without_width(found.value))
    return found


def _joined(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for node in subtree(statement):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                if isinstance(node.value, ast.Call) and _joins(node.value, node.targets[0].id):
                    yield node.targets[0].id


def _joins(call: ast.Call, name: str) -> bool:
    """Is it a list of this array and others that is joined?"""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in _JOINS and call.args):
        return False
    parts = call.args[0].elts if isinstance(call.args[0], ast.List | ast.Tuple) else call.args[:2]
    return len(parts) > 1 and any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _width(value: Value) -> object:
    return value.shape.dim(-1) if isinstance(value, Array) else None


def _without_width(value: Value) -> Value:
    if not isinstance(value, Array) or not value.shape.dims:
        return value
    return dataclasses.replace(value, shape=Shape((*value.shape.dims[:-1], None), value.shape.lead))


def none_on_one_side(env: Env, then: Env, orelse: Env) -> dict[str, tuple[Abs, Abs, Abs]]:
    """Names that are None on one side of a condition, of which the other side says nothing: as before, and on both sides.

    Where `a is not None or b is not None` does not hold, neither is given; where it does, `b` may be None all the same.
    """
    found = {}
    for name, was in env.names.items():
        sides = (then.names[name], orelse.names[name])
        of_none = [side is not was and side.value == Const(None) for side in sides]
        if any(of_none) and any(side is was for side in sides):
            found[name] = (was, *sides)
    return found


__all__ = ["none_on_one_side", "of_either", "widen"]
