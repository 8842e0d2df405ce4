"""Dictionaries, lists and tuples that are put together for what saves them, in the functional form.

    ckpt = {"model": state, "step": step}           →   ckpt = {"model": linen_train_state(state), "step": step}
    checkpointer.save(path, ckpt, save_args=save_args_from_target(ckpt))
    file.write(to_bytes([actor.params, critic]))    →   file.write(to_bytes([linen_values(..., actor.params), ...]))

Nobody else reads them, so that they may have Linen's trees from where they are put together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.flow.flow_makers import maker_of
from ...linen.flow.flow_values import SAVES, Collection, OptState, State, Tracked, Value, Variables
from ...trees import subtree
from . import functional_loaded, loaded
from .lost_trees import NUMBERS
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

_DISPLAYS = (ast.Dict, ast.List, ast.Tuple)
_READ = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
# What takes a tree and gives back nothing of it.
_TAKES = {
    *SAVES,
    "flax.serialization.to_bytes",
    "flax.serialization.msgpack_serialize",
    "flax.training.orbax_utils.save_args_from_target",
    "pickle.dump",
    "pickle.dumps",
    "orbax.checkpoint.args.StandardSave",
    "orbax.checkpoint.args.PyTreeSave",
}


def find(form: _Functional) -> set[ast.AST]:
    """Such displays with trees or states of the models, and the names that they have on their way."""
    found: set[ast.AST] = set()
    slots_held = [n for n in form.flow.uses.attributes({"opt_state"}) if form.within(form.flow.value(n.value))]
    for node in [*(node for node, _ in form.uses), *slots_held]:
        display = _outermost(form, node)
        if display is None or display in found:
            continue
        names = _read_as(form, display)
        if names is not None and all(_is_known(form, element) for element in _elements(display)):
            found.update(names)
            found.update(inner for inner in ast.walk(display) if isinstance(inner, _DISPLAYS))
    return found


def write(form: _Functional, node: ast.AST, value: Value) -> bool:
    """A tree in one of them, as Linen has it."""
    parent = form.parent(node)
    if not isinstance(parent, _DISPLAYS) or parent not in form.for_savers:
        return False
    known = isinstance(value, State | OptState | Variables | Collection)
    if not known or not isinstance(node, ast.Name | ast.Attribute):
        raise Unsupported(node, "a tree that is saved, and is no state or params")
    whole = functional_loaded.whole(form, node)
    if isinstance(value, State):
        form.replace(node, f"{form.context(node).parity('linen_train_state')}(", node, f"{whole})")
    else:
        helper = form.context(node).parity("linen_values")
        form.replace(node, f"{helper}({functional_loaded.structure(form, node)}, ", node, f"{whole})")
    return True


def slots(form: _Functional, node: ast.Attribute) -> None:
    """`state.opt_state` where a library saves it, as optax makes it of Linen's params."""
    if form.parent(node) in form.for_savers or loaded.takes(form, node):
        whole = functional_loaded.whole(form, node.value)
        form.replace(node, f"{form.context(node).parity('linen_train_state')}(", node.value, f"{whole})['opt_state']")


def _elements(node: ast.expr) -> Iterator[ast.expr]:
    """What stands in a display, and in those within it."""
    if isinstance(node, _DISPLAYS):
        for element in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _elements(element)
    else:
        yield node


def _is_known(form: _Functional, element: ast.expr) -> bool:
    """Is it a tree under a name, or something that is made of none?"""
    if isinstance(element, ast.Name | ast.Attribute) and _is_plain(element):
        return True
    if isinstance(element, ast.Call) and form.flow.name(element.func) in NUMBERS:
        return True
    counted = {n.value for n in subtree(element) if isinstance(n, ast.Attribute) and n.attr == "step"}
    inner = [n for n in subtree(element) if isinstance(n, _READ) and n not in counted]
    return not any(form.within(form.flow.value(n)) or loaded.is_slots(form, n) for n in inner)


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _outermost(form: _Functional, node: ast.AST) -> ast.expr | None:
    """The display that a tree stands in, or that around it."""
    found: ast.expr | None = None
    parent = form.parent(node)
    while isinstance(parent, _DISPLAYS) and not isinstance(form.flow.value(parent), Tracked):
        if isinstance(parent, ast.Dict) and (node in parent.keys or None in parent.keys):
            return None
        found, node, parent = parent, parent, form.parent(parent)
    return found


def _read_as(form: _Functional, display: ast.expr) -> list[ast.AST] | None:
    """The reads of a name that a display is given; None where it, or one of these, goes to something else than a saver."""
    if _is_saved(form, display):
        return []
    statement = form.parent(display)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    symbol = form.bound_once(target) if isinstance(target, ast.Name) and not isinstance(target.ctx, ast.Load) else None
    if symbol is None:
        return None
    source = form.source(display)
    if symbol[1] is None and any(reader is not source for reader in form.readers(source.module)):
        return None
    reads = [name for name in form.flow.occurrences(symbol) if isinstance(name.ctx, ast.Load)]
    return list(reads) if reads and all(_is_saved(form, name) for name in reads) else None


def _is_saved(form: _Functional, node: ast.AST) -> bool:
    """Is it an argument of what saves it?"""
    call = form.over_keyword(form.parent(node))
    if not isinstance(call, ast.Call) or call.func is node or isinstance(form.flow.value(call), Tracked):
        return False
    if form.flow.name(call.func) in _TAKES:
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "save":
        return False
    return maker_of(form.flow, call.func.value).startswith("orbax.")
