"""What a module that stays Linen gives, where a native one wraps it: the wrapper has the shape of its first result.

`linen_parity.Bridged` runs the module once while it is constructed, so its owner's constructor may ask what came out:
`shape = self.Odd_0.out_shape`. To the sizes that follow from it this is one more array argument, whose name begins with "=".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ..project.classes import Method
from ..values.kind_results import make_asked
from ..values.sites import Site
from ..values.values import Array, Shape, Unknown, Value

OUT_SHAPE = "out_shape"
_SEVERAL = (ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.Lambda, ast.JoinedStr)


def told(argument: str) -> str:
    """The constructor's own name of such a shape; "" for an argument of the call."""
    return argument[1:] if argument.startswith("=") else ""


def result(run: Any, site: Site, method: str) -> Value:
    """What calling a wrapped module gives, in terms of its owner."""
    name = site.target.rpartition(".")[2]
    nothing = Unknown(f"what {name} gives, which stays Linen")
    model = run.analyser.classes.get(site.target)
    found = model.method(method) if model is not None and method == "__call__" else None
    if found is None or not _gives_array(found) or len(site.calls) > 1 or run.model.qualname in run.analyser.later:
        return nothing
    if site.lifted or site.held or site.through or site.choice or site.alternatives or site.conditions:
        return nothing
    if site.in_setup:
        known = bool(site.container) and not site.loops
        site.renders[OUT_SHAPE] = known
        return Array(Shape.argument(f"=self.{site.container}.{OUT_SHAPE}")) if known else nothing
    if "block" not in site.renders or (site.factory is not None and site.factory.field):
        return nothing
    site.renders[OUT_SHAPE] = True
    return Array(Shape.argument(f"={make_asked(run, site, 'shape', OUT_SHAPE)}"))


def lacks_width(value: Value) -> bool:
    """Is it an array of which nothing follows for the layers behind, or not known to be anything?"""
    return value.shape.dim(-1) is None if isinstance(value, Array) else type(value) is Unknown


def _gives_array(method: Method) -> bool:
    """Does nothing that it returns look like several arrays, or like none?"""
    annotation = ast.unparse(method.node.returns) if method.node.returns is not None else ""
    if re.search(r"tuple|dict|list|sequence|optional|none", annotation, re.IGNORECASE):
        return False
    returned = [node.value for node in _own_nodes(method.node) if isinstance(node, ast.Return)]
    return bool(returned) and all(_is_array(method.node, value, set()) for value in returned)


def _is_array(function: ast.AST, value: ast.expr | None, seen: set[str]) -> bool:
    if value is None or isinstance(value, (ast.Constant, *_SEVERAL)):
        return False
    if isinstance(value, ast.IfExp):
        return _is_array(function, value.body, seen) and _is_array(function, value.orelse, seen)
    if isinstance(value, ast.Name) and value.id not in seen:
        seen.add(value.id)
        given = [
            node.value
            for node in _own_nodes(function)
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == value.id for t in node.targets)
        ]
        return all(_is_array(function, one, seen) for one in given)
    return True


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(node)


__all__ = ["OUT_SHAPE", "lacks_width", "result", "told"]
