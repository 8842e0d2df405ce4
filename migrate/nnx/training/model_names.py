"""The names of the NNX idiom: those of models and optimizers in the place of states, variables and params."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import State, Symbol, Variables, is_params
from . import attributes, by_hand, loaded, makers, state_makers, steps
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


class Names(dict[Symbol, str]):
    """New names by symbol; one that is missing belongs to something else, which stops the form."""

    def __init__(self, site: ast.AST) -> None:
        super().__init__()
        self.site = site

    def __missing__(self, symbol: Symbol) -> str:
        raise Unsupported(self.site, f"{symbol[2]} also holds other things")


def check_declared(form: _Native) -> None:
    """`global state` and `nonlocal state` bind a name of another scope, which would go by another name there."""
    names = {(module, name) for module, _, name in form.roles}
    for module in {module for module, _ in names}:
        by_kind = form.flow.project.files[module].by_kind
        for node in [*by_kind.get(ast.Global, ()), *by_kind.get(ast.Nonlocal, ())]:
            assert isinstance(node, ast.Global | ast.Nonlocal)
            if any((module, name) in names for name in node.names):
                raise Unsupported(node, "a state that a function assigns outside of itself")


def prefix(state: str) -> str:
    """`actor_` of `actor_state`, `_` of a name for what nobody reads."""
    if not state.strip("_"):
        return "_"
    found = state.removesuffix("state").rstrip("_")
    return "" if found in ("", "model", "train", "new", "ts", "updated") else f"{found}_"


def of_home(form: _Native) -> list[str]:
    """Names for a module that has none where it is made: `actor_model` for an `actor_state`."""
    statement = form.init_statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    before = prefix(target.id) if form.nested and isinstance(target, ast.Name) else ""
    return [f"{before}{name}" for name in ("model", "module", "net")]


def name_all(form: _Native) -> None:
    names = form.namesakes
    home = (form.source(form.init).module, form.home, "the model of init")
    names.take(home, form.home_name)
    made_by_others = _received_states(form)
    for symbol, value in form.roles.items():
        module, scope, name = symbol
        source = form.flow.project.files[module]
        at_home = scope is form.home and source is form.source(form.init)
        argument = isinstance(scope, ast.FunctionDef | ast.Lambda) and name in _arguments(scope)
        if isinstance(value, State):
            attribute = "self." if isinstance(scope, ast.ClassDef) else ""
            before = attribute + prefix(name.removeprefix("self."))
            created = at_home and not argument and symbol not in form.copies
            if attribute and attributes.created(form, symbol) and form.home_name.startswith("self."):
                created = True
            model = made_by_others.get(symbol) or (form.home_name if created else "")
            if created and symbol not in made_by_others:
                names.join(home, symbol)
            form.new_names[symbol] = (
                names.take(symbol, model) if model else names.free(symbol, [f"{before}model", f"{before}net"])
            )
            candidates = [f"{before}optimizer", f"{before}opt", f"{before}nnx_optimizer"]
            form.optimizers[symbol] = names.free(symbol, [c for c in candidates if c != form.new_names[symbol]])
        elif is_params(value):
            received = makers.of_scope(form, symbol)
            if symbol in form.new_names:
                continue
            if at_home and not argument:
                form.new_names[symbol] = form.home_name
            elif received is not None and not argument:
                form.new_names[symbol] = received.name
            elif argument:
                form.new_names[symbol] = names.free(symbol, ["model", "net"])
            elif isinstance(scope, ast.ClassDef):
                raise Unsupported(form.site, "params in attributes")
            elif not isinstance(value, Variables) and form.by_hand is None:
                raise Unsupported(form.site, f"params under the name {name}")
    if form.by_hand is not None:
        by_hand.name_all(form, form.by_hand)
    for node, held in form.uses:
        if isinstance(held, Variables) and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            by_step = form.by_hand is not None and (form.by_hand.stores(node) or steps.of_result(form, node))
            if form.makers.receiving(node) is None and not by_step:
                _spelled_out(form, node)


def reads_field(form: _Native, node: ast.AST) -> bool:
    """`actor.action_scale` once the module is made under the model's name: it has the fields that are read outside of it."""
    base = node.value if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else None
    made = form.init_model
    if not isinstance(base, ast.Name) or not isinstance(made, ast.Name) or form.home_name != base.id:
        return False
    assert isinstance(node, ast.Attribute)
    source, init = form.source(node), form.init_statement
    same = source is form.source(init) and form.flow.symbol(source, base) == form.flow.symbol(source, made)
    parent = form.parent(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    classes = {plan.qualname for plans in form.component.plans for plan in plans}
    later = node.lineno > (init.end_lineno or init.lineno)
    return same and later and not called and len(classes) == 1 and node.attr in form.plan.fields


def _received_states(form: _Native) -> dict[Symbol, str]:
    """The modules of the states that are made of params which a function returned."""
    makers.name_all(form)
    found = dict(state_makers.name_all(form))
    for node, value in form.uses:
        parent = form.parent(node)
        if isinstance(node, ast.Call) and isinstance(value, State) and isinstance(parent, ast.Assign):
            received = makers.made_at(form, node) if form.flow.creates_state(node) else None
            if received is not None and isinstance(parent.targets[0], ast.Name):
                symbol = form.flow.symbol(form.source(node), parent.targets[0])
                found[symbol] = received.name
                form.namesakes.join(makers.symbol(form, received), symbol)
    return found


def _spelled_out(form: _Native, name: ast.Name) -> None:
    """`variables = {'params': state.params, ...}` goes, and the name stands for the state's model."""
    statement = form.statement(name)
    symbol = form.flow.symbol(form.source(name), name)
    if symbol in form.new_names and (statement is form.init_statement or loaded.stores(form, name)):
        return
    plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is name
    if not plain or not isinstance(statement.value, ast.Dict):  # type: ignore[attr-defined]
        raise Unsupported(name, "variables that are put together")
    assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict)
    given = form.new_names.get(symbol)
    for key, value in zip(statement.value.keys, statement.value.values):
        if isinstance(key, ast.Constant) and key.value == "params":
            form.new_names[symbol] = form.model_of(value)
    if given is not None and (given != form.new_names[symbol] or not _bound_once(form, name)):
        raise Unsupported(name, "variables that are put together")
    form.delete(statement)


def _bound_once(form: _Native, name: ast.Name) -> bool:
    stores = [n for n in form.flow.occurrences(form.flow.symbol(form.source(name), name)) if isinstance(n.ctx, ast.Store)]
    return stores == [name]


def _arguments(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    return [a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]
