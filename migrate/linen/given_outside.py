"""Modules that code outside of modules hands to a module's constructor: `Sequential([Block(), nn.Dense(5)])`.

In Linen such a module is a description that its new owner makes parameters for. In NNX it would have to be made before its
owner, with its sizes and random streams, which such code does not hold; a class that is used so stays Linen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ..source import SourceFile
from ..trees import subtree

_GROWING = ("append", "extend", "insert")


def given_outside(project: Any) -> Mapping[str, str]:
    """Class → where, outside of modules, it is given a module."""
    found: dict[str, str] = {}
    names = {qualname.rpartition(".")[2] for qualname in project.linen_classes}
    for source in project.files.values():
        if names.isdisjoint(source.words) and not any(f"{name}(" in source.text for name in names):
            continue
        for scope in _scopes(project, source):
            held = _holders(project, source, scope)
            for call in _calls(scope):
                target = project.qualname(source, call.func)
                given = [*call.args, *(k.value for k in call.keywords)]
                if target in project.linen_classes and any(_makes_module(project, source, a, held) for a in given):
                    found.setdefault(target, f"{source.path.name}:{call.lineno}")
    return found


def _scopes(project: Any, source: SourceFile) -> Iterator[list[ast.stmt]]:
    """The bodies of the module and of its functions and plain classes, those of Linen modules left out."""
    yield [s for s in source.tree.body if not isinstance(s, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]
    queue: list[ast.AST] = [source.tree]
    while queue:
        for node in ast.iter_child_nodes(queue.pop()):
            if isinstance(node, ast.ClassDef):
                bases = [project.qualname(source, b) for b in node.bases]
                if any(b == "flax.linen.Module" or b in project.linen_classes for b in bases):
                    continue
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.body
            queue.append(node)


def _calls(body: list[ast.stmt]) -> Iterator[ast.Call]:
    for statement in body:
        for node in subtree(statement):
            if isinstance(node, ast.Call):
                yield node


def _holders(project: Any, source: SourceFile, body: list[ast.stmt]) -> set[str]:
    """Local names that hold modules, or lists of them."""
    held: set[str] = set()
    for _ in range(3):
        before = len(held)
        for statement in body:
            for node in subtree(statement):
                if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    if _makes_module(project, source, node.value, held):
                        held |= {t.id for t in targets if isinstance(t, ast.Name)}
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
                    if isinstance(node.func.value, ast.Name) and any(
                        _makes_module(project, source, a, held) for a in node.args
                    ):
                        held.add(node.func.value.id)
        if len(held) == before:
            break
    return held


def _makes_module(project: Any, source: SourceFile, node: ast.expr, held: set[str]) -> bool:
    """Is this a module, or a display of some?"""
    if isinstance(node, ast.Name):
        return node.id in held
    if isinstance(node, ast.Call):
        name = project.qualname(source, node.func) or ""
        return name in project.linen_classes or (name.startswith("flax.linen.") and name.rpartition(".")[2][:1].isupper())
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return any(_makes_module(project, source, e, held) for e in node.elts)
    if isinstance(node, ast.Dict):
        return any(_makes_module(project, source, e, held) for e in node.values)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _makes_module(project, source, node.elt, held)
    if isinstance(node, ast.BinOp):
        return _makes_module(project, source, node.left, held) or _makes_module(project, source, node.right, held)
    if isinstance(node, ast.IfExp):
        return _makes_module(project, source, node.body, held) or _makes_module(project, source, node.orelse, held)
    if isinstance(node, ast.Starred):
        return _makes_module(project, source, node.value, held)
    return False


__all__ = ["given_outside"]
