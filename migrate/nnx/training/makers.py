"""Functions that initialize the model and return its params: they return the module.

    def initial_params(key, model):                    →   def initial_params(key, model):
        return model.init(key, jnp.ones((2, 16)))["params"]     model = model(in_features=16, rngs=nnx.Rngs(key))
                                                                return model
    params = initial_params(key, model)                →   model = initial_params(key, model)

A result of several parts (`params, batch_stats` or `model, params`) is one module.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import (
    Collection,
    Function,
    Items,
    Method,
    Model,
    OptState,
    State,
    Symbol,
    Updated,
    Value,
    Variables,
    is_params,
)
from ...trees import subtree
from . import changes, lifted_apply, wrapped_init
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


@dataclasses.dataclass
class Received:
    """A call of such a function, and where its result goes."""

    call: ast.Call
    statement: ast.stmt
    target: ast.expr  # a name, or a tuple of them
    name: str = ""  # the module's


@dataclasses.dataclass
class Makers:
    """All of them, with what their results are called."""

    functions: dict[ast.AST, list[int | None]] = dataclasses.field(default_factory=dict)
    received: list[Received] = dataclasses.field(default_factory=list)

    def receiving(self, node: ast.AST) -> Received | None:
        """The place that gives a name its part of a result."""
        return next((r for r in self.received if any(found is node for found in subtree(r.target))), None)

    def in_function(self, function: ast.AST | None, form: _Native) -> list[Received]:
        return [r for r in self.received if form.function(r.call) is function]


def find(form: _Native) -> Makers:
    """The function of `init` where it returns variables, those that return its result, and who receives it."""
    found = Makers()
    todo = [form.home]
    while todo:
        function = todo.pop()
        if not isinstance(function, ast.FunctionDef) or function in found.functions:
            continue
        positions = _positions(form, form.flow.returns.get(function))
        if not positions:
            continue
        found.functions[function] = positions
        _check_references(form, function)
        callers = form.flow.callers.get(function, {})
        if not callers:  # whoever calls it, a test or a notebook, is not here to be told
            raise Unsupported(function, "a function that returns params, which nothing here calls")
        for call in callers:
            if not isinstance(form.flow.value(call.func), Function):
                raise Unsupported(call, "params of a function that is bound or evaluated abstractly")
            parent = form.parent(call)
            statement = form.statement(call)
            if isinstance(parent, ast.Return):
                todo.append(form.function(call))
            elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
                found.received.append(Received(call, statement, parent.targets[0]))
            elif not isinstance(parent, ast.Expr):
                raise Unsupported(call, "params of a function within an expression")
    for received in found.received:
        _check_target(form, received, found)
    return found


def _positions(form: _Native, value: Value | None) -> list[int | None]:
    """Where a result holds the model or its variables: [None] for the whole, positions in a tuple."""
    if isinstance(value, Items):
        kinds = [item for item in value.items if isinstance(item, State | OptState) and form.component.holds(item)]
        held = [i for i, item in enumerate(value.items) if _is_variables(form, item)]
        if held and kinds:
            raise Unsupported(form.init, "params beside a state that is made of them")
        models = [i for i, item in enumerate(value.items) if isinstance(item, Model) and form.component.holds(item)]
        positions: list[int | None] = [*sorted([*held, *models])]
        return positions if held else []
    return [None] if _is_variables(form, value) else []


def _is_variables(form: _Native, value: Value | None) -> bool:
    kinds = isinstance(value, Variables | Collection) and not isinstance(value, Updated)
    return kinds and form.component.holds(value)  # type: ignore[arg-type]


def _check_references(form: _Native, function: ast.FunctionDef) -> None:
    for decorator in function.decorator_list:
        name = form.flow.name(decorator.func) if isinstance(decorator, ast.Call) else form.flow.name(decorator)
        if name == "functools.partial" and isinstance(decorator, ast.Call) and decorator.args:
            name = form.flow.name(decorator.args[0])
        if name not in wrapped_init.JIT:
            raise Unsupported(decorator, "a decorated function that returns params")
    for node, _ in form.flow.uses.references(function):
        parent = form.parent(node)
        if wrapped_init.jitted(form, node):
            parent, node = form.parent(parent), parent
        if not (isinstance(parent, ast.Call) and parent.func is node):
            raise Unsupported(node, "a function that returns params and is handed on")


def _check_target(form: _Native, received: Received, makers: Makers) -> None:
    value = form.flow.value(received.call.func)
    assert isinstance(value, Function)
    ways = {tuple(makers.functions.get(node, ())) for node in value.nodes}  # type: ignore[arg-type]
    if len(ways) != 1 or not next(iter(ways)):
        raise Unsupported(received.call, "params of one of several functions")
    positions = ways.pop()
    if positions == (None,):
        if not isinstance(received.target, ast.Name):
            raise Unsupported(received.call, "params in a result that is not given one name")
        return
    if not isinstance(received.target, ast.Tuple) or any(isinstance(e, ast.Starred) for e in received.target.elts):
        raise Unsupported(received.call, "params in a result that is not unpacked")
    if not all(isinstance(received.target.elts[i], ast.Name) for i in positions if i is not None):
        raise Unsupported(received.call, "params that are not assigned to a name")


def parts(form: _Native, received: Received) -> list[ast.Name]:
    """The names that a result's parts get, model and variables."""
    value = form.flow.value(received.call.func)
    assert isinstance(value, Function)
    positions = form.makers.functions[next(iter(value.nodes))]  # type: ignore[index]
    if positions == [None]:
        return [received.target]  # type: ignore[list-item]
    return [received.target.elts[i] for i in positions if i is not None]  # type: ignore[attr-defined]


def name_all(form: _Native) -> None:
    """The module's name wherever its params are received."""
    for received in form.makers.received:
        names = parts(form, received)
        models = [name.id for name in names if isinstance(form.flow.value(name), Model)]
        symbols = [form.flow.symbol(form.source(received.call), name) for name in names]
        for other in symbols[1:]:
            form.namesakes.join(symbols[0], other)
        if models:
            received.name = form.namesakes.take(symbols[0], models[0])
        else:
            received.name = form.namesakes.free(symbols[0], ["model", "net"])
        for name, symbol in zip(names, symbols, strict=True):
            value = form.flow.value(name)
            if isinstance(value, Model):
                if name.id != received.name:
                    raise Unsupported(name, "a model under two names")
                continue
            if not _is_variables(form, value) or len(_stored(form, symbol)) != 1:
                raise Unsupported(name, f"{name.id} also holds other things")
            if is_params(value):
                form.new_names[symbol] = received.name


def fresh(form: _Native) -> set[ast.AST | None]:
    """The functions of which every call makes a model of its own."""
    return {form.home, *form.makers.functions, *(form.function(r.call) for r in form.makers.received)}


def symbol(form: _Native, received: Received) -> Symbol:
    """One that stands for the module."""
    return form.flow.symbol(form.source(received.call), parts(form, received)[0])


def of_scope(form: _Native, name: Symbol) -> Received | None:
    """What the scope of a name received, where that is one thing."""
    found = [r for r in form.makers.received if form.function(r.call) is name[1] and form.source(r.call).module == name[0]]
    return found[0] if len(found) == 1 else None


def _stored(form: _Native, symbol: Symbol) -> list[ast.Name]:
    return [
        node
        for node, _ in form.uses
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and form.flow.symbol(form.source(node), node) == symbol
        and changes.of_place(form, node) is None
    ]


def made_at(form: _Native, call: ast.Call) -> Received | None:
    """The place in the function of `TrainState.create(params=params)` that received its params, by the same steps."""
    for keyword in call.keywords:
        if keyword.arg == "params":
            symbol = _origin(form, keyword.value)
            for received in form.makers.in_function(form.function(call), form):
                names = [form.flow.symbol(form.source(n), n) for n in parts(form, received)]
                if symbol in names and received.call.lineno < call.lineno:
                    return received
    return None


def _origin(form: _Native, node: ast.expr) -> Symbol | None:
    """The name behind `variables['params']`, and behind `params` after `params = variables['params']`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    symbol = form.flow.symbol(form.source(node), node)
    stores = _stored(form, symbol)
    changed = changes.of_symbol(form, symbol) if not stores else None
    if changed is not None:
        return _origin(form, changed)
    statement = form.statement(stores[0]) if len(stores) == 1 else None
    if isinstance(statement, ast.Assign) and statement.targets == stores and isinstance(statement.value, ast.Subscript):
        return _origin(form, statement.value)
    return symbol


def applied_by_states(form: _Native) -> bool:
    """Is the model only applied as `state.apply_fn`, and is that the model whose `init` made the state's params?"""
    if any(lifted_apply.find(form)):
        return False
    for node, value in form.uses:
        if not (isinstance(value, Method) and value.name != "init"):
            continue
        parent = form.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            if not (isinstance(node, ast.Attribute) and isinstance(form.flow.value(node.value), State)):
                return False
            if not _to_its_params(form, parent, node.value):
                return False
        elif not (isinstance(parent, ast.keyword) and parent.arg == "apply_fn" and _of_its_params(form, parent)):
            return False
    return True


def _to_its_params(form: _Native, call: ast.Call, state: ast.expr) -> bool:
    """Is a state's model applied to that state's params, be it that a loss is given them?"""
    if not isinstance(state, ast.Name) or not call.args:
        return False
    own = form.flow.symbol(form.source(state), state)
    for node in subtree(call.args[0]):
        if not (isinstance(node, ast.Name) and form.component.holds(form.flow.value(node))):
            continue
        symbol = form.flow.symbol(form.source(node), node)
        if symbol == own:
            continue
        callers = form.flow.callers.get(symbol[1], {}) if symbol[1] is not None else {}
        if not callers or not all(_same_state(form, given, symbol, own) for given in callers):
            return False
    return True


def _same_state(form: _Native, call: ast.Call, params: Symbol, state: Symbol) -> bool:
    """Does a call give a function the params of the state that the function, or the code around it, has?"""
    function = params[1]
    if not isinstance(function, ast.FunctionDef | ast.Lambda):
        return False
    names = [argument.arg for argument in function.args.args]

    def base(name: str) -> Symbol | None:
        place = names.index(name) if name in names else len(call.args)
        node = call.args[place] if place < len(call.args) else None
        node = node or next((k.value for k in call.keywords if k.arg == name), None)
        while isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node, ast.Name):
            node = node.value
        return form.flow.symbol(form.source(node), node) if isinstance(node, ast.Name) else None

    given = base(params[2])
    return given is not None and given == (base(state[2]) if state[1] is function else state)


def _of_its_params(form: _Native, apply_fn: ast.keyword) -> bool:
    """`params = initial_params(key, model)`, `TrainState.create(apply_fn=model.apply, params=params)`: the same model?"""
    call, method = form.parent(apply_fn), apply_fn.value
    if not (isinstance(call, ast.Call) and isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name)):
        return False
    model = form.flow.symbol(form.source(method), method.value)
    base = form.init_model
    if len(_stored(form, model)) > 1 or not isinstance(base, ast.Name):
        return False
    initialized = form.flow.symbol(form.source(base), base)
    if form.function(call) is form.home and form.source(call) is form.source(form.init):
        return initialized == model
    received = made_at(form, call)
    function = form.flow.value(received.call.func) if received is not None else None
    if received is None or not isinstance(function, Function) or function.nodes != {form.home} or _stored(form, initialized):
        return False
    names = [argument.arg for argument in form.home.args.args]  # type: ignore[union-attr]
    if initialized[1] is not form.home or initialized[2] not in names:
        return False
    place = names.index(initialized[2])
    given = received.call.args[place] if place < len(received.call.args) else None
    given = given or next((k.value for k in received.call.keywords if k.arg == initialized[2]), None)
    return isinstance(given, ast.Name) and form.flow.symbol(form.source(given), given) == model


# what is written ---------------------------------------------------------------------------------------------------
def write(form: _Native) -> None:
    for function, positions in form.makers.functions.items():
        assert isinstance(function, ast.FunctionDef)
        for node, _ in form.flow.uses.references(function):
            if wrapped_init.jitted(form, node):
                form.replace(form.parent(node), node)
        _undecorate(form, function)
        for statement in subtree(function):
            if isinstance(statement, ast.Return) and form.function(statement) is function and statement.value is not None:
                _return(form, statement, positions)
        if function.returns is not None:
            form.drop_annotation(function)
    for received in form.makers.received:
        names = parts(form, received)
        _one(form, received.target, list(names), received.name)
        form.dropped.update(names)


def _undecorate(form: _Native, function: ast.FunctionDef) -> None:
    """A module is made once: nothing is gained by compiling that, and a class is nothing that jit takes."""
    source = form.source(function)
    for decorator in function.decorator_list:
        line = source.line_span(decorator)
        form.replace_span(function, line, "")


def _return(form: _Native, statement: ast.Return, positions: list[int | None]) -> None:
    value = statement.value
    assert value is not None
    if isinstance(value, ast.Call) and isinstance(form.flow.value(value.func), Function):
        return  # of another such function
    name = form.home_name
    if positions == [None]:
        form.replace(value, name)
        form.dropped.update(set(subtree(value)) - set(subtree(form.init)))
        return
    if not isinstance(value, ast.Tuple):
        raise Unsupported(value, "params in a result that is not spelled out")
    gone = [value.elts[i] for i in positions if i is not None]
    _one(form, value, gone, name)
    for element in gone:
        form.dropped.update(set(subtree(element)) - set(subtree(form.init)))


def _one(form: _Native, node: ast.expr, names: Sequence[ast.AST], name: str) -> None:
    """Put one name for several elements of a tuple, in the place of the first."""
    if not isinstance(node, ast.Tuple):
        form.replace(node, name)
        return
    form.replace(names[0], name)
    form.remove(node, names[1:])
