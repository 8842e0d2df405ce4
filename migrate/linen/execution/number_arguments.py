"""Sizes that a module is given at its call: `def __call__(self, x, features: int)`, of `nn.Dense(features)`.

Linen makes the parameters at the first call, with the number that this is given. The constructor is given it instead, and
callers say it as they say the size of an array. A module that is called with two numbers fails in Linen as well, as
its parameters have one shape.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from ...trees import subtree
from ..project.classes import ClassModel, Method
from ..values.sites import Unmigratable
from ..values.values import Array, Int, Shape, Value

_SIZED = frozenset({"NNX111", "NNX113"})  # what Linen makes with a value of the call
_SIZE_NAMES = re.compile(r"(^|_)(features?|dims?|size|width|channels?|heads|experts|units|filters|hidden|out|num|n)(_|$)")


def wanted(model: ClassModel, failure: Unmigratable) -> frozenset[str]:
    """The arguments of the call that may be sizes, among those in what a class has failed for."""
    method = model.method("__call__")
    nodes = [failure.node] if failure.code in _SIZED else []
    if failure.lacks is not None:  # a size that a submodule is given at its call
        nodes += [node for node, _, _ in failure.lacks[0].calls]
    read = {n.id for node in nodes if node is not None for n in subtree(node) if isinstance(n, ast.Name)}
    parameters = method.parameters if method is not None else []
    return frozenset(p.arg for p in parameters if p.arg in read and method is not None and _is_number(method, p))


def _is_number(method: Method, parameter: ast.arg) -> bool:
    """Is an argument given always, never assigned, and used for nothing but a size?"""
    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    said = annotation == "int" or (not annotation and _SIZE_NAMES.search(parameter.arg) is not None)
    if not said or method.default(parameter.arg) is not None:
        return False
    uses = [n for n in method.nodes if isinstance(n, ast.Name) and n.id == parameter.arg]
    return bool(uses) and all(isinstance(n.ctx, ast.Load) and _is_size(method, n) for n in uses)


def _is_size(method: Method, node: ast.AST) -> bool:
    """Does a number stand in what something is called with, by itself or in a sum, product or tuple?"""
    for parent in method.source.ancestors(node):
        if isinstance(parent, ast.Call):
            return node is not parent.func
        if not isinstance(parent, ast.BinOp | ast.Tuple | ast.List | ast.keyword | ast.Starred):
            return False
        node = parent
    return False


def as_arrays(numbers: frozenset[str], inputs: Mapping[str, Value]) -> dict[str, Value]:
    """Sizes that a call is given, as the last dimensions of arrays: so the caller is asked for them."""
    found = {name: inputs[name] for name in numbers & inputs.keys()}
    return {name: Array(Shape((value.dim,))) for name, value in found.items() if isinstance(value, Int)}


__all__ = ["as_arrays", "wanted"]
