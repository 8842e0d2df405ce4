"""Modules that are as good as functions: `FeedForward(activation=Identity())` where others hand over `nn.relu`.

A class without variables, modules, random streams and sown values, whose call gives an array of its argument's shape,
computes what a function would. A field whose default is a function holds the one or the other, and calls it.
"""

from __future__ import annotations

from typing import Any

from ..values.sites import Unmigratable
from ..values.values import Array, Global, Shape
from .passed import Given, Passed, Plain


def as_function(analyser: Any, run: Any, target: str, field: str, given: Given, beside: Given | None) -> Given:
    """What a field is given: a function where its modules compute what one would, and it is given functions, too.

    `run`: the execution that passes it to the class `target`; `beside`: what another construction gives.
    """
    if not isinstance(given, Passed) or given.many:
        return given
    functions = isinstance(beside, Plain) or _is_function_by_default(analyser, run, target, field)
    if functions and all(not kind.layer and _only_computes(analyser, kind.target) for kind in given.kinds):
        return Plain()
    return given


def _is_function_by_default(analyser: Any, run: Any, target: str, name: str) -> bool:
    model = analyser.classes.get(target)
    field = next((f for f in model.fields() if f.name == name), None) if model is not None else None
    return (
        field is not None
        and field.default is not None
        and isinstance(run.constant(field.default, field.source).value, Global)
    )


def _only_computes(analyser: Any, target: str) -> bool:
    run = without_state(analyser, target)
    summary = run.summaries.get("__call__") if run is not None else None
    if summary is None or len(summary.parameters) != 1:
        return False
    return bool(summary.result == Array(Shape.argument(summary.parameters[0])))


def without_state(analyser: Any, target: str) -> Any:
    """The execution of a class without variables, modules, random streams and sown values; None for another."""
    if target in analyser.running:
        return None
    try:
        run = analyser.execution(target)
    except Unmigratable:
        return None
    return None if run.sites or run.held or run.used_streams or run.sows else run


__all__ = ["as_function", "without_state"]
