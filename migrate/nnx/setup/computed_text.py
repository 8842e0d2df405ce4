"""The text of what `setup` computes of its parameters for every call, as `setup_values` has planned it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ... import shared_lines
from ...edits import Edit, Overlay, Part, Span
from ...linen.modules.self_calls import SetupParam
from ...linen.project.classes import Method
from ...linen.values.sites import Unmigratable
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import with_comments
from . import inner_variables
from .setup_params import said
from .setup_values import Computed, is_self_attribute

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def write(writer: ClassWriter, found: Computed) -> None:
    """The constructor without what moves, the method that computes it, and the reads of it."""
    setup = writer.model.own_methods.get("setup")
    for method in (method for model in writer.model.mro() for method in model.own_methods.values()):
        if method.name != "setup":
            _reads(writer, found, method)
    if setup is None:
        return  # a base has the method
    source = setup.source
    text = _Text(writer, found, setup)
    for statement, sites in found.both.items():
        if not sites:
            continue
        indent = source.newline + source.indent_of(statement)
        parts: list[Part] = []
        for site in sites:
            parts += [indent if parts else "", f"self.{found.held[id(site.node)]} = ", source.span(site.node)]
        if (statement in found.kept or len(sites) > 1) and text.is_behind(statement):
            raise Unmigratable("NNX170", "what needs lines of its own stands behind a condition on its line", statement)
        if statement in found.kept:
            parts += [indent, *text.said_in_parts(statement, source.span(statement))]
        writer.put(statement, *parts, source=source)
    for statement in found.kept - found.both.keys():
        for edit in text.edits(statement):
            writer.put(edit.span, *edit.parts, source=source)
    text.write_attributes_of_first_values()
    text.write()


def _reads(writer: ClassWriter, found: Computed, method: Method) -> None:
    reads = [n for n in method.nodes if is_self_attribute(n) and n.attr in found.attributes]  # type: ignore[attr-defined]
    if not reads:
        return
    source, body = method.source, method.node.body
    local = "computed"
    used = {n.id for n in method.nodes if isinstance(n, ast.Name)} | {a.arg for a in method.parameters}
    while local in used:
        local += "_"
    for node in reads:
        writer.put(node, f"{local}.{node.attr}", source=source)  # type: ignore[attr-defined]
    if method.owner is not writer.model:
        return  # the base says it, alike
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    writer.put_before(source, body[1 if documented else 0], [(f"{local} = self.{found.method}()",)])


class _Text:
    """The text of the method."""

    def __init__(self, writer: ClassWriter, found: Computed, setup: Method) -> None:
        self.writer, self.found, self.setup = writer, found, setup
        self.source: SourceFile = setup.source
        self.parts: list[Part] = []
        self.opened = {id(site.node): site.opened for sites in found.both.values() for site in sites}

    def write(self) -> None:
        writer, source, newline = self.writer, self.source, self.source.newline
        body = self.setup.node.body
        indent, inner = source.indent_of(self.setup.node), source.indent_of(body[-1])
        self._block(body)
        namespace = writer.namer.name("types.SimpleNamespace")
        head: list[Part] = [
            newline, f"{indent}def {self.found.method}(self):{newline}",
            f'{inner}"""What follows from the parameters, as they are now."""{newline}',
            f"{inner}computed = {namespace}(){newline}",
        ]  # fmt: skip
        properties: list[Part] = []
        for name in sorted(self.found.properties):
            properties += [
                newline, f"{indent}@property{newline}", f"{indent}def {name}(self):{newline}",
                f"{inner}return self.{self.found.method}().{name}{newline}",
            ]  # fmt: skip
        if self.found.attributes:
            writer.insert(
                source.line_span(body[-1]).end,
                *head,
                *self.parts,
                f"{inner}return computed{newline}",
                *properties,
                source=source,
                order=9,
            )
        self._take_away(body[self._take_first_away(body) :])

    def write_attributes_of_first_values(self) -> None:
        """What the constructor computes in attributes is in the same namespace there."""
        found, source, writer = self.found, self.source, self.writer
        for node in found.starts:
            if is_self_attribute(node) and node.attr in found.attributes:  # type: ignore[attr-defined]
                writer.put(node, f"computed.{node.attr}", source=source)  # type: ignore[attr-defined]
        computing = [
            s
            for s in self.setup.node.body
            if any(n in found.kept for n in subtree(s))  # type: ignore[comparison-overlap]
            and any(is_self_attribute(n) and n.attr in found.attributes for n in subtree(s))  # type: ignore[attr-defined]
        ]
        if computing:
            namespace = writer.namer.name("types.SimpleNamespace")
            writer.put_before(source, computing[0], [(f"computed = {namespace}()",)])

    def _is_said(self, statement: ast.stmt) -> bool:
        found = self.found
        return any(s in found.moved or s in found.both or s in found.copied for s in subtree(statement))  # type: ignore[operator]

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self._is_said(statement):
                continue
            if isinstance(statement, ast.If) and statement not in self.found.moved:
                self._if(statement, "if")
                continue
            start = self._with_comments(statement) if statement in self.found.moved else self.source.span(statement).start
            end = self.source.line_span(statement).end
            if len(shared_lines.beside(self.source, statement)) > 1:
                start, end = self.source.span(statement).start, self.source.span(statement).end
            stop = end - len(self.source.newline) if self.source.text[:end].endswith(self.source.newline) else end
            lead = "" if start < self.source.span(statement).start else self._indent(statement)
            self.parts += [lead, *self.said_in_parts(statement, Span(start, stop)), self.source.newline]
            self.writer.asked |= {n.attr for n in subtree(statement) if isinstance(n, ast.Attribute)}

    def _indent(self, statement: ast.stmt) -> str:
        """Where a statement stands on a line of its own, also one behind a condition: `else: w = 1`."""
        return self.source.indent_of(statement) + (self.source.indent_unit if self.is_behind(statement) else "")

    def is_behind(self, statement: ast.stmt) -> bool:
        """Does it stand on the line of the condition around it?"""
        first = shared_lines.beside(self.source, statement)[0]
        line = self.source.line_span(first).start
        return bool(self.source.text[line : self.source.full_span(first).start].strip())

    def _if(self, node: ast.If, word: str) -> None:
        source, newline = self.source, self.source.newline
        indent = source.indent_of(node)
        self.writer.asked |= {n.attr for n in subtree(node.test) if isinstance(n, ast.Attribute)}
        self.parts += [f"{indent}{word} ", source.span(node.test), f":{newline}"]
        if any(self._is_said(s) for s in node.body):
            self._block(node.body)
        else:
            self.parts += [f"{self._indent(node.body[0])}pass{newline}"]
        if not any(self._is_said(s) for s in node.orelse):
            return
        first = node.orelse[0]
        if isinstance(first, ast.If) and source.text[source.span(first).start :].startswith("elif"):
            if first not in self.found.moved:
                self._if(first, "elif")
                return
            start, end = source.span(first).start, source.span(first).end  # the `elif` and all that belongs to it
            self.parts += [indent, *self.said_in_parts(first, Span(start, end)), newline]
            self.writer.asked |= {n.attr for n in subtree(first) if isinstance(n, ast.Attribute)}
            return
        self.parts += [f"{indent}else:{newline}"]
        self._block(node.orelse)

    def said_in_parts(self, statement: ast.stmt, whole: Span) -> list[Part]:
        """The text of a statement, from `whole`, as the method says it."""
        edits, pieces = tuple(self.edits(statement)), [whole]
        if statement in self.found.both:  # as a whole it says something else in the constructor
            value = self.source.span(statement.value).start  # type: ignore[attr-defined]
            pieces = [Span(whole.start, value), Span(value, whole.end)]
        return [Overlay(p, tuple(e for e in edits if p.contains(e.span))) for p in pieces]

    def edits(self, statement: ast.stmt) -> Iterator[Edit]:
        """The statement as the method says it."""
        source = self.source
        for node in subtree(statement):
            key = self.found.held.get(id(node))
            inner = inner_variables.read(self.writer.run, node)
            if key is not None:
                yield Edit(source.span(node), (f"self.{key}{self.opened[id(node)]}",))
            elif isinstance(node, ast.Name) and node.id in self.found.attributes_of_names:
                attribute = self.found.attributes_of_names[node.id]
                yield Edit(source.span(node), (f"self.{self.writer.text.renamed.get(attribute, attribute)}",))
            elif inner:
                assert isinstance(node, ast.Attribute)
                yield Edit(source.span(node), (source.span(node.value), f".{inner}"))
            elif is_self_attribute(node):
                name = node.attr  # type: ignore[attr-defined]
                held = self.writer.run.evaluated.get(node)
                if name in self.found.attributes:
                    yield Edit(source.span(node), (f"computed.{name}",))
                elif held is not None and isinstance(held.value, SetupParam):
                    opened = held.value.site.opened if held.value.site is not None else "[...]"
                    yield Edit(source.span(node), (f"{said(self.writer.text.setup_params.get(name, name))}{opened}",))

    def _with_comments(self, statement: ast.stmt) -> int:
        """Where the comment lines right above a statement begin, or the statement."""
        first = with_comments(self.source, statement)
        return first if first < self.source.line_span(statement).start else self.source.span(statement).start

    def _take_away(self, statements: Sequence[ast.stmt]) -> None:
        """The lines that are gone from the constructor."""
        shared = [s for s in statements if self.found.is_gone(s) and len(shared_lines.beside(self.source, s)) > 1]
        for span in shared_lines.removals(self.source, shared):
            self.writer.remove(self.source, span)
        for statement in statements:
            if statement in shared:
                continue
            if isinstance(statement, ast.If) and statement not in self.found.moved:
                for block in (statement.body, statement.orelse):
                    gone = bool(block) and all(self.found.is_gone(s) for s in block)
                    if gone and block is statement.orelse:  # with its `else`
                        behind = self.source.line_span(statement.body[-1]).end
                        self.writer.remove(self.source, Span(behind, self.source.line_span(block[-1]).end))
                    elif gone:
                        self.writer.put(block[0], "pass", source=self.source, in_place=True)
                        self._take_away(block[1:])
                    else:
                        self._take_away(block)
            elif self.found.is_gone(statement):
                start = min(self._with_comments(statement), self.source.line_span(statement).start)
                while (above := self.source.text.rfind("\n", 0, start - 1) + 1) and not self.source.text[
                    above:start
                ].strip():
                    start = above
                self.writer.remove(self.source, Span(start, self.source.line_span(statement).end))

    def _take_first_away(self, body: Sequence[ast.stmt]) -> int:
        """The first statements, before which the constructor's head ends; how many of the body are done."""
        is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        first = last = 1 if is_text else 0
        while last < len(body) and self.found.is_gone(body[last]):
            last += 1
        if last == first:
            return 0
        start, end = self.source.span(body[first]).start, self.source.line_span(body[last - 1]).end
        if last < len(body) and body[last] in shared_lines.beside(self.source, body[last - 1]):
            end = self.source.full_span(body[last]).start
        if last == len(body):
            self.writer.put(Span(start, end), f"pass{self.source.newline}", source=self.source)
            return last
        rest = self.source.text[end:]
        self.writer.remove(self.source, Span(start, end + len(rest) - len(rest.lstrip())))
        return last


__all__ = ["write"]
