"""Functions that are handed the model to apply it: what they are handed in the functional form is its structure.

loss_fn(model, params, x)           →   loss_fn(state.graphdef, params, x)
def loss_fn(model, params, x):      →   def loss_fn(graphdef, params, x):
  y = model.apply(params, x)              y = nnx.merge(graphdef, params)(x)

A function in which the structure is in sight needs no other; one that initializes the model is handed the model. What a
function returns beside the params that it has made (`model, params = create_model(key)`) is a structure likewise.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Method, Model, Symbol
from . import handed_apply, returned_models
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional


def find(form: _Functional) -> set[Symbol]:
    """The names that become structures: of those that need one, and of those that hand it to them."""
    found: set[Symbol] = set()
    needing = [node.value for node in _applied(form) if not form.is_in_sight(form.parent(node), node.value)]
    todo = [symbol for base in needing if (symbol := _place(form, base)) is not None]
    while todo:
        symbol = todo.pop()
        if symbol in found or _initializes(form, symbol):
            continue
        found.add(symbol)
        if form.is_parameter(symbol):
            given = _given(form, symbol)
        else:
            given, others = returned_models.convert(form, symbol)
            for other in others:
                if _initializes(form, other):
                    raise Unsupported(given[0], "a model that a function returns, and that is initialized again")
            todo += others
        for expression in given:
            own = _place(form, expression)
            if own is not None and not form.is_in_sight(expression, expression):
                todo.append(own)
        for node, value in form.uses:
            if isinstance(value, Model) and isinstance(node, ast.Name) and _place(form, node) == symbol:
                todo += form.receivers(node)
    return found


def name_of(form: _Functional, base: ast.expr) -> str:
    """The name under which a function has the structure that it is given; "" where `base` is no such name."""
    symbol = _place(form, base)
    if not isinstance(base, ast.Name) or symbol not in form.structures:
        return ""
    return handed_apply.name_of(form, base) if form.is_parameter(symbol) else returned_models.name_of(form, symbol)


def hand_on(form: _Functional, node: ast.AST) -> bool:
    """A model in the place of a structure: its text is now the structure's."""
    assert isinstance(node, ast.expr)
    own = name_of(form, node)
    given = form.receivers(node)
    wanted = form.structures.intersection(given)
    if not wanted and not returned_models.returns(form, node):
        if own and not isinstance(form.parent(node), ast.Attribute):
            raise Unsupported(node, "a module that is applied, and used in another way")
        return False
    if len(wanted) < len(given) or isinstance(node, ast.Call):
        raise Unsupported(node, "a module that is handed to unlike functions")
    text = own or form.structure(node, node)
    if not text:
        raise Unsupported(node, "apply where the model's structure is not in sight")
    form.replace(node, text)
    return True


def _applied(form: _Functional) -> list[ast.Attribute]:
    found = (node for node, value in form.uses if isinstance(value, Method) and value.name == "apply")
    return [node for node in found if isinstance(node, ast.Attribute) and isinstance(form.flow.value(node.value), Model)]


def _place(form: _Functional, node: ast.expr) -> Symbol | None:
    """The parameter or the result of a function that a name stands for, where it never stands for anything else."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    symbol = form.bound_once(node)
    if symbol is None or not (form.is_parameter(symbol) or returned_models.is_result(form, symbol)):
        return None
    return symbol


def _initializes(form: _Functional, symbol: Symbol) -> bool:
    return any(
        isinstance(value, Method) and value.name != "apply" and _place(form, node.value) == symbol
        for node, value in form.uses
        if isinstance(node, ast.Attribute)
    )


def _given(form: _Functional, symbol: Symbol) -> list[ast.expr]:
    """All that a parameter is ever given. Unsupported where that is not known."""
    _, scope, name = symbol
    assert isinstance(scope, ast.FunctionDef | ast.Lambda)
    names = [a.arg for a in [*scope.args.posonlyargs, *scope.args.args]]
    partials = form.flow.partials.get(scope, {})
    calls = form.flow.callers.get(scope, {})
    found: list[ast.expr] = []
    by_name = any(keyword.arg == name for call in partials for keyword in call.keywords)
    for call in [*partials, *calls]:
        of = call.args[0] if call in partials else call.func
        given = call.args[1:] if call in partials else call.args
        function = form.flow.value(of)
        if not isinstance(function, Function) or any(isinstance(a, ast.Starred) for a in given):
            raise Unsupported(call, "a function that is handed a module in another way")
        position = names.index(name) - function.bound if name in names else len(given)
        said = [keyword.value for keyword in call.keywords if keyword.arg == name]
        if 0 <= position < len(given):
            said.append(given[position])
        if not said and call in calls and position >= 0 and not by_name:
            raise Unsupported(call, "a function that is handed a module in another way")
        found += said
    if not found or any(symbol not in form.receivers(node) for node in found):
        raise Unsupported(scope, "a function that is handed a module in another way")
    return found
