"""Functions that outlive the function around them, and the values of a state with it: in Linen they read old ones.

def make_predict(state):                                 predict = make_predict(state)
    return lambda x: state.apply_fn(state.params, x)     state = train_step(state, batch)
                                                         predict(x)  # of the state before the step
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Symbol
from ...trees import subtree

if TYPE_CHECKING:
    from .native import _Native

# What calls a function that it is given, and keeps it no longer.
_CALLING = (
    *("jax.lax.", "jax.tree", "jax.numpy.", "jax.eval_shape", "jax.make_jaxpr", "jax.debug."),
    *("jax.jvp", "jax.vjp", "jax.linearize"),  # what they give back has the numbers of that call
)
_CONTAINERS = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.IfExp, ast.BoolOp, ast.keyword, ast.NamedExpr)
_ITERATORS = {"enumerate", "zip", "map", "iter", "tqdm", "tqdm.tqdm", "tqdm.auto.tqdm"}
_CONSUMERS = {"list", "tuple", "set", "dict", "sum", "max", "min", "sorted", "all", "any"}
_STAYING = (ast.Expr, ast.For, ast.If, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def read_later(form: _Native, node: ast.AST, symbol: Symbol) -> list[ast.AST]:
    """Where a name of a function is read once that has ended: the calls of its inner function that has the name.

    The function itself stands for calls that nobody sees, and for those of a generator, which reads when it goes on.
    """
    home = symbol[1]
    if not isinstance(home, _FUNCTIONS):
        return []
    inner = None
    for parent in form.source(node).ancestors(node):
        if parent is home:
            break
        inner = parent if isinstance(parent, _FUNCTIONS) else inner
    if inner is None:
        return [home] if _is_generator(form, home) else []
    ways = {_way_out(form, place, inner, home) for place in _places(form, inner, home)}
    if ways <= {""}:
        return []
    calls = [call for call in form.flow.callers.get(inner, {}) if home not in form.source(call).ancestors(call)]
    if not calls or "lost" in ways:
        return [home]
    return [call for call in calls if not _made_for(form, call, home)]


def outside(form: _Native, update: ast.expr, home: ast.AST) -> bool:
    """May an update come behind a call of a function, and not within one? Then what the function keeps is old."""
    callee = form.flow.value(getattr(update, "func", None))
    updating = callee.nodes if isinstance(callee, Function) else frozenset()
    users: set[ast.AST | None] = set()
    todo: list[ast.AST] = [home]
    while todo:
        for call in form.flow.callers.get(todo.pop(), {}):
            user = form.function(call)
            if user not in users:
                users.add(user)
                todo += [user] if user is not None else []
    if form.function(update) not in users or updating & {home, *users}:
        return False
    return not _is_generator(form, home) or any(
        _goes_on(form, call, update) for call in form.flow.callers.get(home, {}) if form.function(call) in users
    )


def _goes_on(form: _Native, call: ast.Call, update: ast.expr) -> bool:
    """May the generator that a call makes be asked for more after an update?"""
    node: ast.AST = call
    parent = form.parent(node)
    while isinstance(parent, ast.Call) and (form.flow.name(parent.func) or getattr(parent.func, "id", "")) in _ITERATORS:
        node, parent = parent, form.parent(parent)
    if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node:
        return update in subtree(parent)
    name = getattr(parent.func, "id", "") if isinstance(parent, ast.Call) else ""
    return name not in _CONSUMERS


def between(form: _Native, update: ast.expr, moment: ast.AST, home: ast.AST | None) -> bool:
    """May the function that is called at `moment` be from before an update?

    Not where the update has made it, or where it is made anew after it: both stand in one block, one behind the other.
    """
    callee = form.flow.value(getattr(update, "func", None))
    if isinstance(callee, Function) and home in callee.nodes:
        return False
    name = moment.func if isinstance(moment, ast.Call) else None
    if not isinstance(name, ast.Name):
        return True
    symbol = form.flow.symbol(form.source(name), name)
    stores = [other for other in form.flow.occurrences(symbol) if not isinstance(other.ctx, ast.Load)]
    if len(stores) != 1 or form.function(stores[0]) is not form.function(moment):
        return True
    first, last = form.statement(stores[0]), form.statement(moment)
    block = form.block(first)
    if last not in block or block.index(first) >= block.index(last):
        return True
    return any(update in subtree(statement) for statement in block[block.index(first) : block.index(last) + 1])


def _is_generator(form: _Native, function: ast.AST) -> bool:
    yields = [node for node in subtree(function) if isinstance(node, ast.Yield | ast.YieldFrom)]
    return any(form.function(node) is function for node in yields)


def _places(form: _Native, inner: ast.AST, home: ast.AST) -> list[ast.AST]:
    """Where a function is named within the one around it; a lambda stands for itself."""
    places = [node for node, _ in form.flow.uses.references(inner) if home in form.source(node).ancestors(node)]
    return [inner, *places] if isinstance(inner, ast.Lambda) else places


def _way_out(form: _Native, place: ast.AST, inner: ast.AST, home: ast.AST) -> str:
    """How a function leaves the one around it at a place: "" for not at all, "returned", or "lost" out of sight."""
    node = place
    while True:
        parent = form.parent(node)
        if isinstance(parent, ast.Call):
            if parent.func is node or _is_called(form, parent, inner):
                return ""
        elif isinstance(parent, ast.Return) or (isinstance(parent, ast.Lambda) and parent.body is node):
            whole = isinstance(form.flow.value(node), Function) and form.function(node) is home  # type: ignore[arg-type]
            return "returned" if whole else "lost"
        elif isinstance(parent, ast.Assign | ast.AnnAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return "" if all(isinstance(t, ast.Name) and _stays(form, t, home) for t in targets) else "lost"
        elif isinstance(parent, ast.Expr):
            return "lost" if node is not place else ""  # `callbacks.append(lambda: ...)`
        elif not isinstance(parent, _CONTAINERS):
            return "lost"
        node = parent


def _stays(form: _Native, target: ast.Name, home: ast.AST) -> bool:
    """Is a name for a function, which is looked at by itself, or one that never leaves the function that has it?"""
    if isinstance(form.flow.value(target), Function):
        return True
    read = [n for n in form.flow.occurrences(form.flow.symbol(form.source(target), target)) if isinstance(n.ctx, ast.Load)]
    return all(form.function(n) is home and isinstance(form.statement(n), _STAYING) for n in read)


def _is_called(form: _Native, call: ast.Call, inner: ast.AST) -> bool:
    """Does a call use a function that it is given, and give back none that goes on with it?"""
    made = form.flow.value(call)
    if isinstance(made, Function) and inner in made.nodes:
        return False
    name = form.flow.name(call.func) or ""
    return name.startswith(_CALLING) or isinstance(form.flow.value(call.func), Function)


def _made_for(form: _Native, call: ast.Call, home: ast.AST) -> bool:
    """`make_predict(state)(x)`: is the function made where it is called?"""
    maker = form.flow.value(call.func.func) if isinstance(call.func, ast.Call) else None
    return isinstance(maker, Function) and home in maker.nodes
