"""A second name for a state: `best = state`.

In Linen the two are one value until either is updated, which the other does not see. In the NNX idiom that is a copy:
`nnx.clone` makes new variables around the same arrays.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import State, Symbol
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


def source(form: _Native, store: ast.Name) -> ast.Name | None:
    """The state of which `store` becomes a second name, where its statement says no more than that."""
    statement = form.statement(store)
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is store):
        return None
    value = statement.value
    if not (isinstance(value, ast.Name) and isinstance(form.flow.value(value), State)):
        return None
    return value


def find(form: _Native) -> frozenset[Symbol]:
    """The names that get a state as a copy, and never as one that was made for them."""
    copied: set[Symbol] = set()
    made: set[Symbol] = set()
    for node, value in form.uses:
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and isinstance(value, State)):
            continue
        symbol = form.flow.symbol(form.source(node), node)
        if source(form, node) is not None:
            copied.add(symbol)
        elif not _starts_from(form, node, symbol):
            made.add(symbol)
    return frozenset(copied - made)


def _starts_from(form: _Native, store: ast.Name, symbol: Symbol) -> bool:
    """Is the name assigned by an update of the state that it already has?"""
    statement = form.statement(store)
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(call, ast.Call):
        return False
    nodes: list[ast.expr] = [*call.args, *[k.value for k in call.keywords]]
    if isinstance(call.func, ast.Attribute):
        nodes.append(call.func.value)
    return any(isinstance(n, ast.Name) and form.flow.symbol(form.source(n), n) == symbol for n in nodes)


def write(form: _Native, node: ast.Name) -> bool:
    """`best = state` → `best_model, best_optimizer = nnx.clone((model, optimizer))`."""
    statement = form.parent(node)
    if not (isinstance(statement, ast.Assign) and statement.value is node):
        return False
    if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        raise Unsupported(node, "a state under several names at once")
    old, new = (form.flow.symbol(form.source(name), name) for name in (node, statement.targets[0]))
    if old == new:
        return False
    if form.new_names[old] == form.new_names[new] or _is_parameter(new):
        raise Unsupported(node, "a copy of a state under a name that its updates have too")
    form.visible(node, old, form.new_names[old])
    form.visible(node, old, form.optimizers[old])
    pair = f"{form.new_names[old]}, {form.optimizers[old]}"
    clone = form.context(node).name("flax.nnx.clone")
    form.replace(statement, f"{form.new_names[new]}, {form.optimizers[new]} = {clone}(({pair}))")
    return True


def _is_parameter(symbol: Symbol) -> bool:
    """What a caller gave is updated for the caller: a function cannot put a copy in its place."""
    scope = symbol[1]
    if not isinstance(scope, ast.FunctionDef | ast.Lambda):
        return False
    return symbol[2] in [a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]]
