"""Functions that make a state of the params they are given: they are given the module, and return its optimizer.

    def create_state(params, model, tx):           →   def create_state(model, tx):
        return TrainState.create(                          return nnx.Optimizer(model, tx, wrt=nnx.Param)
            apply_fn=model.apply, params=params, tx=tx)
    params = initial_params(model, key)            →   model = initial_params(model, key)
    state = create_state(params, model, tx)        →   optimizer = create_state(model, tx)

Only where the one call of such a function stands beside the params, in the function that makes or receives them.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Collection, Function, Method, Model, State, Symbol, Variables
from ...trees import subtree
from . import handed_methods, makers
from .places import loops_around

if TYPE_CHECKING:
    from .native import _Native


@dataclasses.dataclass
class StateMaker:
    """Such a function, and its one call."""

    function: ast.FunctionDef
    create: ast.Call  # of the state
    call: ast.Call  # of the function
    params: Symbol  # the parameter
    model: str  # the name that the caller has for the module; "" where the function of init made it
    gone: dict[str, ast.expr]  # the other parameters that stand for the model, with what they are given


def find(form: _Native) -> dict[ast.AST, StateMaker]:
    """By function. What does not fit is left to `loops.create`, which refuses it."""
    found: dict[ast.AST, StateMaker] = {}
    made = [
        node
        for node, value in form.uses
        if isinstance(node, ast.Call) and isinstance(value, State) and form.flow.creates_state(node)
    ]
    for create in made:
        maker = _maker(form, create)
        if maker is not None:
            found[maker.function] = maker
    if len(made) != 1:
        return {}
    for maker in found.values():
        for given in maker.gone.values():
            form.dropped.update(subtree(given))
    return found


def _maker(form: _Native, create: ast.Call) -> StateMaker | None:
    function, source = form.function(create), form.source(create)
    if not isinstance(function, ast.FunctionDef) or function is form.home or function.decorator_list:
        return None
    if isinstance(form.parent(function), ast.ClassDef) or makers.made_at(form, create) is not None:
        return None
    params = next((k.value for k in create.keywords if k.arg == "params"), None)
    if not isinstance(params, ast.Name) or not isinstance(form.flow.value(params), Collection | Variables):
        return None
    symbol = form.flow.symbol(source, params)
    required = handed_methods.required(function)
    if symbol[1] is not function or symbol[2] not in required or form.flow.occurrences(symbol) != [params]:
        return None
    calls = list(form.flow.callers.get(function, {}))
    if len(calls) != 1 or len(form.flow.uses.references(function)) != 1 or form.flow.partials.get(function):
        return None
    (call,) = calls
    if form.flow.value(call.func) != Function(frozenset([function])):
        return None
    assigned = form.parent(call)
    if not (isinstance(assigned, ast.Assign) and len(assigned.targets) == 1 and isinstance(assigned.targets[0], ast.Name)):
        return None
    given = handed_methods.arguments(function, call)
    if given is None or symbol[2] not in given:
        return None
    model = _beside(form, call, given[symbol[2]])
    if model is None:
        return None
    gone: dict[str, ast.expr] = {}
    for name in given:
        other = form.flow.env.get((source.module, function, name))
        statistics = isinstance(other, Collection) and other.name == "batch_stats"
        if (isinstance(other, Model | Method) or statistics) and form.component.holds(other):  # type: ignore[arg-type]
            if not _for_state_alone(form, (source.module, function, name), create) or name not in required:
                return None
            gone[name] = given[name]
    return StateMaker(function, create, call, symbol, model, gone)


def _beside(form: _Native, call: ast.Call, given: ast.expr) -> str | None:
    """Are the params of a call made or received in the function around it? What receives them there, or ""."""
    base = given
    while isinstance(base, ast.Subscript):
        base = base.value
    if not isinstance(base, ast.Name) or not isinstance(form.flow.value(given), Collection | Variables):
        return None
    symbol = form.flow.symbol(form.source(base), base)
    around, source = form.function(call), form.source(call)
    if symbol[1] is not around:
        return None
    for received in form.makers.in_function(around, form):
        names = [form.flow.symbol(form.source(n), n) for n in makers.parts(form, received)]
        once = not loops_around(form, call, around) - loops_around(form, received.call, around)
        if symbol in names and once and form.source(received.call) is source and received.call.lineno < call.lineno:
            return makers.symbol(form, received)[2]
    once = not loops_around(form, call, around) - loops_around(form, form.init, around)
    home = around is form.home and source is form.source(form.init) and form.init.lineno < call.lineno
    return "" if home and once and not form.nested else None


def _for_state_alone(form: _Native, parameter: Symbol, create: ast.Call) -> bool:
    """Is a model, its apply, or statistics only what a state is given for its `apply_fn` and `batch_stats`?"""
    inside = {node for k in create.keywords if k.arg in ("apply_fn", "batch_stats") for node in subtree(k.value)}
    return all(node in inside for node in form.flow.occurrences(parameter))


def received(form: _Native, maker: StateMaker) -> makers.Received | None:
    """The place that has the module which the call is given; None where its init stands there."""
    if not maker.model:
        return None
    around = form.makers.in_function(form.function(maker.call), form)
    return next(r for r in around if makers.symbol(form, r)[2] == maker.model)


def drop_arguments(form: _Native) -> None:
    """Models that are handed over for `apply_fn` go, from the functions and from their calls."""
    for maker in form.state_makers.values():
        if not maker.gone:
            continue
        plain = [*maker.function.args.posonlyargs, *maker.function.args.args]
        handed_methods.take_out(form, maker.function, plain, [a for a in plain if a.arg in maker.gone])
        handed_methods.take_out_values(form, maker.call, set(maker.gone.values()))


def name_all(form: _Native) -> Iterator[tuple[Symbol, str]]:
    """What the parameters of such functions are called now; and the modules of the states that the functions give."""
    for maker in form.state_makers.values():
        models = [name for name in maker.gone if isinstance(form.flow.env.get((*maker.params[:2], name)), Model)]
        if models:
            form.new_names[maker.params] = form.namesakes.take(maker.params, models[0])
        else:
            form.new_names[maker.params] = form.namesakes.free(maker.params, ["model", "net"])
        parent = form.parent(maker.create)
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            symbol = form.flow.symbol(form.source(maker.create), parent.targets[0])
            form.namesakes.join(maker.params, symbol)
            yield symbol, form.new_names[maker.params]
        place = received(form, maker)
        target = form.statement(maker.call).targets[0]  # type: ignore[attr-defined]
        if place is not None:
            symbol = form.flow.symbol(form.source(maker.call), target)
            form.namesakes.join(makers.symbol(form, place), symbol)
            yield symbol, place.name


__all__ = ["StateMaker", "drop_arguments", "find", "name_all"]
