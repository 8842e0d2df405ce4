"""Params of the functional form where something looks at them by Linen's names: what saves, flattens or counts them.

    save_params(state.params, path)     →   save_params(linen_tree(state.graphdef, state.params), path)

The dictionaries are made anew, for what reads them and gives nothing back.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import SAME_TREE, Collection, Gradients, State, Symbol, Value, Variables, is_params
from ...trees import subtree
from . import functional_fields, trees
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

# What reads a tree in a function of the project, and keeps nothing of it.
_SAVERS = ("flax.serialization.", "flax.traverse_util.", "pickle.", "numpy.save", "jax.numpy.save")

_SAME = ("flax.core.unfreeze", "flax.core.freeze")
_PRINTING = ("print", "pprint.pprint")


def readers(form: _Functional) -> set[Symbol]:
    """The parameters of the project's functions that are only read: `def save_params(params, path)`."""
    found = set()
    for call in form.flow.uses.procedures:
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            if _is_params(form, given):
                received = form.receivers(given)
                if received and all(_is_read(form, symbol) for symbol in received):
                    found.update(received)
    return found


def hand_over(form: _Functional, node: ast.AST) -> bool:
    """Write a tree as Linen's dictionaries where it is given to one of these, or to a function that a library has."""
    if form.annotated or not isinstance(node, ast.expr) or not _is_params(form, node):
        return False
    parent = form.parent(node)
    call = form.over_keyword(parent)
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    received = form.receivers(node)
    whole = form.parent(call)
    while form.flow.name(call.func) in _SAME and isinstance(whole, ast.Call) and call in whole.args:
        call, whole = whole, form.parent(whole)  # `flatten_dict(unfreeze(params))`
    if received:
        given_over = form.read_only.issuperset(received)
    elif isinstance(whole, ast.Expr):
        given_over = trees.of_library(form, call) and trees.saves(form, call)
    else:
        given_over = trees.looks(form, call)
    graphdef = structure_of(form, node) if given_over else ""
    if given_over and isinstance(whole, ast.Expr):  # elsewhere somebody may go by the order in which init made them
        graphdef = graphdef or beside_init(form, node)
    if not graphdef:
        return False
    if isinstance(node, ast.Call) and form.flow.name(node.func) in _SAME:
        return True  # what it is given is written
    opening, closing = ("{'params': ", "}") if isinstance(form.flow.value(node), Variables) else ("", "")
    form.replace(node, f"{opening}{form.context(node).parity('linen_tree')}({graphdef}, ", node, f"){closing}")
    return True


def shown(form: _Functional, node: ast.AST) -> bool:
    """Write a tree as Linen's dictionaries where it is printed: `print(jax.tree.map(jnp.shape, params))`."""
    if form.annotated or not isinstance(node, ast.expr) or not _is_printed(form, node):
        return False
    value = form.flow.value(node)
    whole = isinstance(value, Variables)
    if not form.has(value) or not isinstance(value, Variables | Collection | Gradients):
        return False
    graphdef = structure_of(form, node) or beside_init(form, node)
    if not graphdef:
        return False
    if isinstance(value, Collection) and functional_fields.whole(form, value):
        raise Unsupported(node, "a field with all that init returned, by its names")
    single = len(form.parts) == 1
    opening, closing = ("{'params': ", "}") if whole and single else ("", "")
    written = form.context(node).parity("linen_tree" if single or not whole else "linen_values")
    form.replace(node, f"{opening}{written}({graphdef}, ", node, f"){closing}")
    return True


def _is_printed(form: _Functional, node: ast.expr) -> bool:
    """Is it an argument of `print`, or stands it in an f-string?"""
    call = form.parent(node)
    if isinstance(call, ast.FormattedValue):
        return True
    if not isinstance(call, ast.Call) or node not in call.args or not isinstance(form.parent(call), ast.Expr):
        return False
    own = isinstance(call.func, ast.Name) and form.source(node).names.binders(call.func.id)
    name = form.flow.name(call.func) or form.text(call.func)
    return name in _PRINTING and not (own and name == "print")


def beside_init(form: _Functional, node: ast.expr) -> str:
    """The structure's name in the function that calls init, below that call, where there is one model."""
    scope = form.function(node)
    home = form.kinds[0].homes.get(scope) if len(form.kinds) == 1 else None
    if home is None or home.lineno >= node.lineno or form.source(home) is not form.source(node):
        return ""
    around = form.source(home).tree if scope is None else scope
    body = getattr(around, "body", [])
    straight = isinstance(body, list) and form.statement(home) in body
    return form.kinds[0].graphdefs.get(scope, "") if straight else ""


def structure_of(form: _Functional, node: ast.expr) -> str:
    """`state.graphdef` for `state.params`, and for a name of what is made of them leaf by leaf; "" where it is not told."""
    tree = _made_of(form, node)
    if isinstance(tree, ast.Attribute) and tree.attr in form.parts and isinstance(form.flow.value(tree.value), State):
        steps = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
        plain = all(isinstance(part, steps) for part in subtree(tree.value))
        return f"{form.text(tree.value)}.graphdef" if plain else ""
    symbol = form.bound_once(tree) if isinstance(tree, ast.Name) else None
    stores = [n for n in form.flow.occurrences(symbol) if isinstance(n.ctx, ast.Store)] if symbol is not None else []
    statement = form.parent(stores[0]) if stores else None
    if not isinstance(statement, ast.Assign) or statement.targets != stores:
        return ""
    given = _made_of(form, statement.value)
    names = [n for n in subtree(given) if isinstance(n, ast.Name)]
    same = form.function(given) is form.function(node) and all(form.bound_once(name) is not None for name in names)
    return structure_of(form, given) if same else ""


def _made_of(form: _Functional, node: ast.expr) -> ast.expr:
    """The tree of which calls make another one, leaf by leaf: `state.params` in `jax.tree.map(f, state.params)`."""
    while isinstance(node, ast.Call):
        position = SAME_TREE.get(form.flow.name(node.func) or "", len(node.args))
        if position >= len(node.args):
            return node
        node = node.args[position]
    return node


def structure_of_variables(form: _Functional, node: ast.AST) -> str:
    """The same for the variables of a call of apply: `model.apply({'params': state.params}, x)`."""
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if isinstance(given, ast.Dict):
        named = {key.value: value for key, value in zip(given.keys, given.values) if isinstance(key, ast.Constant)}
        given = named.get("params")
    return structure_of(form, given) if given is not None else ""


def _is_params(form: _Functional, node: ast.expr) -> bool:
    value: Value = form.flow.value(node)
    params = is_params(value)
    return params and form.has(value) and (isinstance(value, Collection) or len(form.parts) == 1)


def _is_read(form: _Functional, symbol: Symbol) -> bool:
    """Is a parameter given to nothing but what reads it?"""
    function = symbol[1]
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or not form.is_parameter(symbol):
        return False
    for name in form.flow.occurrences(symbol):
        call = form.parent(name)
        if not (isinstance(name.ctx, ast.Load) and isinstance(call, ast.Call) and name in call.args):
            return False
        if not (form.flow.name(call.func) or "").startswith(_SAVERS):
            return False
    return True
