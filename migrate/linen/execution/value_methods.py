"""Methods of values: of arrays, of lists and dicts of modules, of modules held in variables."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ..lifted.higher_order import run_functions
from ..lists import chains, list_ends, size_lists
from ..lists.size_lists import SizeList
from ..modules import objects_of_others
from ..modules.lost_factories import one_of
from ..modules.module_calls import call_either, call_module
from ..modules.scope_methods import of_scope, of_submodule
from ..shapes import shapes
from ..shapes.reshaped import is_loose, joined_rest, like, reshaped_width
from ..values.arguments import arguments_of, is_self
from ..values.bundles import Changed, with_parts
from ..values.dims import Dim
from ..values.merging import Either
from ..values.scalars import beside_text, whole_arguments
from ..values.sites import Abs, Factory, Function, Module, ModuleField, Repeated, Static, Table, Unmigratable, Variable
from ..values.values import Array, Const, Global, Int, NeedsRank, Tup, Unknown, Value
from .plain_objects import CallObject

# Methods by which a list's items are no longer those that were made, in that order.
_REORDERING = frozenset({"reverse", "pop", "remove", "sort", "clear"})
_OF_TEXTS = frozenset({"lower", "upper", "strip", "title", "capitalize", "isupper", "islower"})


def method_of_value(run: Any, node: ast.Call, func: ast.Attribute, env: Any) -> Abs | None:
    """`x.reshape(...)`, `layers.append(...)`, `embed.attend(...)`; None if the base is not such a value."""
    if not run._rooted_local(func, env) and run.project.qualname(env.source, func) is not None:
        return None
    if is_self(func.value, env):
        return None
    base = run.evaluate(func.value, env)
    value = base.value
    if of_scope(run, value, func.attr):
        return of_submodule(run, value, node, func, env)
    if isinstance(value, Module | ModuleField):
        return call_module(run, value, func.attr, node, env)
    if isinstance(value, Either):
        return call_either(run, value, func.attr, node, env)
    if isinstance(value, Factory | Function | Static | Global | CallObject):
        return None
    if isinstance(value, SizeList | Tup) and value.variable:
        changed = _change_sizes(run, node, func, base, env)
        if changed is not None:
            return changed
    if func.attr in ("append", "extend", "insert") and isinstance(value, Tup | Repeated | chains.Chain):
        return _append(run, node, func, base, env)
    if func.attr in ("replace", "_replace") and isinstance(value, Array | Changed) and not node.args:
        given = arguments_of(run, node, env)
        parts = {key: v.value for key, _, v in given.keywords if key is not None}
        record = with_parts(value, parts) if len(parts) == len(node.keywords) else None
        if record is not None:
            return Abs(record, False, base.flags | given.flags)
    if func.attr in _REORDERING and isinstance(value, Tup | Repeated | chains.Chain) and run.holds_module(value):
        return _reordered(run, node, func, base, env)
    if isinstance(value, Table) and func.attr in ("items", "values", "keys", "get"):
        arguments = arguments_of(run, node, env)
        if value.maybe and func.attr != "get" and run.holds_module(value):
            raise Unmigratable("NNX121", f"`{ast.unparse(func)}` is asked for items that are there under conditions", node)
        if value.maybe and func.attr != "get":
            return Abs(Unknown("items that are there under conditions"), base.static, base.flags)
        if func.attr == "items":
            pairs = tuple(Tup((Const(k), v)) for k, v in value.items.items())
            return Abs(Tup(pairs, "list"), base.static, base.flags)
        if func.attr == "values":
            return Abs(Tup(tuple(value.items.values()), "list"), base.static, base.flags)
        chosen = one_of([value]) if func.attr == "get" else None
        if chosen is not None:
            return Abs(chosen, base.static, base.flags)
        if func.attr == "get" and base.static and arguments.static and not run.holds_module(value):
            said: Abs = run._static_text(node, True, base.flags | arguments.flags, env)
            return said
        return Abs(Unknown("dict"), base.static, base.flags)
    if isinstance(value, Repeated) and value.kind == "dict" and func.attr in ("items", "values", "keys"):
        key = Unknown("a key of a dict")
        element = {"items": Tup((key, value.element)), "values": value.element}.get(func.attr)
        if element is None:
            return Abs(key, False, base.flags)
        return Abs(dataclasses.replace(value, element=element, kind="list"), False, base.flags)
    if (
        func.attr in _OF_TEXTS
        and isinstance(value, Const)
        and isinstance(value.value, str)
        and not (node.args or node.keywords)
    ):
        return Abs(Const(getattr(value.value, func.attr)()), base.static, base.flags)
    if isinstance(value, Unknown | Const | Variable):
        arguments = arguments_of(run, node, env)
        objects_of_others.check_value(run, node, value, arguments, env)
        run_functions(run, arguments)
        if func.attr == "reshape" and isinstance(value, Unknown):
            width = reshaped_width(arguments.values(run)[0], value)  # whatever it was, it has this width now
            if isinstance(width, Array):
                return Abs(width, False, base.flags | arguments.flags)
        if isinstance(value, NeedsRank):
            return Abs(value, False, base.flags | arguments.flags)
        return Abs(Unknown(f"`{run.project.said(func)}(...)`"), False, base.flags | arguments.flags)
    arguments = arguments_of(run, node, env)
    args, keywords = whole_arguments(run, func.attr, arguments)
    found = beside_text(run, f"jax.numpy.{func.attr}", arguments, shapes.method(value, func.attr, args, keywords))
    if func.attr == "reshape" and isinstance(found, Unknown):
        found = reshaped_width(args, found)
    if func.attr == "reshape" and isinstance(value, Array) and is_loose(found) and not node.keywords:
        found = joined_rest(value, like(run, value, func.value, env), node.args) or found
    return Abs(found, base.static and arguments.static, base.flags | arguments.flags)


def _change_sizes(run: Any, node: ast.Call, func: ast.Attribute, base: Abs, env: Any) -> Abs | None:
    """A method of a list of arrays whose widths the constructor keeps along."""
    value = base.value
    if func.attr in ("append", "extend") and len(node.args) == 1:
        added = run.evaluate(node.args[0], env)
        new = size_lists.grown(run, value, added.value, func.attr == "append")
        if new is None:  # modules, or something else that is no array
            return _appended(run, node, func, base, added, env)
        list_ends.changed(run, size_lists.variable_of(value), list_ends.added(added.value, func.attr == "append"), env)
        _rebind(run, func.value, Abs(new, False, base.flags), env)
        return Abs(Const(None))
    if func.attr == "pop":
        found = size_lists.popped(run, value, node, env)
        if found is not None:
            list_ends.changed(run, size_lists.variable_of(value), None, env)
            _rebind(run, func.value, Abs(found[1], False, base.flags), env)
            return Abs(found[0], False, base.flags)
    if func.attr not in ("index", "count", "copy"):
        size_lists.broken(run, {size_lists.variable_of(value)})
        _rebind(run, func.value, Abs(Unknown("a list of arrays"), False, base.flags), env)
    arguments_of(run, node, env)
    return Abs(Unknown("an item of a list"), False, base.flags)


def _rebind(run: Any, node: ast.expr, value: Abs, env: Any) -> None:
    """The name that holds a list now holds the list after a change."""
    if not isinstance(node, ast.Name):
        size_lists.broken(run, {size_lists.variable_of(value.value)} - {""})
        return
    scope = env
    while scope is not None and node.id not in scope.names:
        scope = scope.parent
    if scope is not None:
        scope.names[node.id] = value
        scope.local.discard(node.id)


def _reordered(run: Any, node: ast.Call, func: ast.Attribute, base: Abs, env: Any) -> Abs:
    """A list of modules that is turned, or loses items."""
    arguments = arguments_of(run, node, env)
    value, once = base.value, not (run.loops or run.repeating)
    taken: Value = Unknown("an item of a list")
    place = arguments.values(run)[0][0] if arguments.positional else Int(Dim.of(-1))
    new: Value = value.disordered() if isinstance(value, Repeated) else Unknown("a list in an order of its own")
    if func.attr == "reverse" and once and isinstance(value, Repeated):
        new = value.reversed()
    elif func.attr == "reverse" and once and isinstance(value, Tup):
        new = Tup(value.items[::-1], value.kind)
    elif func.attr == "pop" and once and isinstance(value, Tup) and isinstance(place, Int):
        index = place.dim.value
        if index is not None and -len(value.items) <= index < len(value.items):
            items = list(value.items)
            taken = items.pop(index)
            new = Tup(tuple(items), value.kind)
    elif func.attr == "pop" and once and isinstance(place, Int) and place.dim.value == -1:
        new = chains.without_last(run, value, env) or new
    left = Abs(new, base.static and new is value, base.flags)
    if isinstance(func.value, ast.Name):
        _rebind(run, func.value, left, env)
    elif isinstance(func.value, ast.Attribute) and isinstance(func.value.value, ast.Name):
        run.attributes[func.value.attr] = left
    return Abs(taken if func.attr == "pop" else Const(None), False, base.flags | arguments.flags)


def _append(run: Any, node: ast.Call, func: ast.Attribute, base: Abs, env: Any) -> Abs:
    arguments = arguments_of(run, node, env)
    if not arguments.positional:
        return Abs(Const(None))
    return _appended(run, node, func, base, arguments.positional[-1][1], env)


def _appended(run: Any, node: ast.Call, func: ast.Attribute, base: Abs, added: Abs, env: Any) -> Abs:
    """A list after `append(added)` or `extend(added)`."""
    value = base.value
    if func.attr == "extend":
        new: Value = run.extended(value, added.value, node) if run.holds_module(added.value) else Unknown("list")
    elif func.attr == "append" and (
        isinstance(added.value, Function | Global) or run.holds_module(added.value) or run.holds_module(value)
    ):
        new = chains.appended(run, value, added.value)
    elif run.loops or run.repeating or isinstance(value, Repeated):
        turned = func.attr == "insert"  # each before all others: the last one made comes first
        new = chains.repeated(run, added.value, turned)
        first = not turned or (isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)
        if not first or (isinstance(value, Repeated) and value.turned != turned):
            new = Unknown("a list in an order of its own")
        if isinstance(value, Tup) and value.items and run.holds_module(added.value):
            kinds = {s.target for s in run.modules_in(value)} | {s.target for s in run.modules_in(added.value)}
            if len(kinds) > 1 or any(True for _ in run.modules_in(value)):
                new = Unknown("a list that grows in a loop")
    elif isinstance(value, Tup) and func.attr == "append":
        new = Tup((*value.items, added.value), value.kind)
    else:
        new = Unknown("list")
    replaced = Abs(new, False, base.flags | added.flags)
    if isinstance(func.value, ast.Name):
        scope = env
        while scope is not None and func.value.id not in scope.names:
            scope = scope.parent
        if scope is not None:
            scope.names[func.value.id] = replaced
            if run.holds_module(added.value) and not run.in_setup:
                scope.local.discard(func.value.id)
    elif isinstance(func.value, ast.Attribute) and isinstance(func.value.value, ast.Name):
        run.attributes[func.value.attr] = replaced
        for site in run.modules_in(added.value):
            site.container = func.value.attr
    return Abs(Const(None))
