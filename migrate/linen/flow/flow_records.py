"""Calls that make records: the class itself, and `learner._replace(actor=actor)` or `learner.replace(actor=actor)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .flow_values import ANY, Record, Value

if TYPE_CHECKING:
    from .flow import Flow


def made_by(flow: Flow, call: ast.Call) -> bool:
    """Does a call construct a record, or copy one with other values for some fields?"""
    return flow.name(call.func) in flow.records or _copied(flow, call) is not None


def made(flow: Flow, call: ast.Call) -> Value:
    """The record; anything where the arguments do not show what becomes of each field."""
    old = _copied(flow, call)
    cls = old.cls if old is not None else flow.records[str(flow.name(call.func))]
    items = list(old.items) if old is not None else [ANY] * len(cls.fields)
    names = [keyword.arg for keyword in call.keywords]
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if starred or len(call.args) > len(cls.fields) or not set(names) <= set(cls.fields):
        return ANY
    values = [*call.args, *[keyword.value for keyword in call.keywords]]
    for name, node in zip([*cls.fields[: len(call.args)], *names], values, strict=True):
        items[cls.fields.index(str(name))] = flow.value(node)
    return Record(tuple(items), cls)


def field_given(record: Record, call: ast.Call, node: ast.AST) -> str:
    """The field that an argument of a call that makes a record is for."""
    for keyword in call.keywords:
        if keyword.value is node:
            return str(keyword.arg)
    return record.cls.fields[call.args.index(node)]  # type: ignore[arg-type]


def _copied(flow: Flow, call: ast.Call) -> Record | None:
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("replace", "_replace") and not call.args:
        held = flow.value(call.func.value)
        if isinstance(held, Record) and call.func.attr == ("_replace" if held.cls.is_tuple else "replace"):
            return held
    return None
