"""`isinstance` on values of which the kind is certain."""

from __future__ import annotations

import ast
from typing import Any

from .values import Const, Int, ShapeOf, Tup, Value

_COLLECTION = frozenset({"object", "Iterable", "Sequence", "Collection", "Container", "Sized", "Reversible"})
_NUMBER = frozenset({"object", "Number", "Complex", "Real", "Hashable"})
_INTEGER = _NUMBER | {"int", "Integral", "Rational"}
_KNOWN = _COLLECTION | _INTEGER | {"float", "str", "bytes", "bool", "tuple", "list", "dict", "set", "MutableSequence",
                                  "Mapping", "Callable"}  # fmt: skip
_MODULES = ("", "typing", "collections.abc", "collections", "numbers", "builtins")


def instance_test(run: Any, value: Value, types: ast.expr, env: Any) -> bool | None:
    """Whether `isinstance(value, types)` holds; None where that is not certain."""
    kinds = _kinds(run, value)
    if kinds is None:
        return None
    answers = [_one(run, kinds, node, env) for node in _listed(types)]
    if True in answers:
        return True
    return None if None in answers else False


def _listed(types: ast.expr) -> list[ast.expr]:
    if isinstance(types, ast.Tuple):
        return [inner for element in types.elts for inner in _listed(element)]
    if isinstance(types, ast.BinOp) and isinstance(types.op, ast.BitOr):
        return [*_listed(types.left), *_listed(types.right)]
    return [types]


def _one(run: Any, kinds: frozenset[str], node: ast.expr, env: Any) -> bool | None:
    if isinstance(node, ast.Name) and env.get(node.id) is not None:
        return None
    name = run.project.qualname(env.source, node) or (node.id if isinstance(node, ast.Name) else "?")
    module, _, short = name.rpartition(".")
    if module not in _MODULES or short not in _KNOWN:
        return None
    return short in kinds


def _kinds(run: Any, value: Value) -> frozenset[str] | None:
    """The names of the types that a value is an instance of."""
    if isinstance(value, Tup | ShapeOf):
        own = {"tuple", "Hashable"} if value.kind == "tuple" else {"list", "MutableSequence"}
        return _COLLECTION | own
    if isinstance(value, Int):
        atom = value.dim.single_atom()
        # A field that is annotated as an int and asked whether it is one may well be given something else.
        if atom is not None and atom.kind == "field" and atom.args[0] not in run.given:
            return None
        if any(a.kind in ("opaque", "local") for a in value.dim.atoms()) and atom is not None:
            return None
        return _INTEGER
    if isinstance(value, Const):
        if value.value is None:
            return frozenset({"object", "Hashable"})
        if isinstance(value.value, bool):
            return _INTEGER | {"bool"}
        if isinstance(value.value, float):
            return _NUMBER | {"float"}
        if isinstance(value.value, str):
            return _COLLECTION | {"str", "Hashable"}
    return None


__all__ = ["instance_test"]
