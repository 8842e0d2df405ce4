"""Functions under `jax.grad` and `jax.value_and_grad`: which argument they are derived by, and what a call of one gives.

Derivatives by the inputs of a model (`jax.grad(jax.grad(u, 2), 2)(params, t, x)`) are followed for what the function gets.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from .flow_dictionaries import is_tree
from .flow_values import ANY, Entries, Function, Gradients, Items, Nothing, Tracked, Value, is_sequence

if TYPE_CHECKING:
    from .flow import Flow


def of(flow: Flow, transform: str, node: ast.Call) -> Value:
    """`jax.value_and_grad(loss_fn, argnums=2, has_aux=True)`, `jax.grad(loss_fn, argnums=(0, 1))`."""
    function = flow.value(node.args[0])
    if isinstance(function, Nothing):
        return function
    keywords = {k.arg: k.value for k in node.keywords}
    if not isinstance(function, Function) or len(node.args) > 2 or function.several:
        return ANY
    inner: tuple[int, ...] = ()
    if transform == "derivative" or function.transform:
        if function.has_aux or function.transform == "value_and_grad" or transform == "value_and_grad":
            return ANY
        inner = (*function.inner, function.argnum) if function.transform else ()
        transform = "derivative"
    if not keywords.keys() <= {"has_aux", "argnums", "allow_int", "holomorphic"}:
        return ANY
    said = keywords.get("argnums", node.args[1] if len(node.args) > 1 else ast.Constant(0))
    listed = [n.value if isinstance(n, ast.Constant) else None for n in getattr(said, "elts", [said])]
    numbers = tuple(number for number in listed if isinstance(number, int) and number >= 0)
    several = numbers if isinstance(said, ast.Tuple | ast.List) else ()
    if not numbers or len(numbers) < len(listed) or (several and (transform == "derivative" or function.bound)):
        return ANY
    aux = keywords.get("has_aux")
    has_aux = isinstance(aux, ast.Constant) and bool(aux.value)
    if transform == "derivative" and aux is not None:
        return ANY
    found = dataclasses.replace(function, transform=transform, has_aux=has_aux, argnum=numbers[0], inner=inner)
    return dataclasses.replace(found, several=several)


def is_derived(function: Function, call: ast.Call, node: ast.AST) -> bool:
    """Is an argument one that a derivative is of? What comes of a tree of params is followed by nobody."""
    if function.transform != "derivative":
        return False
    derived = (function.argnum, *function.inner)
    return not any(node is given and index not in derived for index, given in enumerate(call.args))


def result(flow: Flow, function: Function, returned: Value, args: list[ast.expr]) -> Value:
    """What a call gives: gradients like the argument that they are of, with the value, and what comes beside it."""
    gradients = _by(flow, args, function.argnum)
    if function.several:
        each = [_by(flow, args, number) for number in function.several]
        gradients = next((value for value in each if isinstance(value, Nothing)), Items(tuple(each)))
    if function.transform == "derivative":
        return ANY
    if function.transform != "grad":
        return Items((returned, gradients))
    if not function.has_aux:
        return gradients
    if isinstance(returned, Items) and is_sequence(returned, 2):
        return Items((gradients, returned.items[1]))
    return Items((gradients, ANY))


def _by(flow: Flow, args: list[ast.expr], number: int) -> Value:
    """The gradients by one argument."""
    given = flow.value(args[number]) if len(args) > number else ANY
    return given if isinstance(given, Nothing) else _like(given)


def _like(given: Value) -> Value:
    """Gradients of a tree, or of a dictionary of trees."""
    if isinstance(given, Entries) and is_tree(given):
        return dataclasses.replace(given, items=tuple(map(_like, given.items)))
    return Gradients(given.sites) if isinstance(given, Tracked) else ANY
