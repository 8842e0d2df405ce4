"""Functions of the project that only map or add up their one tree, and that programs call with trees of several kinds.

    replicate = lambda tree: jax.device_put_replicated(tree, devices)
    params, opt_state = replicate(params), replicate(opt_state)

    def count(tree):
        return sum(leaf.size for leaf in jax.tree.leaves(tree))

A name has one value in the flow, so that such a parameter may be anything, or joins models that have nothing else in common.
The calls are taken for calls of a library's function that does as much: it gives what it is given, or a number.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...catalog.tree_functions import TREE_MAPS
from ...trees import subtree
from .flow_values import Function, Instance, Items, Nothing, Record, Tracked, sites_of

if TYPE_CHECKING:
    from .flow import Flow

# What such calls are taken for.
_MAPPING, _ADDING = "flax.jax_utils.unreplicate", "optax.global_norm"
# Functions that give a tree of the same structure, with what is in each leaf or copies of it.
_PLACING = {
    *("flax.jax_utils.replicate", "flax.jax_utils.unreplicate", "jax.block_until_ready", "jax.device_get"),
    *("jax.device_put", "jax.device_put_replicated"),
}
_LEAVES = {"jax.tree.leaves", "jax.tree_leaves", "jax.tree_util.tree_leaves"}
_NORMS = {"optax.global_norm", "optax.tree.norm", "optax.tree_utils.tree_l2_norm"}
_OF_ALL = {"sum", "max", "min", "any", "all", "len"}  # these have no order
_BUILTINS = {*_OF_ALL, "abs", "float", "int", "bool", "round"}
_METHODS = {"astype", "copy", "reshape", "mean", "sum", "max", "min", "all", "any", "item", "std", "var"}
_FILES = ("save", "load")
_PURE = ("jax.numpy.", "numpy.", "jax.device_get", "jax.device_put")


def find(flow: Flow) -> dict[ast.AST, str]:
    """What is called in the calls of such functions, and what that is taken for."""
    helpers = {node: _taken_for(flow, node) for node in flow.source_of if isinstance(node, ast.FunctionDef | ast.Lambda)}
    helpers = {function: taken for function, taken in helpers.items() if taken}
    calls: dict[ast.AST, list[ast.Call]] = {}
    said: Counter[ast.AST] = Counter()
    for node, source in flow.source_of.items() if helpers else ():
        value = flow.value(node) if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) else None
        if isinstance(value, Function):
            call = source.parents[node]
            said.update(value.nodes)
            if isinstance(call, ast.Call) and call.func is node and len(value.nodes) == 1 and value == Function(value.nodes):
                calls.setdefault(next(iter(value.nodes)), []).append(call)
    found: dict[ast.AST, str] = {}
    for function, called in calls.items():
        if function in helpers and len(called) == said[function] and _of_several_kinds(flow, function, called):
            found.update((call.func, helpers[function]) for call in called)
    return found


def _taken_for(flow: Flow, function: ast.AST) -> str:
    parameter, result = _one_result(function)
    if result is None or not _alone(flow, result, parameter):
        return ""
    return _MAPPING if _maps(flow, result, parameter) else _ADDING if _adds(flow, result, parameter) else ""


def _alone(flow: Flow, result: ast.AST, parameter: str) -> bool:
    """Does what a function gives read nothing of a model but what it is given? Who calls it would have to know."""
    source = flow.source_of[result]
    for name in subtree(result):
        if isinstance(name, ast.Name) and name.id != parameter:
            clashes = flow.symbol(source, name) in flow.clashes
            if clashes or name.id == "self" or isinstance(flow.value(name), Tracked | Items | Instance | Record):
                return False
    return True


def _of_several_kinds(flow: Flow, function: ast.AST, calls: list[ast.Call]) -> bool:
    """Has the parameter no value for all that it is given, or one for trees of several models?"""
    if any(len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred) for call in calls):
        return False
    held = flow.env.get((flow.source_of[function].module, function, _one_result(function)[0]))
    if held is None or isinstance(held, Items | Nothing):
        return False
    return not isinstance(held, Tracked) or any(sites_of(flow.value(call.args[0])) != held.sites for call in calls)


def _one_result(function: ast.AST) -> tuple[str, ast.AST | None]:
    """The parameter and the result of a function that has one of each, and does nothing else."""
    spec = function.args if isinstance(function, ast.FunctionDef | ast.Lambda) else None
    if (
        spec is None
        or len(spec.args) != 1
        or spec.posonlyargs
        or spec.kwonlyargs
        or spec.vararg
        or spec.kwarg
        or spec.defaults
    ):
        return "", None
    parameter = spec.args[0].arg
    if isinstance(function, ast.Lambda):
        return parameter, function.body
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return "", None
    said = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return parameter, said[0].value if len(said) == 1 and isinstance(said[0], ast.Return) else None


def _maps(flow: Flow, result: ast.AST | None, parameter: str) -> bool:
    """Is a result the mapped tree, or a copy of it on some devices?"""
    if not isinstance(result, ast.Call) or result.keywords or not result.args:
        return False
    name, args = flow.name(result.func) or "", result.args
    over = name in TREE_MAPS and len(args) == 2
    pure = _is_pure(flow, args[0]) if over else name in _PLACING
    tree = args[1 if over else 0]
    return pure and isinstance(tree, ast.Name) and tree.id == parameter and len(_said(result, parameter)) == 1


def _adds(flow: Flow, result: ast.AST | None, parameter: str) -> bool:
    """Is a result made of numbers that no order of the leaves changes?"""
    if result is None or not all(_computes(flow, call.func) for call in _calls(result)):
        return False
    summed = [call.args[0] for call in _calls(result) if _is_added(flow, call, parameter)]
    return len(summed) > 0 and sum(len(_said(tree, parameter)) for tree in summed) == len(_said(result, parameter))


def _is_added(flow: Flow, call: ast.Call, parameter: str) -> bool:
    """`sum(leaf.size for leaf in jax.tree.leaves(tree))`, `optax.global_norm(tree)`."""
    if len(call.args) != 1 or call.keywords:
        return False
    given, name = call.args[0], flow.name(call.func) or ""
    if name in _NORMS:
        return isinstance(given, ast.Name) and given.id == parameter
    if not (isinstance(call.func, ast.Name) and call.func.id in _OF_ALL):
        return False
    if isinstance(given, ast.GeneratorExp | ast.ListComp):
        loop = given.generators[0]
        if len(given.generators) != 1 or loop.is_async or any(_said(part, parameter) for part in (given.elt, *loop.ifs)):
            return False
        given = loop.iter
    leaves = isinstance(given, ast.Call) and flow.name(given.func) in _LEAVES and len(given.args) == 1
    return leaves and isinstance(given.args[0], ast.Name) and given.args[0].id == parameter  # type: ignore[attr-defined]


def _said(node: ast.AST, name: str) -> list[ast.Name]:
    return [n for n in subtree(node) if isinstance(n, ast.Name) and n.id == name]


def _is_pure(flow: Flow, function: ast.AST) -> bool:
    """Does a function give the same for the same leaf, whatever came before, and look at nothing but the leaf?"""
    if not isinstance(function, ast.Lambda):
        return _computes(flow, function)
    return all(_computes(flow, call.func) for call in _calls(function)) and not any(
        isinstance(n, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for n in subtree(function)
    )


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (n for n in subtree(node) if isinstance(n, ast.Call))


def _computes(flow: Flow, function: ast.AST) -> bool:
    name = flow.name(function) or ""
    if isinstance(function, ast.Name) and not name:
        return function.id in _BUILTINS and flow.source_of[function].names.binding_scope(function.id, function) is None
    if isinstance(function, ast.Attribute) and not name:
        return function.attr in _METHODS
    known = name in _LEAVES | _NORMS | TREE_MAPS | _PLACING or name.startswith(_PURE)
    return known and not name.startswith("numpy.random.") and not name.rpartition(".")[2].startswith(_FILES)
