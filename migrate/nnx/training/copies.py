"""A second name for a state: `best = state`, also among other values: `best_loss, best = loss, state`.

In Linen the two are one value until either is updated, which the other does not see. In the NNX idiom that is a copy:
`nnx.clone` makes new variables around the same arrays. A name that holds None until there is a state holds two of them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_nones import assigns_none
from ...linen.flow.flow_values import State, Symbol
from ...linen.flow.self_names import SelfName
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


def source(form: _Native, store: ast.Name) -> ast.Name | None:
    """The state of which `store` becomes a second name, where its statement says no more than that of it."""
    statement = form.statement(store)
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
        return None
    value = next((given for target, given in _pairs(statement) if target is store), None)
    if not (isinstance(value, ast.Name) and isinstance(form.flow.value(value), State)):
        return None
    return value


def _pairs(statement: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """What a statement assigns, and to what: `best_loss, best = loss, state` does so to two names."""
    target, value = statement.targets[0], statement.value
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return [(target, value)]
    starred = any(isinstance(item, ast.Starred) for item in [*target.elts, *value.elts])
    same = not starred and len(target.elts) == len(value.elts)
    return list(zip(target.elts, value.elts, strict=True)) if same else []


def find(form: _Native) -> frozenset[Symbol]:
    """The names that get a state as a copy, and never as one that was made for them."""
    copied: set[Symbol] = set()
    made: set[Symbol] = set()
    for node, value in form.uses:
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
            continue
        none = assigns_none(form.source(node), node)
        if none and not isinstance(value, State):
            raise Unsupported(node, "a name that holds None at first")
        if none or not isinstance(value, State):
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
    """`best = state` → `best_model, best_optimizer = nnx.clone((model, optimizer))`; `best is None`, too."""
    statement = form.statement(node)
    if asks_for_none(node, form.parent(node)) and _is_always_there(form, node):
        form.replace(node, form.model_of(node))
        return True
    if not isinstance(statement, ast.Assign) or form.parent(node) not in (statement, statement.value):
        return False
    target = next((target for target, given in _pairs(statement) if given is node), None)
    if target is None and form.parent(node) is not statement:
        return False
    if len(statement.targets) != 1 or not isinstance(target, ast.Name):
        raise Unsupported(node, "a state under several names at once")
    old, new = (form.flow.symbol(form.source(name), name) for name in (node, target))
    if old == new:
        return False
    if form.new_names[old] == form.new_names[new] or _is_parameter(new):
        raise Unsupported(node, "a copy of a state under a name that its updates have too")
    form.visible(node, old, form.new_names[old])
    form.visible(node, old, form.optimizers[old])
    pair = f"{form.new_names[old]}, {form.optimizers[old]}"
    clone = form.context(node).name("flax.nnx.clone")
    given = f"{form.new_names[new]}, {form.optimizers[new]}"
    if statement.value is node:
        form.replace(statement, f"{given} = {clone}(({pair}))")
    else:
        form.replace(target, given)
        form.replace(node, f"*{clone}(({pair}))")
    return True


def write_none(form: _Native, store: ast.Name) -> None:
    """`best = None` → `best_model, best_optimizer = None, None`."""
    if not assigns_none(form.source(store), store):
        return
    statement, symbol = form.statement(store), form.flow.symbol(form.source(store), store)
    pairs = _pairs(statement) if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else []
    value = next((given for target, given in pairs if target is store), None)
    made = {form.home_name, *(received.name for received in form.makers.received)}  # models that are there before a state
    if value is None or (symbol not in form.copies and form.new_names[symbol] in made):
        raise Unsupported(store, "a state that is None at first")
    form.replace(store, f"{form.new_names[symbol]}, {form.optimizers[symbol]}")
    form.replace(value, "None, None")


def asks_for_none(node: ast.AST, parent: ast.AST) -> bool:
    """`best is None`, `best is not None`"""
    if not isinstance(parent, ast.Compare) or parent.left is not node or len(parent.ops) != 1:
        return False
    other = parent.comparators[0]
    return isinstance(parent.ops[0], ast.Is | ast.IsNot) and isinstance(other, ast.Constant) and other.value is None


def asks_for_truth(node: ast.AST, parent: ast.AST) -> bool:
    """`if state:`, `state.tx if state else tx`, `not state`: of a state as true as of None as false."""
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    return isinstance(parent, ast.If | ast.IfExp | ast.While) and parent.test is node


def _is_always_there(form: _Native, name: ast.Name) -> bool:
    """Has an object an attribute from its constructor on? `state = None` in the class is of another name than the model."""
    symbol = form.flow.symbol(form.source(name), name)
    stores = (n for n in form.flow.occurrences(symbol) if isinstance(n.ctx, ast.Store))
    made = (form.function(store) for store in stores)
    return not isinstance(name, SelfName) or any(isinstance(f, ast.FunctionDef) and f.name == "__init__" for f in made)


def _is_parameter(symbol: Symbol) -> bool:
    """What a caller gave is updated for the caller: a function cannot put a copy in its place."""
    scope = symbol[1]
    if not isinstance(scope, ast.FunctionDef | ast.Lambda):
        return False
    return symbol[2] in [a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]]
