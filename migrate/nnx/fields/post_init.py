"""`__post_init__` in the written constructor: it calls checks once the fields are stored, and says what computes itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...edits import Edit, Overlay, Parts, Span
from ...linen.execution.post_inits import Computing, attribute_set, is_nothing, is_super, keeps, own_attribute, set_by_name
from ...linen.values.sites import Unmigratable
from ...source import SourceFile
from ...trees import subtree
from ..setup import setup_containers

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def lines(writer: ClassWriter) -> list[Parts]:
    """What the constructor does once its fields are stored."""
    computing = writer.run.computing
    if computing is not None:
        checks: list[Parts] = [("self.__post_init__()",)] if computing.checks else []  # that of a base: its own is gone
        return [*_said(writer, computing, computing.after, stored=True), *checks]
    found = writer.model.method("__post_init__")
    if found is None or all(is_nothing(s) for s in found.node.body):
        return []
    return [("self.__post_init__()",)]


def before(writer: ClassWriter) -> list[Parts]:
    """What changes the fields that it is given, before it stores them."""
    computing = writer.run.computing
    return _said(writer, computing, computing.before, stored=False) if computing is not None else []


def read(writer: ClassWriter) -> set[str]:
    """The fields that what makes attributes reads off the module."""
    computing = writer.run.computing
    if computing is None:
        return set()
    return {name for s in computing.after for n in subtree(s) if (name := own_attribute(n))} | computing.asked


def _said(writer: ClassWriter, computing: Computing, statements: Sequence[ast.stmt], *, stored: bool) -> list[Parts]:
    source = computing.method.source
    if statements and (source is not writer.source or any(source.shares_line(s) for s in statements)):
        raise Unmigratable("NNX173", "its __post_init__ cannot be written into the constructor", computing.method.node)
    fields = {field.name for field in writer.model.fields()}
    if fields & writer.other_names.keys():
        raise Unmigratable("NNX173", "it has a __post_init__, and a field under another name", computing.method.node)
    indent = source.indent_of(writer.model.node.body[0]) + source.indent_unit
    written: list[Parts] = []
    for statement in statements:
        if not stored and keeps(statement):
            continue
        edits: list[Edit] = []
        for node in subtree(statement):
            name = own_attribute(node)
            if name in fields and not stored:
                edits.append(Edit(source.span(node), (name,)))
            elif name and isinstance(node, ast.Call):
                edits.append(Edit(source.span(node), (f"self.{name}",)))
            named = set_by_name(node) if isinstance(node, ast.stmt) else None
            if named is not None:
                whole, value = source.span(node), source.span(named[1])
                target = named[0] if named[0] in fields and not stored else f"self.{named[0]}"
                brackets = ("(", ")") if "\n" in source.text[value.start : value.end] else ("", "")
                edits.append(Edit(Span(whole.start, value.start), (f"{target} = {brackets[0]}",)))
                edits.append(Edit(Span(value.end, whole.end), (brackets[1],)))
        span = _with_comments(source, statement)
        edits += _indented(source, statement, span, indent)
        written.append((Overlay(span, tuple(edits)),))
    return written


def _with_comments(source: SourceFile, statement: ast.stmt) -> Span:
    """A statement with the comments above it and on its last line."""
    lines = source.line_span(statement)
    start = source.span(statement).start
    at = lines.start
    while at > 0:
        above = source.line_start(at - 1)
        if not source.text[above:at].lstrip().startswith("#"):
            break
        start = above + len(source.text[above:at]) - len(source.text[above:at].lstrip())
        at = above
    return Span(start, lines.start + len(source.text[lines.start : lines.end].rstrip()))


def _indented(source: SourceFile, statement: ast.stmt, span: Span, indent: str) -> list[Edit]:
    """The lines below the first as deep as they have to stand."""
    own = source.indent_of(statement)
    if own == indent:
        return []
    strings = [source.span(n) for n in subtree(statement) if isinstance(n, ast.Constant | ast.JoinedStr)]
    edits: list[Edit] = []
    at = source.line_end(span.start)
    while at < span.end:
        if own and source.text.startswith(own, at) and not any(s.start < at < s.end for s in strings):
            edits.append(Edit(Span(at, at + len(own)), (indent,)))
        at = source.line_end(at)
    return edits


def edits(writer: ClassWriter) -> None:
    """Linen's own goes; with it the method, where it does nothing else, or what it does stands in the constructor."""
    method = writer.model.own_methods.get("__post_init__")
    if method is None:
        return
    source, body = method.source, method.node.body
    computing = writer.run.computing
    if computing is None:
        if writer.model.method("__post_init__", after=writer.model) is not None:
            return
        rest = [s for s in body if not is_nothing(s)]
        for statement in body if rest else ():
            if is_super(statement):
                writer.remove(source, source.line_span(statement))
        if rest:
            return
    for statement in computing.after if computing is not None else ():
        for node in subtree(statement):
            found = attribute_set(node) if isinstance(node, ast.stmt) else None
            held = writer.run.evaluated.get(found[1]) if found is not None else None
            if found is not None and held is not None:
                setup_containers.write_arrays(writer, statement, found[1], held.value, source)
    if len([s for s in writer.model.node.body if s is not method.node]) == 0:
        raise Unmigratable("NNX173", "the class has nothing but a __post_init__", method.node)
    end = source.line_span(method.node).end
    after = source.text[end : source.text.find("\n", end) + 1]
    if after and not after.strip():  # the blank line below goes with it
        end += len(after)
    span = source.full_span(method.node)
    writer.remove(source, type(span)(source.line_start(span.start), end))


__all__ = ["before", "edits", "lines", "read"]
