"""What the arguments of the methods are that code outside calls: arrays of unknown shape, flags, sizes."""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from collections.abc import Iterator
from typing import Any

from ...trees import of_kind, subtree
from ..modules import by_passes, given_carries
from ..modules.module_calls import INITIAL_CARRY
from ..modules.self_calls import dtype_default
from ..project.classes import ClassModel, Method
from ..shapes import shape_ops
from ..values import rest_arguments, tuple_arguments
from ..values.dims import Dim
from ..values.sites import Abs
from ..values.values import Array, Const, DtypeOf, Int, Shape, ShapeOf, Tup, Unknown
from . import shape_arguments

_DROPS = re.compile(r"(^|_)drop(out)?_(rate|prob|p)$")  # a number, and of modules without variables


def of_method(run: Any, method: Method) -> dict[str, Abs]:
    """What the arguments of an entry method are."""
    arguments = {p.arg: _argument(run, method, p) for p in method.parameters}
    arguments |= run.given_arguments.get(method.name, {})
    if method.vararg:
        arguments[method.vararg] = rest_arguments.of_entry(method)
    if method.node.args.kwarg:
        arguments[method.node.args.kwarg.arg] = Abs(Unknown(f"**{method.node.args.kwarg.arg}"))
    return arguments


@contextlib.contextmanager
def followed(model: ClassModel) -> Iterator[dict[str, int]]:
    """What operations tell of a class's own arguments while its code is followed, as it asks for sizes of some."""
    sized = frozenset[str]().union(*[_sized(method.node) for method in model.methods().values()])
    with shape_ops.implied_ranks() as implied, shape_ops.sized(sized):
        yield implied


@functools.lru_cache(maxsize=4096)
def _sized(function: ast.FunctionDef) -> frozenset[str]:
    """`x` of `x.shape[-1]`, which no number has, where nothing else takes its name."""
    shapes = [n.value for n in of_kind(function, ast.Subscript) if isinstance(n.value, ast.Attribute)]
    owners = [shape.value for shape in shapes if shape.attr == "shape"]
    stored = {n.id for n in of_kind(function, ast.Name) if not isinstance(n.ctx, ast.Load)}
    return frozenset(owner.id for owner in owners if isinstance(owner, ast.Name)) - stored


def _argument(run: Any, method: Method, parameter: ast.arg) -> Abs:
    """What an argument of an entry method is: an array of unknown shape, or a Python-level flag."""
    name = parameter.arg
    if method.name == "__call__" and name in run.number_arguments:
        return Abs(Int(Dim.input(name, -1)))
    annotation = run.project.said(parameter.annotation) if parameter.annotation else ""
    default = method.default(name)
    if _is_plain(run, method, default) or _DROPS.search(name):
        return Abs(Unknown(f"argument {name}"), flags=frozenset({name}))
    if dtype_default(run, method, name):
        return Abs(DtypeOf(name), flags=frozenset({name}))
    head = annotation.replace("Optional[", "").replace("typing.", "").rstrip("]").split("|")[0].strip()
    if head in ("bool", "int", "float", "str", "Callable", "Sequence[int]"):
        return Abs(Unknown(f"argument {name}"), flags=frozenset({name}))
    if name in ("train", "training", "deterministic", "is_training", "eval", "test", "rngs", "rng", "mode"):
        return Abs(Unknown(f"argument {name}"), flags=frozenset({name}))
    is_asked = default is None and _asks_for(method.node, name)
    if (isinstance(default, ast.Constant) and default.value is None) or is_asked:
        run.optional_arguments.add(name)
    is_shape = default is None and shape_arguments.is_shape(method.node, name)
    count = 0 if is_shape else tuple_arguments.items(method.node, name, picked=name not in run.ranks)
    if count and default is None:
        named = [f"{name}[{i}]" for i in range(count)]
        shapes = [Shape.ranked(n, run.ranks[n]) if n in run.ranks else Shape.argument(n) for n in named]
        return Abs(given_carries.of_argument(run, name, Tup(tuple(Array(shape) for shape in shapes))))
    if method.name == "__call__" and name in run.analyser.given_trees.get(run.model.qualname, ()):
        return Abs(Unknown(f"argument {name}"))
    if method.name == "__call__" and default is None and not is_shape and by_passes.is_gone_through(run, method, parameter):
        return Abs(Unknown(f"argument {name}"))
    shape = Shape.argument(name)
    if method.name == INITIAL_CARRY and name == "input_shape":
        return Abs(ShapeOf(shape))
    rank = run.ranks.get(name)
    if rank is not None:
        shape = Shape.ranked(name, rank)
    if is_shape:
        run.shape_arguments.add(name)
        return Abs(ShapeOf(shape))
    array = given_carries.of_argument(run, name, Array(shape))
    return Abs(array, flags=frozenset({name}) if default is not None or is_asked else frozenset())


def _is_plain(run: Any, method: Method, default: ast.expr | None) -> bool:
    """Is an argument's default a number, a truth value or a text, also by the name of a constant: `rate=RATE`?"""
    if isinstance(default, ast.Constant):
        return isinstance(default.value, bool | int | float | str)
    held = run.constant(default, method.source).value if isinstance(default, ast.Name | ast.Attribute) else None
    return isinstance(held, Int) or (isinstance(held, Const) and isinstance(held.value, bool | int | float | str))


@functools.lru_cache(maxsize=4096)
def _asks_for(function: ast.FunctionDef, name: str) -> bool:
    """Does a condition ask whether an argument is None? Then callers give None, whether or not that is the default."""
    for node in subtree(function):
        if isinstance(node, ast.If | ast.IfExp) and not (isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise)):
            for test in subtree(node.test):
                if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot):
                    if [ast.unparse(side) for side in (test.left, *test.comparators)] == [name, "None"]:
                        return True
    return False


__all__ = ["of_method"]
