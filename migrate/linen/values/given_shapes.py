"""Functions that are given an array of the call for its sizes, and give an initializer: `kernel_init=uniform_of(x)`.

The constructor has no array. It gives the function a `jax.ShapeDtypeStruct` with the sizes that it reads.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from .sites import DimPart, Function, InitPart
from .values import Array, Int, Shape, Unknown, Value


def of_call(run: Any, node: ast.Call, env: Any) -> dict[ast.expr, tuple[InitPart, ...]]:
    """The arguments of a call that are arrays, as the constructor says them; nothing where it cannot."""
    jax = _name_of_jax(run, env) if env.source is run.model.source else None
    if jax is None:
        return {}
    found: dict[ast.expr, tuple[InitPart, ...]] = {}
    for argument, axes in arrays(run, node).items():
        value = run.evaluated[argument].value
        sizes = _sizes(value.shape, axes) if axes and isinstance(value, Array) else None
        if sizes is None:
            return {}
        comma = "," if len(sizes) == 1 else ""
        parts = [part for size in sizes for part in (", ", size)][1:]
        found[argument] = (f"{jax}.ShapeDtypeStruct((", *parts, f"{comma}), float)")
    return found


def arrays(run: Any, node: ast.Call) -> dict[ast.expr, set[int] | None]:
    """The arguments of a call of a function of the program that are arrays, and the axes whose sizes it reads.

    Nothing where the function is not known.
    """
    callee = run.evaluated.get(node.func)
    function = callee.value if callee is not None else None
    if not isinstance(function, Function) or function.method is not None or function.env is None:
        return {}
    arguments = function.node.args
    places = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if len(node.args) > len(places) or any(isinstance(a, ast.Starred) for a in node.args):
        return {}
    if function.env.method is not None or not _is_bound_once(function, node.func):
        return {}
    given = [*zip(places, node.args), *((k.arg, k.value) for k in node.keywords)]
    known = {argument: run.evaluated.get(argument) for _, argument in given}
    found = {n: a for a, n in given if (k := known[n]) is not None and not k.static and _may_be_array(k.value)}
    return {argument: _axes_read(function, name) if name is not None else None for argument, name in found.items()}


def of_sizes(run: Any, node: ast.Call) -> bool:
    """Is it a call of a function of the program that is given sizes, fields and constants alone: `uniform(x.shape[-1])`?"""
    callee = run.evaluated.get(node.func)
    function = callee.value if callee is not None else None
    if not isinstance(function, Function) or function.method is not None or function.env is None:
        return False
    if function.env.method is not None or function.env.in_method() or not _is_bound_once(function, node.func):
        return False
    given = [run.evaluated.get(a) for a in (*node.args, *(k.value for k in node.keywords))]
    starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    return not starred and all(a is not None and not a.flags and (a.static or isinstance(a.value, Int)) for a in given)


def _may_be_array(value: Value) -> bool:
    return isinstance(value, Array) or type(value) is Unknown


def _is_bound_once(function: Function, callee: ast.expr) -> bool:
    """Does its file bind the function's name nowhere else?"""
    name, kinds = ast.unparse(callee).rpartition(".")[2], function.source.by_kind
    stored = [n for n in kinds.get(ast.Name, ()) if n.id == name and not isinstance(n.ctx, ast.Load)]  # type: ignore[attr-defined]
    return len(stored) + sum(n.name == name for n in kinds.get(ast.FunctionDef, ())) == 1  # type: ignore[attr-defined]


def _name_of_jax(run: Any, env: Any) -> str | None:
    """What jax is called where the call stands, and in the constructor."""
    names = env.source.names
    for name, target in names.module_imports.items():
        if target == "jax" and name not in names.definitions and env.get(name) is None and name not in run.fields:
            return str(name)
    return None


def _axes_read(function: Function, name: str) -> set[int] | None:
    """The axes whose sizes a function reads of an argument, `x.shape[1]`; None where it does anything else with it."""
    axes: set[int] = set()
    inner = [n for n in subtree(function.node) if isinstance(n, ast.FunctionDef | ast.Lambda) and n is not function.node]
    if any(a.arg == name for n in inner for a in ast.walk(n.args) if isinstance(a, ast.arg)):
        return None
    for node in subtree(function.node):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        shape = function.source.parents.get(node)
        read = function.source.parents.get(shape) if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None
        if not isinstance(read, ast.Subscript) or read.value is not shape:
            return None
        try:
            axis = ast.literal_eval(read.slice)
        except ValueError:
            return None
        if not isinstance(axis, int):
            return None
        axes.add(axis)
    return axes


def _sizes(shape: Shape, axes: set[int]) -> list[InitPart] | None:
    """The sizes of the axes that are read, among all of them; None stands for the others."""
    whole = shape.lead is None
    count = len(shape.dims) if whole else -min(axes)
    if any(axis >= count or axis < -count or (axis >= 0 and not whole) for axis in axes):
        return None
    read = {axis % count for axis in axes}
    sizes: list[InitPart] = []
    for place in range(count):
        dim = shape.dim(place - count) if place in read else None
        if place in read and dim is None:
            return None
        sizes.append(DimPart(dim) if dim is not None else "None")
    return sizes


__all__ = ["arrays", "of_call", "of_sizes"]
