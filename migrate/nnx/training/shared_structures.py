"""Structures that other functions see: of a model in an attribute of `self`, and of a model of the whole file.

self.graphdef, params = nnx.split(self.model(...), nnx.Param)   where every object initializes its model when it is made
global graphdef                                                 in the functions that initialize the file's model
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Method, Model, Symbol
from ...source import SourceFile
from ...trees import subtree
from . import one_model

if TYPE_CHECKING:
    from .functional import _Functional
    from .functional_kinds import Kind


def widen(form: _Functional) -> None:
    """Makes the structures seen by what applies a model, or hands it on, in other functions than initialize it."""
    for node, value in form.uses:
        if not isinstance(value, Model) or not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        parent = form.parent(node)
        method = form.flow.value(parent) if isinstance(parent, ast.Attribute) else None
        applied = isinstance(method, Method) and method.name in ("apply", "bind")
        place = form.flow.symbol(form.source(node), node)
        if place in form.structures or not (applied or form.structures.intersection(form.receivers(node))):
            continue
        kind = next((kind for kind in form.kinds if kind.has(value)), None)
        if kind is not None and not form.is_in_sight(form.parent(parent) if applied else node, node):
            _share(form, kind, place, node)


def name_of(form: _Functional, kind: Kind, base: ast.expr) -> str:
    """The name under which a shared structure is seen; "" where there is none, as in the file that the model comes from."""
    source = form.source(base)
    if not isinstance(base, ast.Name) or any(form.source(call) is not source for call in kind.homes.values()):
        return ""
    return kind.shared.get(form.flow.symbol(source, base), "")


def _share(form: _Functional, kind: Kind, place: Symbol, node: ast.Name) -> None:
    source = form.source(node)
    if form.bound_once(node) is None:
        return
    for call in kind.homes.values():
        made = form.initialized(call)
        if form.source(call) is not source or not isinstance(made, ast.Name):
            return
        if form.flow.symbol(source, made) != place and form.flow.symbol(source, made) != _same(form, source, place):
            return
    homes = list(kind.homes)
    name = kind.graphdefs[homes[0]]
    if isinstance(place[1], ast.ClassDef):
        if form.flow.uses.attributes({name}):
            return
        if _given_from_outside(form, place[2].removeprefix("self.")) or not all(
            _of_every_object(form, place[1], call) for call in kind.homes.values()
        ):
            return
        name = f"self.{name}"
    else:
        functions = [home for home in homes if isinstance(home, ast.FunctionDef)]
        if place[1] is not None or not all(_alike(form, kind, call) for call in kind.homes.values()):
            return
        if len(functions) < len(homes):
            return
        if any(isinstance(n, ast.Global) for home in functions for n in subtree(home)):
            return
        for home in functions:
            form.insert_before(_first(home), f"global {name}")
    kind.shared[place] = name
    kind.graphdefs.update(dict.fromkeys(homes, name))


def _same(form: _Functional, source: SourceFile, place: Symbol) -> Symbol | None:
    """The parameter that an attribute is given as it is: `self.model = model`."""
    for statement in source.by_kind.get(ast.Assign, ()):
        if statement in form.flow.source_of and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and form.flow.symbol(source, target) == place:
                return form.bound_once(statement.value) if isinstance(statement.value, ast.Name) else None
    return None


def _alike(form: _Functional, kind: Kind, call: ast.Call) -> bool:
    """Does a call of `init` always ask for the same sizes?"""
    given, keywords = form.given_to_init(call)
    home = form.function(call)
    names = form.source(call).names
    sizes = [ast.parse(text.partition("=")[2], mode="eval") for text in form.sizes(call, given[1:], keywords, kind.plan)]
    local = {n.id for size in sizes for n in subtree(size) if isinstance(n, ast.Name) and names.binding_scope(n.id, call)}
    return not local or (home is not None and not one_model.called_in_unlike_ways(form, home, set()))


def _of_every_object(form: _Functional, owner: ast.ClassDef, call: ast.Call) -> bool:
    """Has every object of a class come to a call of `init` when it is made, and once?"""
    methods = {s.name: s for s in owner.body if isinstance(s, ast.FunctionDef)}
    function = form.function(call)
    if owner in form.flow.class_facts.derived or not isinstance(function, ast.FunctionDef):
        return False
    statement: ast.AST = form.statement(call)
    while function is not methods.get("__init__"):
        calls = list(form.flow.callers.get(function, {}))
        if methods.get(function.name) is not function or len(calls) != 1 or not _always(form, statement, function):
            return False
        statement, outer = form.statement(calls[0]), form.function(calls[0])
        if not isinstance(outer, ast.FunctionDef) or methods.get(outer.name) is not outer:
            return False
        function = outer
    return _always(form, statement, function)


def _always(form: _Functional, statement: ast.AST, function: ast.FunctionDef) -> bool:
    """Is a function never done before it has come to a statement?"""
    while form.parent(statement) is not function:
        statement = form.parent(statement)
        if not isinstance(statement, ast.With):
            return False
    before = function.body[: function.body.index(statement)]  # type: ignore[arg-type]
    return not any(isinstance(n, ast.Return) for other in before for n in subtree(other))


def _given_from_outside(form: _Functional, word: str) -> bool:
    stores = (n for n in form.flow.source_of if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load))
    return any(n.attr == word and not (isinstance(n.value, ast.Name) and n.value.id == "self") for n in stores)


def _first(function: ast.FunctionDef) -> ast.stmt:
    """The first statement behind the text that says what a function does."""
    first, *rest = function.body
    said = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return rest[0] if said and rest else first
