"""What code does with arrays that JAX traces: what computes some, and where Python must know what they hold."""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree

_PLAIN = ("jax.numpy.dtype", "jax.numpy.result_type", "jax.numpy.promote_types", "jax.nn.initializers.", "jax.dtypes.")
_OF_VALUES = frozenset({"int", "float", "bool", "complex", "range", "str", "max", "min", "sorted", "any", "all", "hash"})
_PYTHON = ("numpy.", "math.", "itertools.", "operator.index")  # what computes with numbers, and not while JAX traces
_OF_SHAPES = ("shape", "ndim", "size", "dtype")


def is_of_jax(known: str) -> bool:
    """Does a function of a library compute arrays?"""
    return known.startswith("jax.") and not known.startswith(_PLAIN)


def computes(project: Any, known: str, seen: frozenset[str] = frozenset()) -> bool:
    """Does a function of the project compute with jax, itself or by another one that it calls?"""
    found = project.definition(known) if known not in seen else None
    if found is None or not isinstance(found[1], ast.FunctionDef):
        return False
    source, function = found
    called = {project.qualname(source, n.func) or "" for n in subtree(function) if isinstance(n, ast.Call)}
    return any(is_of_jax(name) or computes(project, name, seen | {known}) for name in called)


def is_read(project: Any, known: str, seen: frozenset[str] = frozenset()) -> bool:
    """Does Python, in a function of the project, read what jax computes there? `np.asarray(jnp.arange(n))`, `if a.sum():`"""
    found = project.definition(known) if known not in seen else None
    if found is None or not isinstance(found[1], ast.FunctionDef):
        return False
    source, function = found
    parts = list(subtree(function))
    names: set[str] = set()  # that hold what jax has computed

    def is_array(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute) and node.attr in _OF_SHAPES:
            return False
        if isinstance(node, ast.Name):
            return node.id in names
        said = project.qualname(source, node.func) or "" if isinstance(node, ast.Call) else ""
        if said.rpartition(".")[2] in _OF_SHAPES or (isinstance(node, ast.Call) and _is_len(node)):
            return False
        return is_of_jax(said) or computes(project, said) or any(map(is_array, ast.iter_child_nodes(node)))

    before = -1
    while len(names) > before:
        before = len(names)
        for part in parts:
            value = part.iter if isinstance(part, ast.For) else getattr(part, "value", None)
            if isinstance(part, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For) and value and is_array(value):
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                names |= {n.id for target in targets for n in subtree(target) if isinstance(n, ast.Name)}
    for part in parts:
        if any(map(is_array, deciding(part))):
            return True
        if isinstance(part, ast.Call):
            said = project.qualname(source, part.func) or ""
            read = [*part.args, *(k.value for k in part.keywords), part.func]
            if asks_values(part, said) and any(map(is_array, read)):
                return True
            if is_read(project, said, seen | {known}):
                return True
    return False


def _is_len(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in ("len", "isinstance")


def deciding(node: ast.AST) -> list[ast.expr]:
    """What decides which way Python goes."""
    if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values
    return node.ifs if isinstance(node, ast.comprehension) else []


def asks_values(node: ast.Call, known: str) -> bool:
    """Does Python compute a call, of what arrays hold?"""
    if isinstance(node.func, ast.Name) and node.func.id in _OF_VALUES:
        return True
    return known.startswith(_PYTHON) or (isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "tolist"))
