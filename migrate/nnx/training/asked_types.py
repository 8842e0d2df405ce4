"""`type(model)` of what has become a `Functional`: it goes by the name of the model's class, and is another type.

    type(model).__name__, f"{type(model)}"         stay: see `FunctionalType`
    type(model) is MLP, names[type(model)]    →    model.__class__ is MLP, names[model.__class__]

Within an f-string nothing can be rewritten: what compares there is marked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...context import FileContext
from ...diagnostics import Severity
from ...edits import Span
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import Model, Nothing, Value
from ...source import SourceFile
from ...trees import subtree
from ..generated import parity
from .components import Component

_NAMING = ("__name__", "__qualname__", "__module__")
_SAYING = ("str", "repr", "print", "format")
_LOOKING_UP = ("get", "setdefault", "pop", "index", "count", "issubclass")


def write(components: list[Component], flow: Flow, contexts: dict[str, FileContext]) -> None:
    """`components`: those that work on a `Functional`."""
    classes = {plan.qualname for component in components for plans in component.plans for plan in plans}
    files = {flow.site_source[site].module for component in components for site in component.sites}
    for module in sorted(flow.project.running_with(files)) if classes else ():
        source = flow.project.files[module]
        if parity.is_written(source.text):
            continue
        asking = [call for call in _asking(source) if call in flow.source_of]
        followed = {call for call in asking if _is_followed(components, flow.value(call.args[0]))}
        for call in asking:
            if call in followed:
                asks = not _is_named(source, call)
            else:
                asks = _may_be_one(flow.value(call.args[0])) and _tells_apart(flow, source, call, classes, followed)
            if asks:
                _write(contexts[module], call)


def _asking(source: SourceFile) -> Iterator[ast.Call]:
    """`type(model)`, of one thing that may be followed by `.__class__`."""
    names = source.by_kind.get(ast.Name, ())
    if any(isinstance(n, ast.Name) and n.id == "type" and isinstance(n.ctx, ast.Store) for n in names):
        return
    for node in source.by_kind.get(ast.Call, ()):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
            if len(node.args) == 1 and not node.keywords:
                if isinstance(node.args[0], ast.Name | ast.Attribute | ast.Subscript | ast.Call):
                    yield node


def _is_followed(components: list[Component], value: Value) -> bool:
    return isinstance(value, Model) and any(component.holds(value) for component in components)


def _may_be_one(value: Value) -> bool:
    """Is it a thing of which nothing is known, as out of a loop over models?"""
    return type(value) in (Value, Nothing)


def _is_named(source: SourceFile, call: ast.Call) -> bool:
    """Does only the name of the type matter, or that a call of it makes another model?"""
    outer = source.parents[call]
    if isinstance(outer, ast.Attribute):
        return outer.attr in _NAMING
    if isinstance(outer, ast.Call):
        return outer.func is call or (isinstance(outer.func, ast.Name) and outer.func.id in _SAYING)
    return isinstance(outer, ast.FormattedValue)


def _tells_apart(flow: Flow, source: SourceFile, call: ast.Call, classes: set[str], followed: set[ast.Call]) -> bool:
    """Is the type compared with a class of the models, or one that the code does not say, or looked up?"""
    outer = source.parents[call]
    if isinstance(outer, ast.Subscript | ast.Dict | ast.DictComp | ast.Set | ast.SetComp):
        return call not in (getattr(outer, "value", None), *getattr(outer, "values", ()))  # the key
    if isinstance(outer, ast.Compare):
        beside = [side for side in (outer.left, *outer.comparators) if side is not call]
    elif isinstance(outer, ast.Call) and call in outer.args:
        name = outer.func.attr if isinstance(outer.func, ast.Attribute) else getattr(outer.func, "id", "")
        if isinstance(outer.func, ast.Attribute) and name in _LOOKING_UP:
            return True
        beside = [side for side in outer.args if side is not call] if name in _LOOKING_UP else []
    else:
        return False
    said = [node for side in beside for node in subtree(side)]
    names = [flow.project.qualname(source, node) for node in said if isinstance(node, ast.Name | ast.Attribute)]
    return any(node in followed for node in said) or any(name is None or name in classes for name in names)


def _write(context: FileContext, call: ast.Call) -> None:
    node = call.args[0]
    whole = [parent for parent in context.source.ancestors(call) if isinstance(parent, ast.JoinedStr)]
    if not whole:
        context.replace(Span(context.span(call).start, context.span(node).start), "", code="NNX603")
        context.replace(Span(context.span(node).end, context.span(call).end), ".__class__", code="NNX603")
        return
    context.report(
        whole[-1],
        "NNX603",
        f"`{ast.unparse(call)}` is another type than the model's class here",
        severity=Severity.WARNING,
        help=f"Write `{ast.unparse(node)}.__class__`, which is the model's class.",
    )
