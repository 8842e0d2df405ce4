"""Values that a library saves and reads back in the trees of Linen, in the functional form: files stay what they were.

    checkpointer.save(path, state)      →   checkpointer.save(path, linen_train_state(state))
    state = restore(path, item=state)   →   state = with_linen_values(state, restore(path, item=linen_train_state(state)))
    params = from_bytes(params, data)   →   params = from_linen_values(graphdef, params, from_bytes(...))

What the library is given is made anew, boxes with it where variables have axes.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.flow import flow_changes
from ...linen.flow.flow_values import Collection, Items, OptState, Record, State, Value, Variables, is_params
from ...linen.flow.self_names import SelfName
from . import change_aliases, changes, functional_fields, functional_kinds, linen_trees, loaded
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional


def shown(form: _Functional, node: ast.AST) -> bool:
    """A state, or another tree that a library reads back, as Linen has it."""
    parent = form.parent(node)
    holder = form.over_keyword(parent)
    back = isinstance(holder, ast.Call) and loaded.target(form, holder) is node
    if not back and not loaded.takes(form, node):
        return False
    assert isinstance(node, ast.expr)
    value = form.flow.value(node)
    parity = form.context(node).parity
    if isinstance(value, State):
        if not isinstance(node, ast.Name):
            return False
        form.replace(node, f"{parity('linen_train_state')}({form.text(node)}{whole(form, node)})")
    else:
        graphdef = structure(form, node)
        form.replace(node, f"{parity('linen_values')}({graphdef}, {form.text(node)}{whole(form, node)})")
    return True


def saved(form: _Functional, node: ast.AST) -> bool:
    """Params that a library saves, of a model whose structure is in sight."""
    parent = form.parent(node)
    call = form.over_keyword(parent)
    if not isinstance(node, ast.expr) or not isinstance(call, ast.Call) or call.func is node:
        return False
    if not isinstance(form.flow.value(node), Variables | Collection) or not loaded.is_saved(form, call):
        return False
    helper = form.context(node).parity("linen_values")
    form.replace(node, f"{helper}({structure(form, node)}, ", node, f"{whole(form, node)})")
    return True


def record(form: _Functional, node: ast.AST, value: Value) -> bool:
    """A record of the project with trees of one model, which a library saves, or returns in place of one it was given."""
    if not isinstance(value, Record):
        return False
    if isinstance(node, ast.Call):
        name = loaded.target(form, node)
        if name is not None:
            form.replace(node, *_taken(form, name, node))
        return False  # and goes on
    parent = form.parent(node)
    call = form.over_keyword(parent)
    if not isinstance(node, ast.Name) or not isinstance(call, ast.Call) or call.func is node:
        return False
    if loaded.target(form, call) is not node and not loaded.is_saved(form, call):
        return False
    helper = form.context(node).parity("linen_values")
    form.replace(node, f"{helper}({structure(form, node)}, {form.text(node)}{whole(form, node)})")
    return True


def read_back(form: _Functional, call: ast.Call) -> None:
    """What a library returns in place of what it was given."""
    name = loaded.target(form, call)
    if name is not None:
        form.replace(call, *_taken(form, name, call))


def assigned(form: _Functional, name: ast.Name) -> None:
    """`params = load_params(path)`: is a name given values from elsewhere?"""
    if name not in form.flow.loaded:
        return
    statement = form.statement(name)
    if not isinstance(statement, ast.Assign) or statement.targets != [name]:
        raise Unsupported(name, "variables from elsewhere")
    loaded.check_place(form, name)
    form.replace(statement.value, *_taken(form, name, statement.value))


def changed(form: _Functional, node: ast.AST, value: Value) -> bool:
    """`params = {**params, "backbone": loaded}`: is a use one of what is made of params by their names, or of its name?"""
    change = changes.of_place(form, node) or changes.around(form, node)
    if change is None:
        return False
    if not change.named:
        raise Unsupported(node, "params that are changed in place")
    if change.place is node:
        like = flow_changes.roots(form.flow, change.value)[:1]
        if not like or not isinstance(change.statement, ast.Assign):
            raise Unsupported(node, "params that are made of others")
        change_aliases.check_trees(form, change)
        parts = _taken(form, like[0], change.value)
        form.replace(change.value, *parts)
    elif changes.reads(form, node) and changes.is_whole(form, node):
        assert isinstance(node, ast.expr)
        helper = form.context(node).parity("linen_values")
        form.replace(node, f"{helper}({structure(form, node)}, {_text(form, node)}{whole(form, node)})")
    return (isinstance(node, ast.Call) and changes.is_by_names(form, node)) or is_params(value)


def _text(form: _Functional, node: ast.expr) -> str:
    """A tree's text, where `variables` has no items but params."""
    of_variables = isinstance(node, ast.Subscript) and isinstance(form.flow.value(node.value), Variables)
    return form.text(node.value if of_variables and len(form.parts) == 1 else node)  # type: ignore[attr-defined]


def replaced(form: _Functional, keyword: ast.keyword) -> bool:
    """`state.replace(params=loaded)`"""
    call = form.parent(keyword)
    base = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    if not isinstance(base, ast.Name) or not isinstance(form.flow.value(base), State):
        return False
    state = form.text(base)
    helper = form.context(call).parity("from_linen_values")
    like = f"{state}.graphdef, {state}.{keyword.arg}"
    form.replace(keyword.value, f"{helper}({like}, ", keyword.value, f"{whole(form, base)})")
    return True


def _taken(form: _Functional, name: ast.expr, given: ast.expr) -> list[Part | ast.AST]:
    parity = form.context(name).parity
    like, end = _text(form, name), f"{whole(form, name)})"
    if isinstance(form.flow.value(name), State):
        return [f"{parity('with_linen_values')}({like}, ", given, end]
    return [f"{parity('from_linen_values')}({structure(form, name)}, {like}, ", given, end]


def whole(form: _Functional, node: ast.expr) -> str:
    """Do states of params stand for `{"params": params}` there?"""
    value = form.flow.value(node)
    if isinstance(value, Record):
        held = [item for item in value.items if form.has(item)]
        found = {isinstance(item, Variables) or (isinstance(item, OptState) and item.whole) for item in held}
        if len(found) != 1 or any(isinstance(item, Items | State) for item in held):
            raise Unsupported(node, "a record with several kinds of trees that is saved")
        return ", whole=True" if found == {True} and len(form.parts) == 1 else ""
    if isinstance(value, State | Collection) and functional_fields.whole(form, value):
        raise Unsupported(node, "a field with all that init returned, by its names")
    all_of_it = isinstance(value, Variables) or (isinstance(value, State | OptState) and value.whole)
    return ", whole=True" if all_of_it and len(form.parts) == 1 else ""


def structure(form: _Functional, node: ast.expr) -> str:
    """The structure of the model of a tree, where one is in sight."""
    value = form.flow.value(node)
    base = node.value if isinstance(node, ast.Attribute) else None
    if base is not None and isinstance(form.flow.value(base), State):
        return f"{form.text(base)}.graphdef"
    if isinstance(value, Record) and (len(form.kinds) != 1 or form.annotated):
        raise Unsupported(node, "a record with trees of several models that is saved")
    found = linen_trees.structure_of(form, node) or form.structure_beside(node) or _of_object(form, node)
    if not found:
        raise Unsupported(node, "a tree that is read back where the model's structure is not in sight")
    return found


def _of_object(form: _Functional, node: ast.expr) -> str:
    """`self.critic.graphdef` for `self.target`, where the class makes such a state as soon as an object of it."""
    if not isinstance(node, SelfName):
        return ""
    kind = functional_kinds.of(form, node, form.flow.value(node))
    for symbol, value in form.flow.env.items():
        if symbol[1] is node.owner and isinstance(value, State) and kind.has(value) and not kind.several:
            stores = [name for name in form.flow.occurrences(symbol) if isinstance(name.ctx, ast.Store)]
            if any(getattr(form.function(store), "name", "") == "__init__" for store in stores):
                return f"{symbol[2]}.graphdef"
    return ""
