"""Modules of a list that `map` calls, said as a comprehension: `tuple(map(lambda conv: conv(x), convs))` is
`tuple([conv(x) for conv in convs])`.

What takes the items takes all of them at once, and in their order, so that both call the same modules in the same order.
"""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree

TAKERS = frozenset({"tuple", "list", "sum"})  # of all items at once, and in their order
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Yield, ast.YieldFrom)


def with_mapped_items(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such call of a class less; None where there is none."""
    for call in subtree(model):
        found = _mapped(source, call)
        if found is None or not isinstance(call, ast.Call):
            continue
        function, items = found
        edits = EditSet(source.text)
        body, name = source.span(function.body), function.args.args[0].arg
        said = ("[", body, f" for {name} in ", source.span(items), "]")
        assert isinstance(call.func, ast.Name)
        edits.replace(source.span(call), *(said if call.func.id == "list" else (f"{call.func.id}(", *said, ")")))
        return edits.render()
    return None


def _mapped(source: SourceFile, call: ast.AST) -> tuple[ast.Lambda, ast.expr] | None:
    """The function that calls each of some modules, and what these are."""
    inner = _argument(source, call, TAKERS, 1)
    over = _argument(source, inner[0], frozenset({"map"}), 2) if inner is not None else None
    if over is None or source.function_of(call) is None or "#" in source.text_of(call):
        return None
    function, items = over
    if not isinstance(function, ast.Lambda) or not isinstance(items, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return None
    spec = function.args
    if len(spec.args) != 1 or spec.posonlyargs or spec.kwonlyargs or spec.vararg or spec.kwarg or spec.defaults:
        return None
    inside = subtree(function.body)
    called = any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == spec.args[0].arg for n in inside)
    return (function, items) if called and not any(isinstance(n, _SCOPES) for n in inside) else None


def _argument(source: SourceFile, node: ast.AST, names: frozenset[str], count: int) -> list[ast.expr] | None:
    """The arguments of a call of a builtin, where there are so many and nothing else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in names or node.keywords:
        return None
    plain = len(node.args) == count and not any(isinstance(a, ast.Starred) for a in node.args)
    return node.args if plain and not source.names.is_hidden(node.func.id, node) else None


__all__ = ["TAKERS", "with_mapped_items"]
