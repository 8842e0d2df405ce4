"""Fields with several arrays, `stats: tuple[jax.Array, jax.Array]`: NNX takes containers for static, and refuses these."""

from __future__ import annotations

import ast

from ...linen.project.classes import Field
from ...trees import subtree

_ARRAYS = {"Array", "ndarray", "ArrayLike"}
_CONTAINERS = {
    "tuple",
    "list",
    "dict",
    "Tuple",
    "List",
    "Dict",
    "Sequence",
    "Mapping",
    "FrozenDict",
    "Iterable",
    "NamedTuple",
}


def are_arrays(field: Field) -> bool:
    """Is a field said to hold a container of arrays, or to be one?"""
    said = [] if field.annotation is None else [n for n in subtree(field.annotation) if isinstance(n, ast.Subscript)]
    return any(_last(n.value) in _CONTAINERS and _has_array(n.slice) for n in said) and not _calls(field.annotation)


def _has_array(node: ast.expr) -> bool:
    return any(_last(part) in _ARRAYS for part in subtree(node))


def _calls(annotation: ast.expr | None) -> bool:
    """Is anything in it a function of arrays?"""
    return annotation is not None and any(_last(part) == "Callable" for part in subtree(annotation))


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
