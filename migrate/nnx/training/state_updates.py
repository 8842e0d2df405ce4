"""`state.apply_gradients(...)` and `state.replace(...)`, alone and in a row: `optimizer.update(...)` and assignments."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.flow.flow_values import Collection, State
from ...trees import subtree
from . import loaded, loops, state_fields, tx_updates
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

METHODS = ("apply_gradients", "replace")
_Line = list[Part | ast.AST]


@dataclasses.dataclass
class _Update:
    """What a row of calls does to the state under a name."""

    root: ast.Name
    grads: ast.expr | None = None
    fields: dict[str, ast.expr] = dataclasses.field(default_factory=dict)
    given: dict[str, ast.expr] = dataclasses.field(default_factory=dict)  # params and the like from elsewhere


def is_update(form: _Native, node: ast.AST) -> bool:
    """Is `node` a call of `state.apply_gradients` or `state.replace`?"""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
        return False
    return isinstance(form.flow.value(node.func.value), State)


def write(form: _Native, call: ast.Call) -> None:
    """The calls that end in `call`, as statements."""
    holder = form.parent(call)
    if isinstance(holder, ast.Attribute) and is_update(form, form.parent(holder)):
        return  # written with the last of them
    update = _gather(form, call)
    _place(form, call, update.root, _lines(form, update))


def _gather(form: _Native, call: ast.Call) -> _Update:
    calls: list[ast.Call] = []
    base: ast.expr = call
    while isinstance(base, ast.Call) and is_update(form, base):
        calls.insert(0, base)
        assert isinstance(base.func, ast.Attribute)
        base = base.func.value
    if not isinstance(base, ast.Name):
        raise Unsupported(call, "an update of a state that is not under a name")
    found = _Update(base)
    for one in calls:
        if one.args or any(keyword.arg is None for keyword in one.keywords):
            raise Unsupported(one, "an update of a state by arguments that are not spelled out")
        assert isinstance(one.func, ast.Attribute)
        by_transformation = form.tx_updates.get(one)
        if by_transformation is not None and found.grads is None:
            found.grads = by_transformation.grads
        for keyword in one.keywords:
            if by_transformation is not None and keyword.arg in tx_updates.KEYWORDS:
                continue
            _gather_keyword(form, one.func.attr, keyword, found)
    if found.fields and found.grads is not None and not isinstance(found.grads, ast.Name):
        raise Unsupported(call, "gradients within an expression")
    if found.given and (found.fields or found.grads is not None):
        raise Unsupported(call, f"a state of which {' and '.join(found.given)} is replaced beside an update")
    return found


def _gather_keyword(form: _Native, method: str, keyword: ast.keyword, found: _Update) -> None:
    name, value = str(keyword.arg), keyword.value
    if method == "replace" and name not in found.given and loaded.from_elsewhere(form, keyword):
        found.given[name] = value
    elif name == "batch_stats":
        held = form.flow.value(value)
        if not (isinstance(held, Collection) and held.updated and isinstance(value, ast.Subscript | ast.Name)):
            raise Unsupported(keyword.value, "batch_stats from elsewhere")
    elif name == "grads" and method == "apply_gradients" and found.grads is None:
        found.grads = value
        if any(state_fields.of(form, form.flow.value(node)) for node in subtree(value)):
            raise Unsupported(value, "gradients out of a field of the state")
    elif name in form.fields and name not in found.fields:
        found.fields[name] = value
    else:
        raise Unsupported(value, f"a state of which {name} is replaced")


def _lines(form: _Native, update: _Update) -> list[_Line]:
    """Fields first: their values are those that the old state gives."""
    symbol = form.flow.symbol(form.source(update.root), update.root)
    lines: list[_Line] = []
    if update.fields:
        targets = ", ".join(state_fields.attribute(form, update.root, name) for name in update.fields)
        line: _Line = [f"{targets} = "]
        for index, value in enumerate(update.fields.values()):
            line += [", "] if index else []
            line += _one_line(form, value)
        lines.append(line)
    if update.given:
        lines.append(loaded.replaced(form, update.root, update.given))
    if update.grads is not None:
        optimizer, model = form.optimizers[symbol], form.new_names[symbol]
        form.visible(update.root, symbol, model)
        form.visible(update.root, symbol, optimizer)
        lines.append([f"{optimizer}.update({model}, ", update.grads, ")"])
    return lines


def _one_line(form: _Native, value: ast.expr) -> _Line:
    """An argument as a value of its own: what goes over several lines keeps the parentheses that the call gave it."""
    enclosed = isinstance(value, ast.Call | ast.Tuple | ast.Dict | ast.List)
    if isinstance(value, ast.NamedExpr | ast.Yield | ast.YieldFrom) or (not enclosed and "\n" in form.text(value)):
        return ["(", value, ")"]
    return [value]


def _place(form: _Native, call: ast.Call, root: ast.Name, lines: list[_Line]) -> None:
    parent = form.parent(call)
    symbol = form.flow.symbol(form.source(root), root)
    statement = form.statement(call)
    break_ = "\n" + form.source(call).indent_of(statement)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        loops.same_state(form, parent.targets[0], symbol)
        if lines:
            form.replace(parent, *_joined(lines, break_))
        else:
            form.delete(parent)
    elif isinstance(parent, ast.Return):
        alone = len(form.block(parent)) == 1
        ends: list[_Line] = [] if loops.is_last(form, parent) and (lines or not alone) else [["return"]]
        if not lines and not ends:
            form.delete(parent)
        else:
            form.replace(parent, *_joined([*lines, *ends], break_))
    elif isinstance(parent, ast.Tuple) and isinstance(form.parent(parent), ast.Return):
        if any(isinstance(node, ast.NamedExpr) for node in subtree(statement)):
            raise Unsupported(call, "names that are assigned on the way")
        for line in lines:
            form.insert_before(statement, *line)
    else:
        raise Unsupported(call, "a state that is updated within an expression")


def _joined(lines: list[_Line], between: str) -> _Line:
    parts: _Line = []
    for index, line in enumerate(lines):
        parts += [between] if index else []
        parts += line
    return parts
