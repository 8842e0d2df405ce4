"""Values that a library saves and reads back in the trees of Linen, in the NNX idiom: files stay what they were.

    params = from_bytes(params, data)    →   load_params(model, from_bytes(linen_params(model), data))
    state = from_bytes(state, data)      →   load_state(model, optimizer, from_bytes(linen_state(model, optimizer), data))
    params = load_params(path)           →   load_params(model, load_params(path))
    pickle.dump({"opt": opt_state}, f)   →   pickle.dump({"opt": linen_opt_state(model, optimizer)}, f)

The library is given dictionaries with Linen's keys and names, made anew, and what it returns goes into the model and its
optimizer in place. That is an update, as those of the loop are (`old_values`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.flow.flow_makers import maker_of
from ...linen.flow.flow_nones import assigns_none
from ...linen.flow.flow_uses import restored_target
from ...linen.flow.flow_values import ANY, READS_BACK, SAVES, Entries, OptState, Record, State, Symbol, Tracked, Variables
from ...trees import subtree
from . import changes, collections, loops, masks, trees
from .places import runs_before
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .native import _Native

_SAVERS = ("orbax.", "flax.serialization.", "flax.training.orbax_utils.", "pickle.")
_REPLACED = {"params", "batch_stats", "opt_state", "step"}


def target(form: Rewrite, node: ast.AST) -> ast.Name | None:
    """The name of what a call reads back, where its values come in place of those that are held."""
    if not isinstance(node, ast.Call) or not isinstance(form.flow.value(node), Tracked | Record):
        return None
    given = restored_target(form.flow, node)
    if given is None or not form.within(form.flow.value(given)):
        return None
    if isinstance(form.flow.value(given), State) and not (form.keeps_keys or form.flow.name(node.func) in READS_BACK):
        return None  # see `saving`
    if not isinstance(given, ast.Name):
        raise Unsupported(node, "a checkpoint restored into something that has no name")
    return given


def assigned(form: _Native) -> list[ast.Name]:
    """The names where they are given values from elsewhere: `params = load_params(path)`."""
    found = [name for name in form.flow.loaded if isinstance(name, ast.Name) and form.component.holds(form.flow.value(name))]
    return sorted(found, key=lambda name: (form.source(name).module, name.lineno, name.col_offset))


def name_of(form: _Native, node: ast.expr) -> ast.Name | None:
    """The name whose values are replaced: by a call, or where it stands."""
    return node if isinstance(node, ast.Name) and node in form.flow.loaded else target(form, node)


def symbol_of(form: _Native, given: ast.expr) -> Symbol | None:
    """The same as a symbol."""
    name = name_of(form, given)
    return form.flow.symbol(form.source(name), name) if name is not None else None


def write_assigned(form: _Native) -> None:
    """What something else has made goes into the model in place."""
    statements: dict[ast.stmt, list[ast.Name]] = {}
    for name in assigned(form):
        statements.setdefault(form.statement(name), []).append(name)
    for statement, names in statements.items():
        assert isinstance(statement, ast.Assign)
        source = form.source(statement)
        lines: list[Part | ast.AST] = []
        for name in names:
            _check(form, statement)
            check_place(form, name)
            _, load, item = _texts(form, name)
            if statement.targets == [name]:
                form.replace(statement, f"{load}, ", statement.value, f"{item})")
                break
            given = form.free(source, form.function(name), [f"loaded_{name.id.removeprefix('self.')}"])
            form.replace(name, given)
            lines += [f"{source.newline}{source.indent_of(statement)}{load}, {given}{item})"]
        else:
            form.replace(statement, statement.targets[0], " = ", statement.value, *lines)


def check_place(form: Rewrite, name: ast.Name) -> None:
    """Unsupported where there need not be values that others can take the place of."""
    source, scope = form.source(name), form.function(name)
    symbol = form.flow.symbol(source, name)
    if changes.of_place(form, name) is not None:
        return  # made of those that there are
    attribute = isinstance(symbol[1], ast.ClassDef)
    if symbol[1] is not scope and not attribute:
        raise Unsupported(name, "values that a function loads for the one around it")
    parameters = getattr(getattr(scope, "args", None), "args", [])
    stores = (other for other in form.flow.occurrences(symbol) if isinstance(other.ctx, ast.Store) and other is not name)
    others = [other for other in stores if other not in form.flow.loaded and not assigns_none(source, other)]
    if symbol[2] in [a.arg for a in parameters] or any(runs_before(form, form.statement(o), name) for o in others):
        return
    if attribute and any(getattr(form.function(other), "name", "") == "__init__" for other in others):
        return
    raise Unsupported(name, "values that are loaded where there need not be a model")


def write(form: _Native, call: ast.Call) -> bool:
    """Such a call, where it is assigned to the name, returned, or returned in a tuple."""
    name = target(form, call)
    if name is None:
        return False
    _check(form, call)
    read, load, item = _texts(form, name)
    form.replace(name, read)
    parent, statement = form.parent(call), form.statement(call)
    parts: list[Part | ast.AST] = [f"{load}, ", call, f"{item})"]
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        loops.same_state(form, parent.targets[0], form.flow.symbol(form.source(name), name))
        form.replace(parent, *parts)
    elif isinstance(parent, ast.Return):
        source = form.source(call)
        end = "" if loops.is_last(form, parent) else f"{source.newline}{source.indent_of(statement)}return"
        form.replace(parent, *parts, end)
    elif isinstance(parent, ast.Tuple) and isinstance(form.parent(parent), ast.Return):
        if any(isinstance(node, ast.NamedExpr) for node in subtree(statement)):
            raise Unsupported(call, "names that are assigned on the way")
        form.insert_before(statement, *parts)
    else:
        raise Unsupported(call, "values that are read back within an expression")
    return True


def stores(form: _Native, name: ast.Name) -> bool:
    """Is `name` assigned from such a call? The assignment goes with it."""
    statement = form.statement(name)
    if name in form.flow.loaded or changes.of_place(form, name) is not None:
        return True
    return isinstance(statement, ast.Assign) and target(form, statement.value) is not None


def takes(form: Rewrite, node: ast.AST) -> bool:
    """Is a state, or that of an optimizer, one that a library only looks at, or a dictionary that is made for one has?"""
    value = form.flow.value(node)
    opt_state = isinstance(value, OptState) or is_slots(form, node)
    if not (opt_state or isinstance(value, State)) or not isinstance(getattr(node, "ctx", None), ast.Load):
        return False
    parent = form.parent(node)
    holder = form.over_keyword(parent)
    if isinstance(holder, ast.Dict):
        return node not in holder.keys and _is_kept(form, holder)
    if not isinstance(holder, ast.Call) or node is holder.func:
        return False
    return target(form, holder) is node or is_saved(form, holder)


def shown(form: _Native, node: ast.AST) -> bool:
    """The same, as Linen has it."""
    if not takes(form, node):
        return False
    value, parent = form.flow.value(node), form.parent(node)
    holder = form.over_keyword(parent)
    if isinstance(holder, ast.Call) and target(form, holder) is node:
        return True  # with the call
    _check(form, node)
    if isinstance(value, State):
        if not isinstance(node, ast.Name):
            return False
        form.replace(node, _texts(form, node)[0])
    else:
        form.replace(node, _slots(form, node))
    return True


def from_elsewhere(form: _Native, keyword: ast.keyword) -> bool:
    """`state.replace(params=loaded)`: something else has made the values, in the trees of Linen, or one leaf by leaf."""
    value = form.flow.value(keyword.value)
    if keyword.arg == "params":
        name = keyword.value
        if isinstance(name, ast.Name) and form.flow.symbol(form.source(name), name) in form.trees:
            return True
    return keyword.arg in _REPLACED and value == ANY


def replaced(form: _Native, state: ast.Name, given: dict[str, ast.expr]) -> list[Part | ast.AST]:
    """The line that takes such values."""
    _check(form, state)
    value = form.flow.value(state)
    assert isinstance(value, State)
    symbol = form.flow.symbol(form.source(state), state)
    model, optimizer = form.new_names[symbol], form.optimizers[symbol]
    form.visible(state, symbol, model)
    form.visible(state, symbol, optimizer)
    line: list[Part | ast.AST] = [f"{form.context(state).parity('load_state')}({model}, {optimizer}, {{"]
    for index, (name, node) in enumerate(given.items()):
        line += [f"{', ' if index else ''}{name!r}: ", node]
    return [*line, f"}}{_whole(value)})"]


def _is_kept(form: Rewrite, dictionary: ast.Dict) -> bool:
    """Is a dictionary handed to a library, or given a name of which no state is read?"""
    parent = form.parent(dictionary)
    call = form.over_keyword(parent)
    if isinstance(call, ast.Call):
        return call.func is not dictionary and is_saved(form, call)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return False
    held = form.flow.symbol(form.source(dictionary), parent.targets[0])
    for name in form.flow.occurrences(held):
        above = form.parent(name)
        call = form.over_keyword(above)
        if isinstance(name.ctx, ast.Load) and not (isinstance(call, ast.Call) and is_saved(form, call)):
            return False
    return True


def is_saved(form: Rewrite, call: ast.Call) -> bool:
    """Does a library save a tree, whatever it is?"""
    name = form.flow.name(call.func) or ""
    if name in SAVES or name.startswith(_SAVERS) or trees.looks(form, call):
        return not isinstance(form.flow.value(call), Tracked | Entries)
    made = maker_of(form.flow, call.func.value) if isinstance(call.func, ast.Attribute) else ""
    return made.startswith("orbax.") and call.func.attr in ("save", "restore")  # type: ignore[attr-defined]


def is_slots(form: Rewrite, node: ast.AST) -> bool:
    """`state.opt_state`"""
    return isinstance(node, ast.Attribute) and node.attr == "opt_state" and isinstance(form.flow.value(node.value), State)


def _check(form: _Native, node: ast.AST) -> None:
    """Unsupported where Linen's trees have more than names and arrays."""
    if masks.has_axes(form):
        raise Unsupported(node, "variables with axes that are saved or read back")
    if (collections.whole(form) and form.fields) or form.whole_fields:
        raise Unsupported(node, "a state of all that init returned, with fields, that is saved or read back")


def _texts(form: _Native, name: ast.Name) -> tuple[str, str, str]:
    """What a library is given for a name; the beginning of the call that takes what it returns; and the end of it."""
    parity = form.context(name).parity
    value = form.flow.value(name)
    symbol = form.flow.symbol(form.source(name), name)
    if isinstance(value, State):
        model, optimizer = form.new_names[symbol], form.optimizers[symbol]
        form.visible(name, symbol, model)
        form.visible(name, symbol, optimizer)
        held = form.state_class.fields if form.state_class is not None else ()
        fields = "".join(f", {field.name!r}" for field in held if not field.static) + _whole(value)
        read = f"{parity('linen_state')}({model}, {optimizer}{fields})"
        return read, f"{parity('load_state')}({model}, {optimizer}", _whole(value)
    if isinstance(value, OptState):
        load = f"{parity('load_opt_state')}({_model_beside(form, name)}, {form.optimizers[symbol]}"
        return _slots(form, name), load, _whole(value)
    item = "['params']" if isinstance(value, Variables) else ""
    return trees.as_in_linen(form, name), f"{parity('load_params')}({form.model_of(name)}", item


def _whole(value: State | OptState) -> str:
    return ", whole=True" if value.whole else ""


def _slots(form: _Native, node: ast.AST) -> str:
    """The state of the optimizer as optax makes it of Linen's params."""
    base = node.value if isinstance(node, ast.Attribute) else node
    if not isinstance(base, ast.Name):
        raise Unsupported(node, "an optimizer's state that is not under a name")
    symbol = form.flow.symbol(form.source(base), base)
    optimizer, value = form.optimizers[symbol], form.flow.value(base)
    assert isinstance(value, State | OptState)
    form.visible(base, symbol, optimizer)
    model = form.model_of(base) if base is not node else _model_beside(form, base)
    return f"{form.context(node).parity('linen_opt_state')}({model}, {optimizer}{_whole(value)})"


def _model_beside(form: _Native, name: ast.Name) -> str:
    """The model whose params stand beside the state of their optimizer."""
    scope = form.flow.symbol(form.source(name), name)[1]
    found = {
        given
        for (module, other, _), given in form.new_names.items()
        if other is scope and module == form.source(name).module
    }
    if len(found) != 1:
        raise Unsupported(name, "an optimizer's state beside several models, or none")
    return found.pop()
