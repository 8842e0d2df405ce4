"""Symbolic execution of assignments: what names, attributes and items hold from then on."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...trees import subtree
from ..lists import list_ends, size_lists
from ..values import caller_words, mutation
from ..values.arguments import is_self
from ..values.dims import Dim
from ..values.environment import Env
from ..values.localization import is_sequence, named_after
from ..values.merging import dependencies_of
from ..values.presence import assigned_when
from ..values.sites import (
    Abs,
    Local,
    SomeItems,
    Static,
    Table,
    Unmigratable,
    Variable,
)
from ..values.unpacking import entry, merged
from ..values.values import OPAQUE, Array, Const, Int, Led, Real, Shape, ShapeOf, Tup, Unknown, Value
from . import asked_values, drawn_assignments, taken_items
from .stale_names import item_by_item, keep_stale, lose_in_setup
from .taken_names import is_taken

if TYPE_CHECKING:
    from .execute import Execution


def assign(run: Execution, statement: ast.stmt, targets: list[ast.expr], value_node: ast.expr, env: Env) -> None:
    """Follow `a = b = value`: sizes that the constructor can compute are assigned there as well."""
    before = len(run.sites)
    value = run.evaluate(value_node, env)
    if len(targets) == 1 and isinstance(targets[0], ast.Name):
        followed = size_lists.cut(run, targets[0].id, value_node, env)
        value = dataclasses.replace(value, value=followed or size_lists.noticed(run, value.value, targets[0].id))
        list_ends.begun(env, OPAQUE if followed else value.value)
    elif len(targets) == 1:
        value = dataclasses.replace(value, value=size_lists.noticed_each(run, value.value, targets[0], value_node))
        for item in value.value.items if isinstance(value.value, Tup) else ():
            list_ends.begun(env, item)
    if isinstance(value.value, Led) and all(isinstance(t, ast.Name) and not _is_taken_apart(t, env) for t in targets):
        value = dataclasses.replace(value, value=value.value.array)
    made = len(run.sites) > before
    names = {n.id for t in targets for n in subtree(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    simple = all(
        isinstance(t, ast.Name) or (isinstance(t, ast.Tuple) and all(isinstance(e, ast.Name) for e in t.elts))
        for t in targets
    )
    copied = False
    lost = taken_items.lose(run, statement, names, value, env)
    if lost is not None and not run.in_setup:
        value = lost
    elif simple and not made and not run.in_setup and names and not any(is_taken(env, n) for n in names):
        keep_stale(run, names, env)
        localized = run.localize_statement(statement, value_node, value, env)
        if localized is not None:
            run.block.steps.append(Local(statement, frozenset(names), localized, env.source))
            copied = True
            if not value.static and len(names) == 1 and isinstance(targets[0], ast.Name):
                value = named_after(targets[0].id, value.value, is_sequence(value_node, env))
            once = value.static and bool(mutation.changed_names(statement))  # `n = sizes.pop()`: not said again
            if once or dependencies_of(value.value) & names:  # `size = 2 * size`: from here on the name means the new one
                (name,) = names if len(names) == 1 else ("",)
                renamed: Value = Unknown(ast.unparse(statement))
                if name and isinstance(value.value, Int):
                    renamed = Int(Dim.local(name))
                elif name and isinstance(value.value, Static):
                    renamed = Static(name, frozenset(names), value.value.sequence)
                elif name and type(value.value) is Tup:
                    renamed = item_by_item(name, value.value)
                value = dataclasses.replace(value, value=renamed)
    elif run.in_setup and names:
        lose_in_setup(run, names, env)
        value = lost or _said_once(statement, names, value)
    drawn = drawn_assignments.assigned(run, statement, value, names, env, simple and not copied and lost is None)
    run.assigned = dict.fromkeys(targets, value_node)
    read = caller_words.reading(targets, value_node, env)
    for target in targets:
        bind(run, target, value, env)
        if copied and not value.static and isinstance(target, ast.Tuple):
            for name in sorted(names):
                env.names[name] = named_after(name, env.names[name].value)
    caller_words.note_local(read, targets, value_node, env)
    for name in names:
        if copied or drawn or run.in_setup:
            env.local.add(name)
        else:
            env.local.discard(name)


def _said_once(statement: ast.stmt, names: set[str], value: Abs) -> Abs:
    """`n = options.pop("features")` in setup: the name says what was taken; its text would take something else."""
    if not mutation.changed_names(statement) or not isinstance(value.value, Int | Static):
        return value
    if len(names) > 1:
        return dataclasses.replace(value, value=Unknown(ast.unparse(statement)), static=False)
    (name,) = names
    own = Int(Dim.local(name)) if isinstance(value.value, Int) else Static(name, frozenset(names), value.value.sequence)
    return dataclasses.replace(value, value=own)


def _is_taken_apart(name: ast.Name, env: Env) -> bool:
    """Does the function ask for items of what a name holds, or unpack it?"""
    function = env.source.function_of(name)
    for node in subtree(function) if function is not None else ():
        if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Load):
            parent = env.source.parents[node]
            if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Constant):
                return True
            if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple):
                return True
            if isinstance(parent, ast.Starred | ast.For) or (isinstance(parent, ast.Call) and parent.func is node):
                return True
            asked = parent.func.id if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) else ""
            if asked in ("isinstance", "len"):
                return True
    return False


def bind(run: Execution, target: ast.expr, value: Abs, env: Env) -> None:
    """Bind an assignment target; tuples are taken apart."""
    if isinstance(target, ast.Name):
        value = taken_items.lose(run, target, {target.id}, value, env) or value
        env.names[target.id] = asked_values.asked(run, target, value) if target in run.asked else value
    elif isinstance(target, ast.Starred):
        bind(run, target.value, value, env)
    elif isinstance(target, ast.Tuple | ast.List):
        star = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
        items = run.unpack(value, len(target.elts), star)
        for element, item in zip(target.elts, items):
            bind(run, element, item, env)
    elif isinstance(target, ast.Attribute):
        _assign_attribute(run, target, value, env)
    elif isinstance(target, ast.Subscript):
        holder = run.evaluate(target.value, env)
        if isinstance(holder.value, Table) and isinstance(target.value, ast.Name):
            key = run.evaluate(target.slice, env).value
            if isinstance(key, Const):
                node = run.assigned.get(target)
                own = {key.value: entry(run, node, value, env)} if node is not None else {}
                table = merged([holder.value, Table({key.value: value.value}, own)])
                env.names[target.value.id] = dataclasses.replace(holder, value=table)
                return
        if run.holds_module(value.value):
            raise Unmigratable("NNX121", "a submodule is stored under a computed key", target)
        if isinstance(holder.value, Unknown | SomeItems) and isinstance(target.value, ast.Name):
            key = run.evaluate(target.slice, env).value
            if isinstance(key, Const) and isinstance(key.value, str):  # of a dict, whatever else is in it
                known = holder.value.items if isinstance(holder.value, SomeItems) else {}
                found = SomeItems({**known, key.value: value.value})
                env.names[target.value.id] = Abs(found, False, holder.flags | value.flags)
                env.local.discard(target.value.id)
                return
        if isinstance(target.value, ast.Name):
            old = env.get(target.value.id)
            size_lists.broken(run, {size_lists.variable_of(holder.value)} - {""})
            if old is not None and not isinstance(old.value, Array):
                changed = _with_item(run, target, old, value, env)
                env.names[target.value.id] = changed if changed is not None else Abs(Unknown("item assigned"))
                env.local.discard(target.value.id)


def _with_item(run: Execution, target: ast.Subscript, old: Abs, value: Abs, env: Env) -> Abs | None:
    """A list of numbers, which has no other name, after `perm[j] = i`."""
    held = old.value
    if not (isinstance(held, Tup) and held.kind == "list" and isinstance(value.value, Int)) or run.repeating:
        return None
    key = run.evaluate(target.slice, env).value
    place = key.dim.value if isinstance(key, Int) else None
    alone = sum(bound.value is held for bound in env.names.values()) == 1
    if place is None or not -len(held.items) <= place < len(held.items) or not alone:
        return None
    items = list(held.items)
    items[place] = value.value
    return Abs(dataclasses.replace(held, items=tuple(items)), False, old.flags | value.flags)


def _assign_attribute(run: Execution, target: ast.Attribute, value: Abs, env: Env) -> None:
    base = run.evaluate(target.value, env)
    if isinstance(base.value, Variable):  # variable.value = ...
        held, new = base.value.site.shape, value.value
        if isinstance(held, Array) and not (isinstance(new, Array) and new.shape.same(held.shape)):
            base.value.site.shape = Unknown("a variable that takes another shape")
        return
    if is_self(target.value, env):
        name = target.attr
        if run.in_setup:
            run.attribute_paths[name] = assigned_when(run.attribute_paths.get(name), tuple(run.path))
        run.attributes[name] = value
        for site in run.modules_in(value.value):
            if site.held and site.held not in run.fields:
                raise Unmigratable("NNX127", f"`self.{name}` is a module of another module", target)
            if not site.container and site.in_setup:
                if site.adopted:
                    reason = f"`self.{name}` is a module that was passed to another one before"
                    raise Unmigratable("NNX127", reason, target)
                site.container = name
            elif site.container and site.in_setup and run.in_setup and name < site.container:
                # NNX loses the order of attributes when a model is split: its keys would then be those of this one.
                reason = f"`self.{name}` is a second name for `self.{site.container}` and comes first in the alphabet"
                raise Unmigratable("NNX127", reason, target)


def _is_size(node: ast.expr, value: Abs) -> bool:
    """Is it a size of an input, or computed from sizes: `x.shape[i]`, the variable of a loop over a shape?"""
    plain = type(value.value) is not Array and not any(isinstance(n, ast.Call) for n in subtree(node))
    return not value.flags and (isinstance(value.value, Int | Tup | ShapeOf) or (plain and isinstance(value.value, Unknown)))


def augmented(run: Execution, node: ast.AugAssign, env: Env) -> None:
    """Follow `a += value`."""
    op = type(node.op).__name__
    right = run.evaluate(node.value, env)
    _refuse_parameter(run, node, env)
    if not isinstance(node.target, ast.Name):
        if isinstance(node.target, ast.Attribute):
            held = run.evaluate(node.target.value, env)
            if isinstance(held.value, Variable):
                return
            if is_self(node.target.value, env) and run.in_setup:
                left = run.evaluate(node.target, env)
                run.attributes[node.target.attr] = Abs(run.combine(op, left, right, node), left.static and right.static)
                for site in run.modules_in(right.value):
                    if site.in_setup and not site.container:
                        site.container = node.target.attr
        return
    name = node.target.id
    left = env.get(name) or Abs(OPAQUE)
    if op == "Add" and size_lists.variable_of(left.value):
        grown = size_lists.grown(run, left.value, right.value, False)
        if grown is not None:
            variable = size_lists.variable_of(left.value)
            list_ends.changed(run, variable, list_ends.added(right.value, False), env)
            if sum(size_lists.variable_of(v.value) == variable for v in env.names.values()) > 1:
                size_lists.broken(run, {variable})
            env.names[name] = Abs(grown, False, left.flags | right.flags)
            env.local.discard(name)
            return
    value = Abs(run.combine(op, left, right, node), left.static and right.static, left.flags | right.flags)
    if run.holds_module(left.value) or run.holds_module(right.value):
        value = Abs(run.extended(left.value, right.value, node), left.static, left.flags | right.flags)
        env.names[name] = value
        return
    if left.static and (right.static or _is_size(node.value, right)) and env.is_local(name):
        keep_stale(run, {name}, env)
        said = run.localize(node.value, env)
        if said is not None:
            needs = said.needs | {name}
            localized = dataclasses.replace(said, span=env.source.span(node), needs=needs)
            run.block.steps.append(Local(node, frozenset({name}), localized, env.source))
            if _may_widen(value.value, right.value):
                value = Abs(Int(Dim.local(name)), static=True)
            known = isinstance(value.value, Int | Const | Tup | Array) and not isinstance(value.value, Static)
            renewed = not run.in_setup and name in dependencies_of(value.value)
            if not known or renewed:  # from here on the name means the new one
                of_array = isinstance(value.value, Array)
                value = Abs(Array(Shape.unknown()) if of_array else Int(Dim.local(name)), static=True)
            env.names[name] = value
            return
    env.names[name] = Abs(value.value, static=False, flags=value.flags)
    env.local.discard(name)


def _refuse_parameter(run: Execution, node: ast.AugAssign, env: Env) -> None:
    """`self.w *= 2` in setup: Linen has another array under that name, a constructor would change what is trained."""
    target = node.target
    if not run.in_setup or isinstance(target, ast.Subscript):
        return
    held = run.evaluate(target, env)
    site = getattr(held.value, "site", None) if isinstance(held.value, Array) else None
    made = site.source.parents.get(site.node) if site is not None else None
    names = [ast.unparse(t) for t in made.targets] if isinstance(made, ast.Assign) else []
    if site is not None and (isinstance(target, ast.Name) or ast.unparse(target) in names or not names):
        raise Unmigratable("NNX180", f"setup changes a parameter in place: `{ast.unparse(node)}`", node)


def _may_widen(made: Value, right: Value) -> bool:
    """`scale *= self.table`, of an array whose last dimension is 1: what the field holds may be an array of any width."""
    if not isinstance(made, Array) or (isinstance(right, Array | Int | Real | Const) and not isinstance(right, Static)):
        return False
    last = made.shape.dims[-1] if made.shape.dims else None
    return last is not None and last.value == 1
