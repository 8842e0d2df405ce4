"""Arguments with defaults of a call that a class is made by: `def __call__(self, x, times=1)`, called with 4 elsewhere.

What it is given decides sizes where the modules that wait for them are given what is computed with it. The constructor then
takes an example of it, which has the same default.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...linen.values.sites import Site
from ...trees import subtree
from . import first_calls

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from ...linen.project.classes import Method
    from .class_text import ClassText


def may_decide(text: ClassText, method: Method, name: str, default: ast.expr) -> bool:
    """May another value than its default lead to other sizes? Flags and numbers with a point are not taken to."""
    if not (_counts(default) or isinstance(default, ast.Subscript)):
        return False
    return name in _leading(text.run, method, text.later)


def said(method: Method | None, argument: str) -> str:
    """The default of an argument that the constructor's example of it has as well; "" where that cannot be said there."""
    default = method.default(argument) if method is not None else None
    return ast.unparse(default) if default is not None and _counts(default) else ""


def left_out(text: ClassText, site: Site, argument: str) -> bool:
    """Does the call of a module leave out an argument?"""
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    if method is None or site.call is None or argument in site.call.keywords:
        return False
    return argument not in [p.arg for p in method.positional][: len(site.call.args)]


def optional(text: ClassText, site: Site, names: Sequence[str]) -> list[str]:
    """The names of what a module's first call gives by its place; of what some call leaves out, with its default."""
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    if method is None or len(site.calls) < 2:
        return list(names)
    out: list[str] = []
    for i, (parameter, name) in enumerate(zip(method.positional, [n for n in names if n[0] != "*"])):
        given = all(
            len(call.args) > i
            or any(isinstance(a, ast.Starred) for a in call.args)
            or any(k.arg in (None, parameter.arg) for k in call.keywords)
            for call, _, _ in site.calls
        )
        without = not given or any("=" in said for said in out)
        out.append(f"{name}=None" if without and method.default(parameter.arg) is not None else name)
    return [*out, *(name for name in names if name.startswith("*"))]


def _counts(default: ast.expr) -> bool:
    """Is it a whole number, a text, or several of them?"""
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return False
    parts = value if isinstance(value, tuple | list) else (value,)
    return all(isinstance(part, int | str) and not isinstance(part, bool) for part in parts)


def _leading(run: Execution, method: Method, later: dict[Site, None]) -> set[str]:
    """The names of a method that what such modules are given follows from, also by a condition."""
    called = [first_calls.caller(run, site) or site for site in later]
    found = {n for site in called for call, _, _ in site.calls for n in _names([*call.args, *call.keywords])}
    found |= {n for site in later for n in _names(site.node.args)}
    assigned = list(_assigned(method.node, frozenset()))
    before = -1
    while before != len(found):
        before = len(found)
        for targets, read in assigned:
            if targets & found:
                found |= read
    return found


def _assigned(node: ast.AST, around: frozenset[str]) -> Iterator[tuple[set[str], set[str]]]:
    """What statements assign to, and the names that its value follows from."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield _names(targets), {*_names([node.value]), *around}
    if isinstance(node, ast.If | ast.While):
        around |= _names([node.test])
    if isinstance(node, ast.For):
        around |= _names([node.iter])
        yield _names([node.target]), set(around)
    for child in ast.iter_child_nodes(node):
        yield from _assigned(child, around)


def _names(nodes: Sequence[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in subtree(node) if isinstance(n, ast.Name)}


__all__ = ["left_out", "may_decide", "said"]
