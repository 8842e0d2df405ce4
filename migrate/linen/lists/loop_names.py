"""Names that loops bind: a comprehension keeps its own to itself, a `for` loop leaves it behind in the function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..values.arguments import stored_names

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def loops_binding(source: SourceFile, node: ast.expr, name: str) -> Iterator[ast.For | ast.comprehension]:
    """The loops around an expression that bind a name, innermost first."""
    for parent in source.ancestors(node):
        loops: list[Any] = [parent] if isinstance(parent, ast.For) else getattr(parent, "generators", [])
        for loop in loops:
            if any(isinstance(n, ast.Name) and n.id == name for n in subtree(loop.target)):
                yield loop


def flattened(node: ast.AST) -> ast.Tuple | ast.List | None:
    """What every pass adds to `[layer for width in widths for layer in (nn.Dense(width), nn.relu)]`."""
    if not isinstance(node, ast.ListComp) or len(node.generators) != 2 or any(g.ifs or g.is_async for g in node.generators):
        return None
    inner = node.generators[1]
    same = isinstance(node.elt, ast.Name) and isinstance(inner.target, ast.Name) and node.elt.id == inner.target.id
    items = inner.iter if isinstance(inner.iter, ast.Tuple | ast.List) else None
    return items if same and items is not None and not any(isinstance(i, ast.Starred) for i in items.elts) else None


def free_reads(function: ast.AST, besides: ast.AST) -> frozenset[str]:
    """The names that a function reads outside of one loop, and not as what another loop, or a function in it, binds."""
    return frozenset(name for part in ast.iter_child_nodes(function) for name in _reads(part, besides, frozenset()))


def may_bind(source: SourceFile, loop: ast.AST, name: str) -> bool:
    """May a loop, which has no use for its own variable, or keeps it to itself, bind this name for the whole function?"""
    function = source.function_of(loop)
    read = any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in subtree(loop))
    return function is not None and not read and name not in free_reads(function, loop)


def means_the_same(source: SourceFile, name: str, before: ast.AST, behind: ast.AST) -> bool:
    """Has a local name at one place of a function the value that it had at an earlier one?"""
    function = source.function_of(before)
    if function is None or function is not source.function_of(behind):
        return False
    inside = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == name]
    stores = [n for n in inside if not isinstance(n.ctx, ast.Load)]
    if not stores:
        return True  # a parameter, or a name of the file
    statement = source.statement_of(before)
    always = source.parents[statement] in [*source.ancestors(behind)]  # nothing goes around it on the way
    around = [n for n in source.ancestors(stores[0]) if isinstance(n, ast.For | ast.While | ast.FunctionDef)]
    shared = all(loop in source.ancestors(node) for loop in around for node in (before, behind))
    is_parameter = any(isinstance(n, ast.arg) and n.arg == name for n in subtree(function.args))
    return len(stores) == 1 and not is_parameter and always and shared


def changes_in(source: SourceFile, name: str, within: ast.AST) -> bool:
    """Has a name several values in the function around an expression, one after the other?"""
    function = source.function_of(within)
    if function is None:
        return False
    stored = [n for n in source.saying(name) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    return len(stored) > 1 and sum(function in source.ancestors(n) for n in stored) > 1


def hidden_by(run: Any, loop: ast.For | ast.comprehension, env: Any) -> frozenset[str]:
    """The names of a loop that mean something else behind it, or nothing, in the method that the module is entered by.

    They are those of a comprehension, and those of a loop in another method or function.
    """
    entry = run.model.method(run.entry)
    own = isinstance(loop, ast.For) and entry is not None and env.source.function_of(loop) is entry.node
    return frozenset() if own else stored_names(loop.target) - {"_"}


def _reads(node: ast.AST, besides: ast.AST, bound: frozenset[str]) -> Iterator[str]:
    part: ast.AST
    if node is besides:
        return
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in bound:
            yield node.id
        return
    if isinstance(node, Comprehension):
        for generator in node.generators:
            yield from _reads(generator.iter, besides, bound)
            bound |= stored_names(generator.target)
            for test in generator.ifs:
                yield from _reads(test, besides, bound)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            yield from _reads(part, besides, bound)
        return
    if isinstance(node, ast.For):
        yield from _reads(node.iter, besides, bound)
        inner = bound | stored_names(node.target)
        for part in node.body:
            yield from _reads(part, besides, inner)
        for part in node.orelse:
            yield from _reads(part, besides, bound)
        return
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            yield from _reads(default, besides, bound)
        bound |= {a.arg for a in subtree(node.args) if isinstance(a, ast.arg)}
        if isinstance(node, ast.FunctionDef):
            bound |= frozenset().union(*(stored_names(statement) for statement in node.body))
        for part in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
            yield from _reads(part, besides, bound)
        return
    for part in ast.iter_child_nodes(node):
        yield from _reads(part, besides, bound)


__all__ = ["changes_in", "flattened", "free_reads", "hidden_by", "may_bind", "means_the_same"]
