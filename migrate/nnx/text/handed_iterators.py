"""Methods that take the iterator of a list of modules from `__call__`, as they make modules that Linen numbers with others.

    def attend(self, x, *, attentions):                          # was: return Attention(8)(x)
        return next(attentions)(x)

    def __call__(self, x, y):
        attentions = iter(self.Attention)
        return self.attend(x, attentions=attentions) + self.attend(y, attentions=attentions)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...linen.execution.execute import Execution
from ...linen.project.classes import PLAIN_DECORATORS, Method
from ...linen.values.sites import Site
from ...source import SourceFile
from ...trees import subtree
from .made_where import method_of

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def takers(run: Execution, entry: Method | None, sites: Sequence[Site]) -> tuple[Method, ...]:
    """The methods that lead from an entry to what makes the sites; none where one may be called in another way."""
    if entry is None or entry.owner is not run.model or run.analyser.classes.derived(run.model):
        return ()
    if any(_own(node) == "variables" for node in run.model.nodes if isinstance(node, ast.Attribute)):
        return ()  # it asks for them by the names that Linen numbers
    own: dict[ast.AST, Method] = {method.node: method for method in run.model.own_methods.values()}
    makers = {method_of(site) for site in sites} - {entry.node}
    if not all(maker in own for maker in makers) or any(site.through for site in sites):
        return ()
    found = {own[maker] for maker in makers if maker is not None}
    while True:
        more = {m for m in own.values() if m is not entry and any(called in found for called in _called(run, m))}
        if more <= found:
            break
        found |= more
    if not all(_is_called_alone(run, entry, method, found) for method in found):
        return ()
    return tuple(sorted(found, key=lambda m: m.node.lineno))


def first_statement(method: Method) -> ast.stmt:
    """What stands first in a method, behind its docstring."""
    first, *rest = method.node.body
    said = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return rest[0] if said and rest else first


def _called(run: Execution, method: Method) -> list[Method]:
    names = [_own(n.func) for n in method.nodes if isinstance(n, ast.Call)]
    return [run.model.own_methods[name] for name in names if name in run.model.own_methods]


def _own(node: ast.expr) -> str:
    """`attend` of `self.attend`."""
    of_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if isinstance(node, ast.Attribute) and of_self else ""


def _is_called_alone(run: Execution, entry: Method, method: Method, takers: set[Method]) -> bool:
    """Is a method named only where the entry, or another of these, calls it at once?"""
    if method.name.startswith("__") or method.name in run.blocks or set(method.decorators) - PLAIN_DECORATORS:
        return False
    word = re.compile(rf"\b{method.name}\b")
    source, inside = run.model.source, set(subtree(run.model.node))
    if any(word.search(other.text) for other in run.project.files.values() if other is not source):
        return False
    callers = {node: caller for caller in (entry, *takers) for node in caller.nodes}
    for node in subtree(source.tree):
        if isinstance(node, ast.Constant) and node.value == method.name:
            return False
        if not isinstance(node, ast.Attribute) or node.attr != method.name:
            continue
        if node not in inside or node not in callers or not _is_call(source, node, callers[node]):
            return False
    return True


def _is_call(source: SourceFile, node: ast.Attribute, caller: Method) -> bool:
    """`self.attend(...)`, which the method itself comes by, and no function within it."""
    call = source.parents[node]
    if not isinstance(call, ast.Call) or call.func is not node or not _own(node):
        return False
    around = next((a for a in source.ancestors(call) if isinstance(a, _FUNCTIONS)), None)
    return around is caller.node


def write(writer: ClassWriter) -> None:
    """The new parameters of such methods, and what the calls of these hand on."""
    from ..factories import helper_functions

    handed: dict[Method, list[str]] = {}
    for name, methods in writer.text.names.handed.items():
        for method in methods:
            handed.setdefault(method, []).append(name)
    for method, names in handed.items():
        helper_functions.take(writer, method.node, writer.source, names)
        for node in subtree(writer.model.node):
            if isinstance(node, ast.Call) and _own(node.func) == method.name:
                helper_functions.hand_in(writer, node, writer.source, {name: (name,) for name in names})


__all__ = ["first_statement", "takers", "write"]
