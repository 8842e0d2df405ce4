"""Functions that nothing of the project mentions: they take what the functions beside them take.

    def predict(params, x):                             # for a notebook, or for nobody any more
        return model.apply({"params": params}, x)

No call says what `params` are. What the model is applied with is what its program has for them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...trees import subtree
from .flow_values import Collection, Method, Nothing, Symbol, Tracked, Value, Variables, join

if TYPE_CHECKING:
    from ...source import SourceFile
    from ..project.index import Project
    from .flow import Flow

_COMPILING = {"jax.jit", "jax.pjit", "functools.partial"}


def is_unmentioned(project: Project, source: SourceFile, function: ast.FunctionDef) -> bool:
    """Does nothing of the project say the name of a function of a file, but imports and the function itself?"""
    name = project.canonical(f"{source.module}.{function.name}" if source.module else function.name)
    if project.definition(name) != (source, function):
        return False
    own = set(subtree(function))
    for file in project.files_saying(function.name):
        if any(node not in own and project.qualname(file, node) in (name, None) for node in file.saying(function.name)):
            return False
        if any(isinstance(n, ast.Constant) and n.value == function.name for n in file.by_kind.get(ast.Constant, ())):
            return False
    return True


def bind(flow: Flow) -> dict[ast.FunctionDef, Tracked]:
    """Gives the parameters of such functions their values: the functions, each with a value of those."""
    found: dict[ast.FunctionDef, Tracked] = {}
    for source in flow.project.files.values():
        for function in source.tree.body if "apply" in source.words else ():
            if not isinstance(function, ast.FunctionDef) or flow.is_module_code(function) or function in flow.callers:
                continue
            given = _applied_with(flow, source, function)
            if given and _for_nobody(flow, source, function) and is_unmentioned(flow.project, source, function):
                found[function] = next(iter(given.values()))
                flow.env.update(given)
    return found


def _for_nobody(flow: Flow, source: SourceFile, function: ast.FunctionDef) -> bool:
    """Is it no test, whose values are fixtures, nor registered by a decorator?"""
    called = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return not function.name.startswith("test") and all(flow.project.qualname(source, d) in _COMPILING for d in called)


def _applied_with(flow: Flow, source: SourceFile, function: ast.FunctionDef) -> dict[Symbol, Tracked]:
    """The parameters that are variables of models which the function applies."""
    found: dict[Symbol, Value | None] = {}
    required = function.args.args[: len(function.args.args) - len(function.args.defaults)]
    for call in subtree(function):
        method = flow.value(call.func) if isinstance(call, ast.Call) and call.args else None
        if not isinstance(call, ast.Call) or not (isinstance(method, Method) and method.name == "apply" and method.sites):
            continue
        for name, value in _variables(call.args[0], method):
            symbol = flow.symbol(source, name)
            if symbol[1] is function and isinstance(flow.value(name), Nothing):
                if any(parameter.arg == name.id for parameter in required) and _is_kept(function, symbol):
                    found[symbol] = join(found.get(symbol), value)
    return {symbol: value for symbol, value in found.items() if isinstance(value, Tracked)}


def _variables(node: ast.expr, method: Method) -> list[tuple[ast.Name, Value]]:
    """`params` of `{"params": params}`, and `variables` themselves."""
    if isinstance(node, ast.Name):
        return [(node, Variables(method.sites))]
    items = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return [
        (value, Collection(method.sites, str(key.value)))
        for key, value in items
        if isinstance(key, ast.Constant) and key.value in ("params", "batch_stats") and isinstance(value, ast.Name)
    ]


def _is_kept(function: ast.FunctionDef, symbol: Symbol) -> bool:
    """Does the function never give the parameter another value?"""
    names = (n for n in subtree(function) if isinstance(n, ast.Name) and n.id == symbol[2])
    return all(isinstance(name.ctx, ast.Load) for name in names)
