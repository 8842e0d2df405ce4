"""Functions of single leaves that go by the order in which they are called: which leaf is the next one.

    rng = np.random.default_rng(0)
    noisy = jax.tree.map(lambda p: p + rng.standard_normal(p.shape), params)

An nnx.State gives its leaves in another order than Linen's dictionaries where a list has ten items or more. Functions that
the code does not show are taken to give the same for the same leaf.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...catalog.tree_functions import TREE_MAPS
from ...linen.flow.flow_values import Function, Instance
from ...source import SourceFile
from ...trees import subtree
from . import methods
from .rewrite import Rewrite

REDUCTIONS = {"jax.tree.reduce", "jax.tree_util.tree_reduce"}
MAPS = TREE_MAPS | {"jax.tree_util.tree_multimap", "jax.tree_multimap"}
_RANDOM = ("numpy.random.", "random.", "secrets.", "time.")
_DRAWING = {
    *("rand", "randn", "randint", "random", "integers", "standard_normal", "normal", "uniform", "choice", "permutation"),
    *("shuffle", "random_sample", "binomial", "poisson", "exponential", "gauss", "laplace", "next_rng_key", "make_rng"),
}
_CHANGING = {
    "append",
    "add",
    "extend",
    "insert",
    "pop",
    "popleft",
    "popitem",
    "update",
    "remove",
    "setdefault",
    "write",
    "send",
}
_OF_ARRAYS = {
    *("sum", "mean", "max", "min", "any", "all", "std", "var", "prod", "item", "copy", "flatten", "ravel", "squeeze"),
    *("items", "keys", "values", "lower", "upper", "conj", "tolist", "transpose"),
}
_SUMMING = {
    *("operator.add", "operator.mul", "operator.and_", "operator.or_"),
    *(f"{numpy}.{name}" for numpy in ("jax.numpy", "numpy") for name in ("add", "multiply", "maximum", "minimum")),
    *(f"{numpy}.logical_{name}" for numpy in ("jax.numpy", "numpy") for name in ("and", "or")),
}
_DEPTH = 4  # functions that call functions


def by_order(form: Rewrite, call: ast.Call) -> bool:
    """Does a map or a reduction over trees give something else when the leaves come in another order?"""
    function = call.args[0] if call.args else None
    if function is None:
        return False
    if form.flow.name(call.func) in REDUCTIONS:
        return not _adds_up(form, function)
    return goes_by_calls(form, function)


def _adds_up(form: Rewrite, function: ast.expr) -> bool:
    """Is it `lambda total, leaf: total + f(leaf)`, or a function of that kind?"""
    if form.flow.name(function) in _SUMMING or (isinstance(function, ast.Name) and function.id in ("max", "min")):
        return True
    value = form.flow.value(function)
    for node in value.nodes if isinstance(value, Function) and not value.bound else ():
        names = [a.arg for a in [*node.args.posonlyargs, *node.args.args]]  # type: ignore[attr-defined]
        if len(names) < 2 or not all(_adds(form, body, names[0]) for body in _results(node)):
            return False
    return isinstance(value, Function)


def _results(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, ast.Lambda):
        return [node.body]
    return [inner.value for inner in subtree(node) if isinstance(inner, ast.Return)]


def _adds(form: Rewrite, node: ast.expr | None, total: str) -> bool:
    """Is it the total, together with something that is none of it?"""
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
        parts = [node.left, node.right]
    elif isinstance(node, ast.BoolOp):
        parts = node.values
    elif isinstance(node, ast.Call) and not node.keywords:
        known = form.flow.name(node.func) in _SUMMING or (isinstance(node.func, ast.Name) and node.func.id in ("max", "min"))
        parts = node.args if known else []
    whole = [part for part in parts if isinstance(part, ast.Name) and part.id == total]
    rest = [part for part in parts if part not in whole]
    return len(whole) == 1 and not any(isinstance(n, ast.Name) and n.id == total for part in rest for n in subtree(part))


def goes_by_calls(form: Rewrite, function: ast.expr, depth: int = _DEPTH) -> bool:
    """Does a function draw, count or remember, as far as the code shows it?"""
    if isinstance(function, ast.Attribute) and function.attr in _DRAWING and not _of_a_key(form, function):
        return True
    if (form.flow.name(function) or "").startswith(_RANDOM):
        return True
    value = form.flow.value(function)
    nodes = value.nodes if isinstance(value, Function) else [n for n in [_called(form, value)] if n is not None]
    return depth > 0 and any(_remembers(form, node, depth) for node in nodes)


def _called(form: Rewrite, value: object) -> ast.AST | None:
    """`__call__` of an object of the project."""
    found = form.flow.project.definition(value.cls) if isinstance(value, Instance) else None
    body = found[1].body if found is not None and isinstance(found[1], ast.ClassDef) else []
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == "__call__"), None)


def _remembers(form: Rewrite, function: ast.AST, depth: int) -> bool:
    source = form.source(function)
    own = source.names.bound_in(function)  # type: ignore[arg-type]
    for node in _body(function):
        if isinstance(node, ast.Nonlocal | ast.Global):
            return True
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            if not _is_own(node, own - {"self"}):
                return True
        if isinstance(node, ast.Call) and _call_remembers(form, source, node, own, depth):
            return True
    return False


def _body(function: ast.AST) -> Iterator[ast.AST]:
    for part in function.body if isinstance(function, ast.FunctionDef) else [function.body]:  # type: ignore[attr-defined]
        yield from subtree(part)


def _call_remembers(form: Rewrite, source: SourceFile, call: ast.Call, own: frozenset[str], depth: int) -> bool:
    func = call.func
    if isinstance(func, ast.Name) and func.id == "next" and form.flow.name(func) in (None, "next", "builtins.next"):
        names = [n for n in subtree(call) if isinstance(n, ast.Name) and n is not func]
        return not all(name.id in own or not _is_bound(source, name) for name in names)
    if isinstance(func, ast.Attribute) and not _of_module(form, func) and not _is_own(func.value, own):
        if func.attr in _DRAWING | _CHANGING:
            return True
        if not call.args and not call.keywords and func.attr not in _OF_ARRAYS and not _is_pure_method(form, func):
            return True
    elif isinstance(func, ast.Name) and not call.args and not call.keywords and not _is_own(func, own):
        if not isinstance(form.flow.value(func), Function) and form.flow.name(func) is None and _is_bound(source, func):
            return True  # `draw()`: what would call it, if it gave the same each time?
    return goes_by_calls(form, func, depth - 1)


def _is_own(node: ast.expr, own: frozenset[str]) -> bool:
    """Does an expression begin with a name of the function itself?"""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return not isinstance(node, ast.Name) or node.id in own


def _is_bound(source: SourceFile, name: ast.Name) -> bool:
    return bool(source.names.binders(name.id))


def _of_module(form: Rewrite, function: ast.Attribute) -> bool:
    """`jax.random.normal`: a function of a library, by its dotted name."""
    name = form.flow.name(function) or ""
    return methods.of_library(form, name) and not name.startswith(_RANDOM)


def _of_a_key(form: Rewrite, function: ast.Attribute) -> bool:
    return (form.flow.name(function) or "").startswith(("jax.", "optax.", "distrax."))


def _is_pure_method(form: Rewrite, function: ast.Attribute) -> bool:
    """Is it a method of the project, which is looked at by itself?"""
    return isinstance(form.flow.value(function), Function)
