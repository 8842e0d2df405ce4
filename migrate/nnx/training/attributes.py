"""States in attributes of a project's class: `self.state` becomes `self.model` and `self.optimizer`.

    self.state = TrainState.create(...)                  →   self.optimizer = nnx.Optimizer(self.model, ...)
    self.state, loss = train_step(self.state, batch)     →   loss = train_step(self.model, self.optimizer, batch)

That is the same program where only the class's own methods say the attribute, on `self`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Instance, Items, Model, State, Symbol, Tracked, Value
from ...linen.flow.self_names import SelfName
from ...source import SourceFile
from ...trees import subtree
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


# Functions that take the name of an attribute.
_ASKING = {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller", "__getattribute__", "__setattr__"}
# Functions that make an object with the attributes of another.
_COPIES = {"copy.copy", "copy.replace", "vars", "builtins.vars"}


def check(form: _Native) -> None:
    """Unsupported where others than the class's own methods may see what an attribute holds."""
    held = {symbol for symbol in form.roles if isinstance(symbol[1], ast.ClassDef)}
    if not held:
        return
    flow = form.flow
    owners = {owner for _, owner, _ in held}
    for owner in owners:
        assert isinstance(owner, ast.ClassDef)
        if owner.decorator_list or owner.keywords:
            raise Unsupported(owner, "values in attributes of a class that something changes")
    _check_copies(form, {owner for owner in owners if isinstance(owner, ast.ClassDef)})
    words = {symbol[2].removeprefix("self.") for symbol in held}
    stepping = {node.name for node in _methods(form) if _takes_states(form, node)}
    by_name = _asked_by_name(form)
    for node, source in form.program_nodes():
        if isinstance(node, ast.ClassDef) and node not in owners:
            names = {(flow.name(base) or "").rpartition(".")[2] for base in node.bases}
            if names & {owner.name for owner in owners if isinstance(owner, ast.ClassDef)}:
                raise Unsupported(node, "values in attributes of a class that others derive from")
        if isinstance(node, ast.Attribute) and node.attr in words | stepping and not _plain(form, node):
            raise Unsupported(node, "values in attributes that are read from outside")
        call = source.parents[node] if isinstance(node, ast.Constant) and node.value in words else None
        if isinstance(call, ast.Call) and (by_name or _is_asking(call)):
            raise Unsupported(node, "values in attributes that are read by name")


def _is_asking(call: ast.Call) -> bool:
    """Is something asked for an attribute by its name?"""
    said = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return said in _ASKING


def _asked_by_name(form: _Native) -> bool:
    """Does the program ask for attributes by names that it has elsewhere?"""
    for node, _ in form.program_nodes():
        if isinstance(node, ast.Name | ast.Attribute) and getattr(node, "id", getattr(node, "attr", "")) in _ASKING:
            call = form.parent(node)
            place = 0 if isinstance(call, ast.Call) and len(call.args) == 1 else 1
            said = call.args[place] if isinstance(call, ast.Call) and call.func is node and len(call.args) > place else None
            if not (isinstance(said, ast.Constant) and isinstance(said.value, str)):
                return True
    return False


def _check_copies(form: _Native, owners: set[ast.ClassDef]) -> None:
    """Unsupported where an object may be copied with its attributes: both would have one model, which each updates.

    (What `copy.deepcopy` gives has a model of its own.)
    """
    for call in form.flow.uses.calls(_COPIES):
        for given in call.args[:1]:
            value = form.flow.value(given)
            other = isinstance(value, Instance) and value.cls.rpartition(".")[2] not in {owner.name for owner in owners}
            if not other and not isinstance(value, Tracked | Items | Function):
                raise Unsupported(call, "values in attributes of an object that may be copied")
    for node, _ in form.program_nodes():
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            raise Unsupported(node, "values in attributes, and attributes that are read all at once")


def _plain(form: _Native, node: ast.Attribute) -> bool:
    """Is it an attribute of something that has nothing to do with the class: of a module, a state or a Linen class?"""
    if form.flow.name(node) and not isinstance(node.value, ast.Name):
        return True
    value = form.flow.value(node.value)
    if isinstance(value, State) or (form.flow.name(node.value) or "").startswith(("jax", "flax", "optax", "numpy")):
        return True
    base = node.value
    if isinstance(base, ast.Name) and base.id == "self":
        owner = next((p for p in form.source(node).ancestors(node) if isinstance(p, ast.ClassDef)), None)
        return owner is not None
    return False


def _methods(form: _Native) -> list[ast.FunctionDef]:
    return [
        node
        for node, source in form.flow.source_of.items()
        if isinstance(node, ast.FunctionDef) and isinstance(source.parents.get(node), ast.ClassDef)
    ]


def _takes_states(form: _Native, method: ast.FunctionDef) -> bool:
    """Does a method take or return values of the component?"""
    if _holds(form, form.flow.returns.get(method)):
        return True
    return any(scope is method and name in {a.arg for a in method.args.args} for _, scope, name in form.roles)


def _holds(form: _Native, value: Value | None) -> bool:
    if isinstance(value, Items):
        return any(_holds(form, item) for item in value.items)
    return value is not None and form.component.holds(value)


def created(form: _Native, symbol: Symbol) -> bool:
    """Is an attribute's state made where the model is initialized, by the class itself?"""
    for node, value in form.uses:
        if isinstance(node, SelfName) and isinstance(node.ctx, ast.Store) and isinstance(value, State):
            if form.flow.symbol(form.source(node), node) == symbol and form.function(node) is form.home:
                call = getattr(form.statement(node), "value", None)
                if isinstance(call, ast.Call) and form.flow.creates_state(call):
                    return True
    return False


def free(form: _Native, source: SourceFile, owner: ast.ClassDef, candidates: list[str], avoid: str) -> str:
    """The first of the names that the class has no attribute of, but for those that go."""
    used = {
        f"self.{node.attr}"
        for node in subtree(owner)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    used |= {f"self.{node.name}" for node in owner.body if isinstance(node, ast.FunctionDef)}
    used |= {node.id for node in subtree(owner) if isinstance(node, SelfName) and node not in form.tracked_names}
    models = {s[2] for s, value in form.roles.items() if s[1] is owner and isinstance(value, Model)}
    for candidate in candidates:
        if candidate != avoid and candidate not in used | models:
            return candidate
    raise Unsupported(form.site, f"the names {', '.join(candidates)} are taken")
