"""Who still looks at variables after they were updated: in Linen the old values, in the NNX idiom the new ones.

The module and its optimizer are one object for all the names that a program has for a state, its params and the variables
of `init`. That is the same program only where, after each update, nobody reads any name but the one that holds its result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...linen.flow import flow_changes
from ...linen.flow.flow_nones import assigns_none
from ...linen.flow.flow_values import ANY, Collection, Function, OptState, State, Symbol, Updated, Value, Variables
from ...trees import subtree
from . import by_hand, changes, closures, copies, loaded, makers, saving, state_fields, state_updates, traces
from .places import exclusive, loops_around
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

_FIXED = {"apply_fn", "tx"}  # attributes of a state that no update changes
_BOTH = frozenset({"variables", "optimizer"})
Place = tuple[int, int]


def check(form: _Native) -> list[tuple[ast.expr, str, ast.Name]]:
    """Unsupported where a value from before an update may be read after it, or where one init makes several states.

    The step of an old state can be kept under a name: the updates before which that is to be done, with name and state.
    """
    _one_state(form)
    kept: dict[ast.expr, tuple[str, ast.Name]] = {}
    found = updates(form)
    traces.check(form, list(found))
    held = _held(form, found)
    readers = [(node, symbol, closures.read_later(form, node, symbol)) for node, symbol in _readers(form)]
    for call, changed in found.items():
        after, before = targets(form, call) | held[call], given(form, call)
        scope = form.function(call)
        around = {scope, *(parent for parent in form.source(call).ancestors(call)), None}
        for node, symbol, later in readers:
            if symbol in after or not changed & _parts(form.flow.value(node)):
                continue
            if any(_kept(form, call, scope, moment, symbol) for moment in later):
                raise Unsupported(node, "an old state or params that a function keeps beyond an update")
            if symbol[1] not in around or _apart(form, symbol, before | after) or _out_of_reach(form, node, symbol, scope):
                continue
            if _made_behind(form, node, symbol, call) or _within_callers(form, node, symbol, scope):
                continue
            if any(_late(form, moment, call, symbol) for moment in moments(form, node, scope, set())):
                if not _keeps_step(form, node, symbol, call, kept):
                    raise Unsupported(node, "an old state or params that are read after an update")
    return [(call, name, state) for call, (name, state) in kept.items()]


def _out_of_reach(form: _Native, node: ast.AST, symbol: Symbol, scope: ast.AST | None) -> bool:
    """Is an attribute read by methods which a static method cannot call, as it has no object? Its callers are seen to."""
    reader = form.function(node)
    if not isinstance(symbol[1], ast.ClassDef) or not isinstance(scope, ast.FunctionDef) or reader is scope:
        return False
    if not any(getattr(decorator, "id", "") == "staticmethod" for decorator in scope.decorator_list):
        return False
    names = {"self", "cls", symbol[1].name}
    if any(isinstance(name, ast.Name) and name.id in names for name in subtree(scope)):
        return False
    seen: set[ast.AST] = set()
    todo = [reader] if reader is not None else []
    while todo:
        function = todo.pop()
        if function is scope:
            return False
        if function not in seen:
            seen.add(function)
            todo += [f for call in form.flow.callers.get(function, {}) if (f := form.function(call)) is not None]
    return True


def _within_callers(form: _Native, node: ast.AST, symbol: Symbol, scope: ast.AST | None) -> bool:
    """Is an attribute read by methods to which a method that updates what it is given does not come?

    All that call it are methods of the class, too: what they read behind the call is looked at there.
    """
    owner, reader = symbol[1], form.function(node)
    if not isinstance(owner, ast.ClassDef) or reader is None or reader is scope or scope not in owner.body:
        return False
    callers = form.flow.callers.get(scope, {}) if scope is not None else {}
    for call in callers:
        if form.function(call) not in owner.body:
            return False
    assert isinstance(scope, ast.FunctionDef)
    for name in subtree(scope):
        if not isinstance(name, ast.Name) or name.id != "self":
            continue
        above = form.parent(name)
        value = form.flow.value(above) if isinstance(above, ast.Attribute) and above.value is name else None
        if value is None or isinstance(value, Function) or not isinstance(above.ctx, ast.Load):  # type: ignore[attr-defined]
            return False
        if isinstance(form.parent(above), ast.Call) and form.parent(above).func is above and value == ANY:  # type: ignore[attr-defined]
            return False
    return bool(callers) and scope not in form.flow.partials


def _made_behind(form: _Native, node: ast.AST, symbol: Symbol, change: ast.expr) -> bool:
    """Is an attribute, which methods read, only made once `__init__` has changed the params that it is made of?"""
    scope = form.function(change)
    if isinstance(change, ast.Call) or not isinstance(scope, ast.FunctionDef) or scope.name != "__init__":
        return False
    reader = form.function(node)
    if symbol[1] is not form.source(scope).parents[scope] or reader is scope:
        return False
    stores = [store for store in _stores(form, symbol) if form.function(store) is scope]
    first = form.statement(change)
    if first not in scope.body or not stores or any(form.statement(store) not in scope.body for store in stores):
        return False
    made = min(scope.body.index(form.statement(store)) for store in stores)
    called = (n for statement in scope.body[:made] for n in subtree(statement) if isinstance(n, ast.Call))
    helped = any(isinstance(form.flow.value(call.func), Function) and _reaches(form, call, reader) for call in called)
    return scope.body.index(first) < made and not helped


def _reaches(form: _Native, call: ast.Call, reader: ast.AST | None) -> bool:
    """May a call of a function come to another one?"""
    seen: set[ast.AST] = set()
    callee = form.flow.value(call.func)
    todo = list(callee.nodes) if isinstance(callee, Function) else []
    while todo:
        function = todo.pop()
        if function in seen:
            continue
        seen.add(function)
        for inner in subtree(function):
            value = form.flow.value(inner.func) if isinstance(inner, ast.Call) else None
            todo += list(value.nodes) if isinstance(value, Function) else []
    return reader in seen


def _keeps_step(
    form: _Native, node: ast.Name, symbol: Symbol, call: ast.expr, kept: dict[ast.expr, tuple[str, ast.Name]]
) -> bool:
    """`state.step` further down in the block of the one update: can a name have it from before the update?"""
    parent, scope = form.parent(node), form.function(call)
    if not (isinstance(parent, ast.Attribute) and parent.attr == "step") or form.function(node) is not scope:
        return False
    if (
        parent in form.kept_steps
        or symbol not in given(form, call)
        or loops_around(form, node, scope) != loops_around(form, call, scope)
    ):
        return False
    statement = form.statement(call)
    block = form.block(statement)
    later = block[block.index(statement) + 1 :] if statement in block else []
    if not any(node in subtree(other) for other in later):
        return False
    if call not in kept:
        kept[call] = form.free(form.source(call), scope, ["step", "old_step", "step_before"]), node
    form.kept_steps[parent] = kept[call][0]
    return True


def _kept(form: _Native, call: ast.expr, scope: ast.AST | None, moment: ast.AST, symbol: Symbol) -> bool:
    """Does a function keep values from before an update that it reads at `moment`, after that?"""
    assert symbol[1] is not None
    if moment is symbol[1]:
        return closures.outside(form, call, symbol[1])
    if not closures.between(form, call, moment, symbol[1]):
        return False
    return any(_late(form, place, call, symbol) for place in moments(form, moment, scope, set()))


def _one_state(form: _Native) -> None:
    """Two states made of the same params train apart in Linen."""
    made = [
        node
        for node, value in form.uses
        if isinstance(node, ast.Call) and isinstance(value, State) and form.flow.creates_state(node)
    ]
    for index, node in enumerate(made):
        for other in made[:index]:
            apart = makers.made_at(form, node) is not makers.made_at(form, other)
            if not apart and not exclusive(form, node, other):
                raise Unsupported(node, "two states of the same params")
        received = makers.made_at(form, node)
        origin, scope = (received.call, form.function(node)) if received is not None else (form.init, form.home)
        if form.function(node) is scope and loops_around(form, node, scope) - loops_around(form, origin, scope):
            raise Unsupported(node, "states of the same params made in a loop")


def _readers(form: _Native) -> list[tuple[ast.Name, Symbol]]:
    """The names whose values an update would change, where they are read for their values."""
    found = []
    for node, value in form.uses:
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)) or not _holds_values(value):
            continue
        parent = form.parent(node)
        if isinstance(value, State) and isinstance(parent, ast.Attribute) and parent.attr in _FIXED:
            continue
        symbol = form.flow.symbol(form.source(node), node)
        if symbol not in form.trees and not state_fields.of(form, value):  # these hold arrays of their own
            found.append((node, symbol))
    return found


def _holds_values(value: Value) -> bool:
    updated = isinstance(value, Updated) or (isinstance(value, Collection) and value.updated)
    return isinstance(value, State | Variables | Collection | OptState) and not updated


# updates -----------------------------------------------------------------------------------------------------------
def updates(form: _Native) -> dict[ast.expr, frozenset[str]]:
    """What changes the model or its optimizer: calls of apply_gradients, what restores or loads, calls of functions that do.

    With each what it changes: "variables", "optimizer" or both.
    """
    direct: dict[ast.expr, frozenset[str]] = {}
    for node, value in form.uses:
        if isinstance(node, ast.Call):
            of_state = isinstance(value, State) and (state_updates.is_update(form, node) or saving.touches(form, node))
            if of_state or loaded.target(form, node) is not None:
                direct[node] = _parts(value)
    for name in loaded.assigned(form):
        direct[name] = _parts(form.flow.value(name))
    direct |= dict.fromkeys((change.place for change in changes.find(form)), frozenset({"variables"}))
    if form.by_hand is not None:
        direct |= dict.fromkeys(form.by_hand.updates, _BOTH)
    found = dict(direct)
    todo = list(direct)
    while todo:
        inner = todo.pop()
        function = form.function(inner)
        for call in form.flow.callers.get(function, {}) if function is not None else ():
            changed = found.get(call, frozenset()) | found[inner]
            if found.get(call) != changed:
                found[call] = changed
                todo.append(call)
    return found


def _held(form: _Native, found: Iterable[ast.expr]) -> dict[ast.expr, frozenset[Symbol]]:
    """The attributes that an update within a method gives its result, by the calls of the method: all read the new value."""
    calls = list(found)
    held = {call: frozenset(s for s in targets(form, call) if isinstance(s[1], ast.ClassDef)) for call in calls}
    todo = [call for call in calls if held[call]]
    while todo:
        inner = todo.pop()
        function = form.function(inner)
        for call in form.flow.callers.get(function, {}) if function is not None else ():
            if call in held and not held[inner] <= held[call]:
                held[call] |= held[inner]
                todo.append(call)
    return held


def _parts(value: Value) -> frozenset[str]:
    """What a value is of."""
    return _BOTH if isinstance(value, State) else frozenset({"optimizer" if isinstance(value, OptState) else "variables"})


def targets(form: _Native, call: ast.expr) -> set[Symbol]:
    """The names that the statement of an update gives its result."""
    read_back = loaded.symbol_of(form, call)
    if read_back is not None:
        return {read_back}
    changed = changes.of_place(form, call)
    if changed is not None:
        return changes.symbols(form, [changed.tree])
    statement = form.statement(call)
    names = [node for target in getattr(statement, "targets", ()) for node in subtree(target)]
    if form.by_hand is not None and call in form.by_hand.updates:
        names.append(form.by_hand.updates[call].new)
    return {form.flow.symbol(form.source(n), n) for n in names if isinstance(n, ast.Name) and _is_state(form, n)}


def _is_state(form: _Native, node: ast.Name) -> bool:
    value = form.flow.value(node)
    return isinstance(value, State) or (form.by_hand is not None and by_hand.is_half(value))


def given(form: _Native, call: ast.expr) -> set[Symbol]:
    """The names of the states that an update starts from."""
    changed = changes.of_place(form, call)
    if changed is not None:
        return changes.symbols(form, [changed.tree, *flow_changes.roots(form.flow, changed.value)])
    read_back = loaded.symbol_of(form, call)
    if read_back is not None:
        return {read_back}
    assert isinstance(call, ast.Call)
    nodes: list[ast.expr] = [*call.args, *[k.value for k in call.keywords]]
    if isinstance(call.func, ast.Attribute):
        nodes.append(call.func.value)
    return {
        form.flow.symbol(form.source(node), node)
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(form.flow.value(node), State)
    }


def _apart(form: _Native, symbol: Symbol, others: set[Symbol]) -> bool:
    """Are these different objects: copies, or each made by a call of its own of a function that initializes the model?"""
    if symbol in others or not others:
        return False
    return _made_anew(form, symbol, {symbol}) and all(_made_anew(form, name, others) for name in others)


def _made_anew(form: _Native, symbol: Symbol, group: set[Symbol]) -> bool:
    """Is every value of a name a copy, made by such a call, or by an update of a name of its group?"""
    stores, calls = _stores(form, symbol), updates(form)
    for store in stores:
        statement = form.statement(store)
        call = statement.value if isinstance(statement, ast.Assign) else None
        if copies.source(form, store) is not None or assigns_none(form.source(store), store):
            continue
        if not isinstance(call, ast.Call):
            return False
        if call in calls:
            if not given(form, call) <= group:
                return False
            continue
        if form.flow.creates_state(call):
            continue  # there is but one
        callee = form.flow.value(call.func)
        if not isinstance(callee, Function) or not callee.nodes <= makers.fresh(form):
            return False
    return bool(stores)


def _stores(form: _Native, symbol: Symbol) -> list[ast.Name]:
    return [
        node
        for node, _ in form.uses
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and form.flow.symbol(form.source(node), node) == symbol
    ]


# time --------------------------------------------------------------------------------------------------------------
def moments(form: _Native, node: ast.AST, scope: ast.AST | None, seen: set[ast.AST | None]) -> Iterator[ast.AST | None]:
    """The places in the body of a function (None: of the module) at which an expression is evaluated; None: at any time."""
    function = form.function(node)
    if function is scope:
        yield node
        return
    if function is None or function in seen:
        return
    seen.add(function)
    callers = form.flow.callers.get(function, {})
    within = any(parent is scope for parent in form.source(function).ancestors(function)) or scope is None
    method = isinstance(form.source(function).parents.get(function), ast.ClassDef)
    if (not callers and within) or method:
        yield None
    for call in callers:
        yield from moments(form, call, scope, seen)


def _late(form: _Native, moment: ast.AST | None, call: ast.expr, symbol: Symbol) -> bool:
    """May a name still hold its value from before an update when it is read at `moment`, after that?"""
    if moment is None:
        return True
    if form.source(moment) is not form.source(call):
        return True
    scope = form.function(call)
    if loops_around(form, moment, scope) & loops_around(form, call, scope):
        return True
    changed = changes.of_place(form, call)
    if changed is not None and any(node is moment for node in subtree(changed.statement)):
        return False  # the values are read before they are changed
    if any(node is moment for node in subtree(call)) or _end(moment) <= _start(call):
        # Within one statement an update is written before the rest of it.
        return form.statement(moment) is form.statement(call) and not any(node is moment for node in subtree(call))
    if exclusive(form, moment, call):
        return False
    stores = _stores(form, symbol)
    bound_later = bool(stores) and symbol[1] is scope and all(_start(store) > _start(call) for store in stores)
    parameters = getattr(getattr(scope, "args", None), "args", [])
    return not bound_later or symbol[2] in [a.arg for a in parameters]


def _start(node: ast.AST) -> Place:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> Place:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
