"""Params and the state of an optax transformation under names of their own: `nnx.Optimizer` has both in hand.

    opt_state = tx.init(params)                                →    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
    updates, opt_state = tx.update(grads, opt_state, params)   →    optimizer.update(model, grads)
    params = optax.apply_updates(params, updates)

Both are updated at once and in place. That is the same program where the two statements belong to each other, where
nobody looks at the optimizer's state in between, and where nobody reads either from before (`old_values`).
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Deltas, OptState, State, Symbol, Value, is_params
from ...trees import subtree
from . import loaded, optimizer_halves
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

LEAVES = (ast.Return, ast.Break, ast.Continue)


@dataclasses.dataclass(frozen=True)
class Update:
    """The two statements of one update."""

    first: ast.Assign  # updates, opt_state = tx.update(grads, opt_state, params)
    grads: ast.Name
    old: ast.Name  # the state that it starts from
    new: ast.Name  # and the name of what it becomes
    call: ast.Call  # optax.apply_updates(params, updates)
    params: ast.Name
    target: ast.Name | None  # None where the call is returned


@dataclasses.dataclass(frozen=True)
class ByHand:
    """What a component has of this."""

    creation: ast.Call  # tx.init(params)
    name: ast.Name  # what is assigned
    updates: dict[ast.Call, Update]
    tx: optimizer_halves.Whole
    said: str  # what the transformation is called

    def stores(self, name: ast.Name) -> bool:
        """Is a name that which gets updated params?"""
        return any(update.target is name for update in self.updates.values())


def is_half(value: Value | None) -> bool:
    """Is a value one of the two that a step takes and returns?"""
    return isinstance(value, OptState) or is_params(value)


def find(form: _Native) -> ByHand | None:
    """The one optimizer of a component. Unsupported where it is not used as above."""
    held = [(node, value) for node, value in form.uses if isinstance(value, OptState)]
    if not held:
        return None
    if any(isinstance(value, State) for _, value in form.uses):
        raise Unsupported(held[0][0], "an optimizer's state besides a TrainState")
    if form.plan.collections - {"params", "cache"}:
        raise Unsupported(held[0][0], "an optimizer's state besides other collections")
    made = [node for node, _ in held if isinstance(node, ast.Call) and loaded.target(form, node) is None]
    statement = form.parent(made[0]) if len(made) == 1 else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name):
        raise Unsupported(held[0][0], "an optimizer's state that is not made once, under one name")
    whole = form.flow.value(made[0])
    assert isinstance(whole, OptState)
    if whole.whole and (form.plan.collections - {"params"} or form.plan.sown or form.by_name):
        raise Unsupported(made[0], "an optimizer of all collections")
    updates, calls = {}, []
    assert isinstance(made[0], ast.Call)
    tx = optimizer_halves.of(form, made[0].func, made[0])
    for node, value in form.flow.uses.items:
        first = value.items[0] if isinstance(node, ast.Call) and value.items else None
        if isinstance(first, Deltas) and form.component.holds(first):
            assert isinstance(node, ast.Call)
            update = _update(form, tx, node)
            updates[update.call] = update
            calls.append(node)
    return ByHand(made[0], target, updates, tx, optimizer_halves.name(form, tx, made[0], calls))


def _update(form: _Native, tx: optimizer_halves.Whole, call: ast.Call) -> Update:
    statement = form.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    names = target.elts if isinstance(target, ast.Tuple) else []
    if len(names) != 2 or not all(isinstance(name, ast.Name) for name in names):
        raise Unsupported(call, "updates that are not assigned to two names")
    deltas, new = names
    given = [*call.args, *[k.value for k in call.keywords if k.arg == "params"]]
    known = len(call.keywords) == len(given) - len(call.args) and 2 <= len(given) <= 3
    if not known or not all(isinstance(node, ast.Name) for node in given[:2]):
        raise Unsupported(call, "an optimizer that is given other things than gradients, state and params")
    if len(given) == 3 and not is_params(form.flow.value(given[2])):
        raise Unsupported(call, "an optimizer that is given other params")
    if optimizer_halves.of(form, call.func, call) != tx:
        raise Unsupported(call, "one of several optimizers")
    assert isinstance(statement, ast.Assign) and isinstance(deltas, ast.Name) and isinstance(new, ast.Name)
    grads, old = given[:2]
    assert isinstance(grads, ast.Name) and isinstance(old, ast.Name)
    apply = _application(form, statement, deltas)
    _nothing_between(form, statement, form.statement(apply), grads.id, new.id)
    params = apply.args[0]
    if not isinstance(params, ast.Name):
        raise Unsupported(apply, "updates of params that have no name")
    parent = form.parent(apply)
    place = None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        place = parent.targets[0]
    elif not (isinstance(parent, ast.Tuple) and isinstance(form.parent(parent), ast.Return)):
        raise Unsupported(apply, "params that are updated within an expression")
    return Update(statement, grads, old, new, apply, params, place)


def _application(form: _Native, statement: ast.Assign, deltas: ast.Name) -> ast.Call:
    """The one use of the updates, further down in the same block."""
    symbol = form.flow.symbol(form.source(deltas), deltas)
    scope = form.function(statement)
    loads: list[ast.Name] = []
    stores: list[ast.Name] = []
    for node in form.source(deltas).by_kind.get(ast.Name, ()):
        assert isinstance(node, ast.Name)
        if node.id == deltas.id and form.flow.symbol(form.source(deltas), node) == symbol:
            (loads if isinstance(node.ctx, ast.Load) else stores).append(node)
    if len(loads) != 1 or len(stores) != 1:
        raise Unsupported(deltas, "updates that are used otherwise than once")
    call = form.parent(loads[0])
    if not (isinstance(call, ast.Call) and form.flow.name(call.func) == "optax.apply_updates" and call.args[1:] == loads):
        raise Unsupported(deltas, "updates that are not applied")
    if call.keywords or not is_params(form.flow.value(call)):
        raise Unsupported(deltas, "updates that are applied to something unknown")
    block, last = form.block(statement), form.statement(call)
    if form.function(call) is not scope or last not in block or block.index(last) <= block.index(statement):
        raise Unsupported(deltas, "updates that are applied under other conditions than they are made")
    return call


def _nothing_between(form: _Native, first: ast.stmt, last: ast.stmt, grads: str, new: str) -> None:
    """Unsupported where the block may be left, the new state is read, or the gradients change their name."""
    block = form.block(first)
    for statement in block[block.index(first) + 1 : block.index(last)]:
        for node in subtree(statement):
            name = node.id if isinstance(node, ast.Name) else ""
            other = name == grads and not isinstance(node.ctx, ast.Load)  # type: ignore[attr-defined]
            if isinstance(node, LEAVES) or name == new or other:
                raise Unsupported(statement, "updates that are not applied at once")


# names -------------------------------------------------------------------------------------------------------------
def aliases(form: _Native, hand: ByHand) -> dict[Symbol, Symbol]:
    """The names that a result of an update has, to those that the update started from."""
    found = {}
    for update in hand.updates.values():
        for new, old in ((update.new, update.old), (update.target, update.params)):
            if new is not None:
                one, other = (form.flow.symbol(form.source(node), node) for node in (new, old))
                if one != other:
                    found[one] = other
    return found


def names_given(form: _Native) -> list[tuple[Symbol, str]]:
    """The name of a transformation that had none."""
    hand = form.by_hand
    return [(hand.tx.symbol, hand.said)] if hand is not None and hand.tx.pair is not None else []


def name_all(form: _Native, hand: ByHand) -> None:
    """Names for the optimizer where the program has its state, and for results of updates."""
    known = aliases(form, hand)
    for symbol, value in form.roles.items():
        module, scope, _ = symbol
        if isinstance(value, OptState) and symbol not in known:
            source = form.flow.project.files[module]
            form.optimizers[symbol] = form.free(source, scope, ["optimizer", "opt", "nnx_optimizer"])
    for new, old in known.items():
        names = form.optimizers if isinstance(form.roles.get(new), OptState) else form.new_names
        if old in known or old not in names or new[1] is not old[1]:
            raise Unsupported(hand.creation, f"{new[2]} also holds other things")
        names[new] = names[old]


# what is written ---------------------------------------------------------------------------------------------------
def write(form: _Native, hand: ByHand) -> None:
    """The creation and the updates."""
    _create(form, hand)
    for update in hand.updates.values():
        old, params = (form.flow.symbol(form.source(n), n) for n in (update.old, update.params))
        form.visible(update.call, old, form.optimizers[old])
        form.visible(update.call, params, form.new_names[params])
        text = f"{form.optimizers[old]}.update({form.new_names[params]}, {update.grads.id})"
        form.delete(update.first)
        form.dropped.update(subtree(update.first))
        statement = form.statement(update.call)
        if update.target is not None:
            form.replace(statement, text)
            form.dropped.update(subtree(statement))
        else:
            form.insert_before(statement, text)
            form.dropped.update(subtree(update.call))


def _create(form: _Native, hand: ByHand) -> None:
    statement = form.statement(hand.creation)
    block = form.block(form.init_statement)
    if statement not in block or block.index(statement) <= block.index(form.init_statement):
        raise Unsupported(hand.creation, "an optimizer's state made elsewhere than its params")
    optimizer_halves.write(form, hand.tx, hand.said)
    context, tx = form.context(hand.creation), hand.said
    if form.by_name:
        tx = f"{context.parity('by_linen_names')}({form.home_name}, {tx})"
    symbol = form.flow.symbol(form.source(hand.name), hand.name)
    made = f"{context.name('flax.nnx.Optimizer')}({form.home_name}, {tx}, wrt={context.name('flax.nnx.Param')})"
    form.replace(statement, f"{form.optimizers[symbol]} = {made}")
    form.dropped.update(subtree(statement))


def seen_to(form: _Native, node: ast.AST, value: Value) -> bool:
    """Is a use of an optimizer's state one that functions and their callers see to?"""
    if not isinstance(value, OptState):
        return False
    parent = form.parent(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return True  # with its assignment: that of a step
    holder = form.parent(parent) if isinstance(parent, ast.Tuple) else parent
    if loaded.target(form, node) is not None:
        return True
    return (isinstance(node, ast.Name) and isinstance(holder, ast.Return)) or loaded.shown(form, node)
