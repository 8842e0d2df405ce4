"""Functions that return trees of a model: all that call them are to know what they are given.

    MAKERS = {"net": make_params}
    params = MAKERS["net"](key)     # Linen's dictionaries before, and a state of nnx afterwards

A decorator that is not known may do the same with the function, and so may whatever it is handed to.
"""

from __future__ import annotations

import ast

from ...linen.flow import compiled_ahead, flow_classes
from ...linen.flow.flow_values import ANY, Function, Items, Value
from .passed_trees import PassedTrees
from .rewrite import Unsupported

_LOOKS = {"as_text", "cost_analysis", "memory_analysis", "clear_cache", "__name__", "__qualname__", "__doc__"}
_HANDED_BY = ("__init__", "__post_init__")


def check(form: PassedTrees) -> None:
    """Unsupported where the result of such a function goes where the flow of values does not know it."""
    for function, value in form.flow.uses.returning(form.component.sites):
        if form.has(value):
            _check(form, function, set())


def _check(form: PassedTrees, function: ast.AST, seen: set[ast.AST]) -> None:
    if function in seen:
        return
    seen.add(function)
    if isinstance(function, ast.FunctionDef):
        if function.decorator_list and flow_classes.decorated(form.flow, function) == ANY:
            raise Unsupported(function.decorator_list[0], "a decorated function that returns params")
        if _is_special(form, function):
            raise Unsupported(function, "a method that Python calls by itself, and that returns params")
    for node, _ in form.flow.uses.references(function):
        _follow(form, function, node, seen)


def _follow(form: PassedTrees, function: ast.AST, node: ast.AST, seen: set[ast.AST]) -> None:
    """Is what stands for the function called where its result is known, or given on to where all of that is seen?"""
    parent = form.parent(node)
    call = form.over_keyword(parent)
    if isinstance(call, ast.Call) and call.func is node:
        known = form.flow.value(call)
        if not (form.has(known) or _has_function(known, seen) or isinstance(form.parent(call), ast.Expr)):
            raise Unsupported(call, "a result that is not followed")
        return
    if isinstance(call, ast.Call):
        if _has_function(form.flow.value(call), {function}):  # `jax.jit(make)`
            _follow(form, function, call, seen)
            return
        if form.has(form.flow.value(call)) or any(form.flow.env.get(symbol) for symbol in form.receivers(node)):
            return
    elif isinstance(parent, ast.Tuple | ast.List) and _has_function(form.flow.value(parent), {function}):
        _follow(form, function, parent, seen)
        return
    elif isinstance(parent, ast.Attribute) and parent.attr in compiled_ahead.STEPS:
        made = form.parent(parent)
        if isinstance(made, ast.Call) and _has_function(form.flow.value(made), {function}):
            _follow(form, function, made, seen)
            return
    elif isinstance(parent, ast.Attribute) and parent.attr in _LOOKS:
        return
    elif isinstance(parent, ast.Subscript) and parent.value is node:
        return  # the item is a reference of its own
    elif isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is node:
        targets: list[ast.expr] = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        if all(_has_function(form.flow.value(name), {function}) for name in _named(targets, form.flow.value(node))):
            return
    elif isinstance(parent, ast.Return | ast.Lambda):
        outer = parent if isinstance(parent, ast.Lambda) else form.function(node)
        if outer is not None:
            _check(form, outer, seen)
            return
    raise Unsupported(node, "a function that returns params and is handed on")


def _named(targets: list[ast.expr], value: Value) -> list[ast.expr]:
    """What is given functions of the value, of names that take it apart."""
    found = []
    for target in targets:
        if isinstance(target, ast.Tuple) and isinstance(value, Items) and len(value.items) == len(target.elts):
            found += [e for e, item in zip(target.elts, value.items, strict=True) if isinstance(item, Function)]
        else:
            found.append(target)
    return found


def _has_function(value: Value, functions: set[ast.AST]) -> bool:
    if isinstance(value, Items):
        return any(_has_function(item, functions) for item in value.items)
    return isinstance(value, Function) and not functions.isdisjoint(value.nodes)


def _is_special(form: PassedTrees, function: ast.FunctionDef) -> bool:
    """`__getitem__` and the like, of which no call says the name."""
    special = function.name.startswith("__") and function.name.endswith("__")
    return special and function.name not in _HANDED_BY and isinstance(form.parent(function), ast.ClassDef)
