"""What the fields of a program's own states hold: trees like the params, or like the statistics, of the model.

ema_params=variables['params']                          like the params
state.replace(ema_params=optax.incremental_update(state.params, state.ema_params, 0.1))
evaluate(state.params, state), evaluate(state.ema_params, state)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Collection, State, Tracked, Value, Variables

if TYPE_CHECKING:
    from .functional import _Functional


def like(form: _Functional, value: Value, part: str) -> bool:
    """Is a value a collection of that name, or what fields hold that are given nothing else?"""
    if not isinstance(value, Collection):
        return False
    if form.given_to_fields is None:
        form.given_to_fields = _given(form)
    given = form.given_to_fields
    todo = [*value.names]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name == part or name in seen:
            continue
        seen.add(name)
        if name in form.parts or name not in given or None in given[name]:
            return False
        todo += [other for other in given[name] if other is not None]
    return bool(value.names)


def whole(form: _Functional, value: Value) -> bool:
    """Do fields hold all that init returned, of which the state of params stands for `{"params": params}`?

    For a state: has it such a field?
    """
    found: set[str] = set()
    while True:
        before = len(found)
        for node, made in form.uses:
            if isinstance(node, ast.Call) and isinstance(made, State):
                for keyword in node.keywords:
                    held = form.flow.value(keyword.value)
                    if keyword.arg is not None and form.has(held) and _is_whole(held, found):
                        found.add(keyword.arg)
        if len(found) == before:
            break
    return bool(found - {"params"}) if isinstance(value, State) else _is_whole(value, found - {"params"})


def _is_whole(value: Value, fields: set[str]) -> bool:
    return isinstance(value, Variables) or (isinstance(value, Collection) and not fields.isdisjoint(value.names))


def of_trees(form: _Functional) -> set[str]:
    """The fields of the project's own states that hold trees of the component; others are counters and the like."""
    found = set()
    for node, _ in form.tracked():
        if isinstance(node, ast.Call):
            found |= {str(k.arg) for k in node.keywords if _holds(form, k.value) and not _itself(form, k)}
    return found


def _holds(form: _Functional, node: ast.expr) -> bool:
    value = form.flow.value(node)
    return isinstance(value, Tracked) and form.component.holds(value)


def _itself(form: _Functional, given: ast.keyword) -> bool:
    """`n=state.n`, which says nothing of what it holds."""
    node = given.value
    named = isinstance(node, ast.Attribute) and node.attr == given.arg
    return named and isinstance(form.flow.value(node.value), State)  # type: ignore[attr-defined]


def _given(form: _Functional) -> dict[str, set[str | None]]:
    """Field → the names of the collections and fields that it is given; None for something else."""
    found: dict[str, set[str | None]] = {}
    for node, value in form.uses:
        if not isinstance(node, ast.Call) or not isinstance(value, State):
            continue
        for keyword in node.keywords:
            held = form.flow.value(keyword.value)
            known = isinstance(held, Collection) and form.component.holds(held)
            names: list[str] | list[None] = held.names if isinstance(held, Collection) and known else [None]
            found.setdefault(str(keyword.arg), set()).update(names)
    return found
