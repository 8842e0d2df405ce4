"""Attention without weights: what takes queries, keys and values and makes nothing gives an array of the queries' shape.

A kernel for one kind of device, a function mapped over a mesh, a cache that is there or not: followed dimension by dimension
little is left of what such a module or function returns. Where its parameters say what it is, and the result is not known,
it has the queries' shape, with the features of the values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..values.sites import CallRecord, Site, Unmigratable
from ..values.values import Array, Shape, Unknown, Value
from .rotations import is_of_heads, is_vague

_QUERY, _KEY, _VALUE = (
    re.compile(rf"({letter}|{word}|{more})(_\w+)?")
    for letter, word, more in (("q", "query", "queries"), ("k", "key", "keys"), ("v", "value", "values"))
)


def attended(parameters: Sequence[str], given: Mapping[str, Value], result: Value) -> Value:
    """`result` of a call with these parameters, with the shape of the queries where it is attention and not known."""
    names = list(parameters)[:3]
    kinds = (_QUERY, _KEY, _VALUE)
    if len(names) < 3 or not all(kind.fullmatch(name) for kind, name in zip(kinds, names)):
        return result
    query, value = given.get(names[0]), given.get(names[2])
    if not isinstance(query, Array) or not isinstance(value, Array) or not (_is_one(result) and is_vague(result)):
        return result
    if not is_of_heads(query.shape) or value.shape.dim(-1) is None:
        return result
    return Array(Shape((*query.shape.dims[:-1], value.shape.dim(-1)), query.shape.lead))


def attended_by(run: Any, site: Site, method: str, record: CallRecord, result: Value) -> Value:
    """As `attended`, of a call of a module of the project's that makes no parameters."""
    try:
        called = run.analyser.execution(site.target)
    except Unmigratable:  # one that stays Linen is asked for the shape of its result
        return result
    found = called.model.method(method)
    summary = called.summaries.get(method)
    if found is None or summary is None or any(s.kind != "rng" and not s.lazy for s in called.sites):
        return result
    return attended([p.arg for p in found.parameters], summary.inputs(record), result)


def _is_one(result: Value) -> bool:
    return isinstance(result, Array) or type(result) is Unknown


__all__ = ["attended", "attended_by"]
