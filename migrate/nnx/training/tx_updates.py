"""Updates of a TrainState by its own transformation, spelled out: what `apply_gradients` does, in three statements.

    updates, opt_state = state.tx.update(grads, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    state = state.replace(step=state.step + 1, params=params, opt_state=opt_state)

                                                        →    optimizer.update(model, grads)

That is the same program where each of the three goes on with what the one before it gives, and where nothing else reads
the updates, the new params or the optimizer's new state.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...linen.flow.flow_optimizers import updated_state
from ...linen.flow.flow_values import Gradients, State, Symbol
from ...trees import subtree
from .by_hand import LEAVES
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

KEYWORDS = ("step", "params", "opt_state")


@dataclasses.dataclass(frozen=True)
class TxUpdate:
    """The statements of one update, and the gradients that it takes."""

    grads: ast.Name
    statements: tuple[ast.Assign, ...]  # before the call of `replace`: they go away
    names: frozenset[Symbol]  # that they give their results
    replaced: tuple[ast.expr, ...]  # what `replace` is given of them


def find(form: _Native) -> dict[ast.Call, TxUpdate]:
    """The calls of `replace` that end such updates; their nodes leave `form.uses`."""
    found = {}
    for call in form.flow.uses.items:
        node = call[0]
        state = updated_state(form.flow, node) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and state is not None and form.component.holds(state):
            replace, update = _update(form, node)
            found[replace] = update
    for update in found.values():
        gone = {n for part in (*update.statements, *update.replaced) for n in subtree(part)}
        form.dropped.update(gone)
        form.uses = [(node, value) for node, value in form.uses if node not in gone]
        for symbol in update.names:
            form.roles.pop(symbol, None)
    return found


def write(form: _Native, updates: dict[ast.Call, TxUpdate]) -> None:
    """Takes out what stands before the calls of `replace`, which are written as updates: see `state_updates`."""
    for update in updates.values():
        for statement in update.statements:
            form.delete(statement)


def _update(form: _Native, call: ast.Call) -> tuple[ast.Call, TxUpdate]:
    first = form.parent(call)
    target = first.targets[0] if isinstance(first, ast.Assign) and len(first.targets) == 1 else None
    names = target.elts if isinstance(target, ast.Tuple) else []
    if len(names) != 2 or form.function(call) is None:
        raise Unsupported(call, "updates that are not assigned to two names of a function")
    deltas, opt_state = names
    assert isinstance(first, ast.Assign)
    grads, root = _given(form, call)
    apply = form.parent(_once(form, deltas))
    if not (isinstance(apply, ast.Call) and form.flow.name(apply.func) == "optax.apply_updates" and not apply.keywords):
        raise Unsupported(call, "updates that are not applied")
    if len(apply.args) != 2 or not isinstance(apply.args[1], ast.Name) or not _is_field(form, apply.args[0], root, "params"):
        raise Unsupported(apply, "updates that are applied to something else than the params of their state")
    statements, new_params = [first], form.parent(apply)
    given: ast.expr = apply
    stored = [*names]
    if isinstance(new_params, ast.Assign) and len(new_params.targets) == 1:
        statements.append(new_params)
        stored.append(new_params.targets[0])
        given = _once(form, new_params.targets[0])
    replace = _replace(form, given, _once(form, opt_state), root)
    _in_a_row(form, [*statements, form.statement(replace)], {root, form.flow.symbol(form.source(grads), grads)})
    keywords = tuple(keyword.value for keyword in replace.keywords if keyword.arg in KEYWORDS)
    symbols = frozenset(form.flow.symbol(form.source(name), name) for name in stored if isinstance(name, ast.Name))
    return replace, TxUpdate(grads, tuple(statements), symbols, keywords)


def _given(form: _Native, call: ast.Call) -> tuple[ast.Name, Symbol]:
    """The gradients, and the name of the state whose transformation, optimizer state and params a call takes."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "params")]
    assert isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Attribute)
    base, grads = call.func.value.value, given[0]
    if len(call.keywords) != len(given) - len(call.args) or not 2 <= len(given) <= 3:
        raise Unsupported(call, "an optimizer that is given other things than gradients, state and params")
    if not isinstance(base, ast.Name) or not isinstance(form.flow.value(base), State):
        raise Unsupported(call, "an update of a state that is not under a name")
    if not isinstance(grads, ast.Name) or not isinstance(form.flow.value(grads), Gradients):
        raise Unsupported(call, "an update by something else than gradients under a name")
    root = form.flow.symbol(form.source(base), base)
    fields = zip(given[1:], ("opt_state", "params"), strict=False)
    if not all(_is_field(form, node, root, name) for node, name in fields):
        raise Unsupported(call, "an optimizer that is given other params")
    return grads, root


def _is_field(form: _Native, node: ast.expr, root: Symbol, name: str) -> bool:
    """Is it `state.params`, of the state under a name?"""
    of = node.value if isinstance(node, ast.Attribute) and node.attr == name else None
    return isinstance(of, ast.Name) and form.flow.symbol(form.source(of), of) == root


def _once(form: _Native, name: ast.expr) -> ast.Name:
    """The one use of what a name is given in one place."""
    symbol = form.flow.symbol(form.source(name), name) if isinstance(name, ast.Name) else None
    same = form.flow.occurrences(symbol) if symbol is not None else []
    loads = [node for node in same if isinstance(node.ctx, ast.Load)]
    if symbol is None or len(loads) != 1 or len(same) != 2 or symbol[1] is not form.function(name):
        raise Unsupported(name, "updates that are used otherwise than once")
    return loads[0]


def _replace(form: _Native, params: ast.expr, opt_state: ast.Name, root: Symbol) -> ast.Call:
    """`state.replace(step=state.step + 1, params=params, opt_state=opt_state)`"""
    keyword = form.parent(params)
    call = form.parent(keyword)
    base = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    if not isinstance(call, ast.Call) or not isinstance(base, ast.Name) or call.func.attr != "replace":  # type: ignore[attr-defined]
        raise Unsupported(params, "updated params that are not put into their state at once")
    given = {k.arg: k.value for k in call.keywords}
    step = given.get("step")
    counted = isinstance(step, ast.BinOp) and isinstance(step.op, ast.Add) and _is_field(form, step.left, root, "step")
    one = isinstance(step, ast.BinOp) and isinstance(step.right, ast.Constant) and step.right.value == 1
    if form.flow.symbol(form.source(base), base) != root or given.get("params") is not params:
        raise Unsupported(call, "updated params that are put into another state")
    if given.get("opt_state") is not opt_state or not (counted and one):
        raise Unsupported(call, "updated params without the state of their optimizer, or the next step")
    return call


def _in_a_row(form: _Native, statements: list[ast.stmt], kept: set[Symbol]) -> None:
    """Unsupported where the block may be left between the statements, or the state or its gradients change their name."""
    block = form.block(statements[0])
    places = [block.index(statement) if statement in block else -1 for statement in statements]
    if places != sorted(set(places)) or places[0] < 0:
        raise Unsupported(statements[0], "updates that are applied under other conditions than they are made")
    for statement in block[places[0] + 1 : places[-1]]:
        for node in subtree(statement):
            stored = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
            renamed = stored and form.flow.symbol(form.source(node), node) in kept  # type: ignore[arg-type]
            if isinstance(node, LEAVES) or renamed:
                raise Unsupported(statement, "updates that are not applied at once")
