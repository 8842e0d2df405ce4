"""Calls that update statistics under a flag, and give a pair only then, in the functional form.

outs = model.apply(variables, x, train, mutable=["batch_stats"] if train else False)
y, updates = outs if train else (outs, None)

                →   merged = nnx.merge(graphdef, params, batch_stats, copy=True)
                    outs = merged(x, train)
                    outs = (outs, {"batch_stats": nnx.state(merged, nnx.BatchStat)}) if train else outs
                    y, updates = outs if train else (outs, None)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.flow import flow_nones
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional


def write(form: _Functional, call: ast.Call, test: str, updates: str) -> None:
    """The pair, below the call; Unsupported where what the call gives has no name."""
    statement, source = form.parent(call), form.source(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or form.bound_once(target) is None:
        raise Unsupported(call, "updates under a flag that are not given a name")
    line = source.line_span(statement)  # type: ignore[arg-type]
    behind = source.text[source.full_span(statement).end : line.end].strip()  # type: ignore[arg-type]
    if (behind and not behind.startswith("#")) or not source.text[: line.end].endswith("\n"):
        raise Unsupported(call, "updates under a flag on a line with other statements")
    made = f"{target.id} = ({target.id}, {updates}) if {test} else {target.id}"
    form.replace_span(statement, Span(line.end, line.end), f"{source.indent_of(statement)}{made}{source.newline}")  # type: ignore[arg-type]


def is_made(form: _Functional, node: ast.AST) -> bool:
    """Is it what stands in for the pair where there is none: `(outs, None)`, or the name in it?"""
    if isinstance(node, ast.Name):
        node = form.parent(node)
    choice = form.parent(node) if isinstance(node, ast.Tuple) else None
    return (
        isinstance(choice, ast.IfExp)
        and flow_nones.pair(form.flow, choice) is not None
        and node in (choice.body, choice.orelse)
    )
