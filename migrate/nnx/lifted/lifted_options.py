"""Options of lifted transforms, as the call of the module says them: by their own text where its names mean the same.

A transform that a function wraps around a class (`ensemblize(MLP, 2)`) has options in terms of that function's arguments.
"""

from __future__ import annotations

import ast

from ...edits import Part
from ...linen.values.sites import Lifted, Unmigratable
from ...linen.values.values import Const, Int
from ...source import SourceFile
from ...trees import subtree

# What nnx.scan and nnx.vmap read off the stacked module where nobody says it.
_SHOWN = frozenset({"length", "axis_size"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def said(source: SourceFile, lifted: Lifted, name: str, place: ast.AST, *, stacked: bool = False) -> Part | None:
    """An option as it is said at `place`; None where it need not be said.

    Raises Unmigratable where its text would mean something else there, and its value is no constant.
    """
    node = lifted.options[name]
    if _reads_alike(source, node, place):
        return source.span(node)
    value = lifted.abs[name].value if name in lifted.abs else None
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Int) and value.dim.value is not None:
        return str(value.dim.value)
    if stacked and name in _SHOWN:
        return None
    what = f"`{name}={ast.unparse(node)}` of nn.{lifted.kind} is in terms of another function"
    raise Unmigratable("NNX130", what, lifted.node)


def _reads_alike(source: SourceFile, node: ast.expr, place: ast.AST) -> bool:
    """Do an expression's names mean at `place`, of the same file or not, what they mean where they stand?"""
    if isinstance(node, ast.Constant):
        return node in source.parents
    if node not in source.parents:
        return False
    around = {place, *source.ancestors(place)}
    for name in [n for n in subtree(node) if isinstance(n, ast.Name) and n.id != "self"]:
        if source.names.is_hidden(name.id, name):
            function = next((p for p in source.ancestors(name) if isinstance(p, _FUNCTIONS)), None)
            if function not in around:
                return False
    return True


__all__ = ["said"]
