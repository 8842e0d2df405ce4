"""Linen layers that code outside of modules gives to native classes: `ResNet(norm=nn.GroupNorm)`, defaults of functions.

    def make(norm=partial(nn.BatchNorm, momentum=0.9)):      def make(norm=partial(nnx.BatchNorm, momentum=0.9)):
        return ResNet(norm=norm)                                 return ResNet(norm=norm)

The constructor of a native class calls what it is given as it would call the NNX layer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...catalog import layers
from ...context import FileContext
from ...edits import Part
from ...linen.execution.analyser import Analyser
from ...linen.project.index import Project
from ...linen.values.sites import Factory
from ...plan import Outcome, Plan
from ...source import SourceFile


def write(plan: Plan, project: Project, by_path: Mapping[Any, FileContext]) -> None:
    """The edits of the layers that only native classes are given."""
    analyser = next((p.writer.analyser for p in plan.reported() if isinstance(_analyser(p.writer), Analyser)), None)
    if analyser is None:
        return
    plan.handed_over.update(_for_native(plan, project, analyser.given_by_tables))
    given: dict[ast.expr, tuple[Factory, bool]] = {}
    for target, factory, where in analyser.given_layers:
        native = not analyser.kinds.is_dropped(where, factory.target) and _is_native(plan, target)
        if isinstance(factory.node, ast.expr):
            given[factory.node] = (factory, native and given.get(factory.node, (factory, True))[1])
    for node, (factory, native) in given.items():
        assert factory.source is not None
        if native and node not in project.inside_modules and factory.source.path in by_path:
            parts = _said(project, factory.source, node, factory.target, by_path[factory.source.path])
            if parts:
                by_path[factory.source.path].replace(node, *parts, code="NNX100")


def _for_native(plan: Plan, project: Project, tables: Sequence[tuple[str, str, ast.expr]]) -> Iterator[ast.expr]:
    """What tables hold for fields of native classes alone: no code asks the table for it."""
    if not tables:
        return
    asked: set[object] = set()
    for source in project.files.values():
        for node in source.by_kind.get(ast.Subscript, ()):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant):
                asked.add(node.slice.value)
    linen = {id(value) for target, _, value in tables if not _is_native(plan, target)}
    yield from (value for _, key, value in tables if key not in asked and id(value) not in linen)


def _is_native(plan: Plan, target: str) -> bool:
    decided = plan.classes.get(target)
    return decided is not None and decided.outcome is Outcome.NATIVE


def _analyser(writer: Any) -> Any:
    return getattr(writer, "analyser", None)


def _said(project: Project, source: SourceFile, node: ast.expr, target: str, context: FileContext) -> list[Part]:
    """`nn.Conv` and `partial(nn.Conv, ...)` as NNX; nothing for what is another factory's or has no counterpart."""
    layer = layers.lookup(target)
    if layer is None or target in project.linen_classes:
        return []
    bound: dict[str, layers.Arg] = {}
    partial: ast.expr | None = None
    if isinstance(node, ast.Call):
        if project.qualname(source, node.func) != "functools.partial" or len(node.args) < 1:
            return []
        if project.qualname(source, node.args[0]) != target or any(k.arg is None for k in node.keywords):
            return []
        partial = node.func
        named = [p.name for p in layer.parameters]
        pairs = [*zip(named, node.args[1:]), *((str(k.arg), k.value) for k in node.keywords)]
        bound = {name: layers.Arg((source.span(value),)) for name, value in pairs}
    elif project.qualname(source, node) != target:
        return []
    try:
        built = layer.partial(bound)
    except layers.Unsupported:
        return []
    for part in built.parity:
        context.parity(part)
    name = context.parity(built.target[13:]) if built.target.startswith("linen_parity.") else context.name(built.target)
    if not built.keywords:
        return [name]
    parts: list[Part] = [source.span(partial) if partial is not None else context.name("functools.partial"), "(", name]
    for keyword, value in built.keywords:
        parts += [f", {keyword}=", *[_named(p, context) for p in value]]
    return [*parts, ")"]


def _named(part: Part, context: FileContext) -> Part:
    if not isinstance(part, layers.Ref):
        return part
    return context.parity(part[13:]) if part.startswith("linen_parity.") else context.name(str(part))


__all__ = ["write"]
