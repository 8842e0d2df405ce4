"""One source file as everything downstream sees it: text, syntax tree, offsets, names."""

from __future__ import annotations

import ast
import bisect
import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .annotated_attributes import as_assignments
from .edits import Span
from .names import Names
from .trees import FlatTree, parse_text

# `ast` numbers lines by \n, \r\n and \r only; str.splitlines would also split at form feeds.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_WORD = re.compile(r"[^\W\d]\w*")
_SPACED = bytes(b if chr(b).isalnum() or b == ord("_") else ord(" ") for b in range(128)) + bytes(128)


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, as `ast` counts them."""
    return _LINE.findall(text)


def line_starts(text: str) -> list[int]:
    """Where the lines of a text begin, and where it ends."""
    return [0, *itertools.accumulate(map(len, lines_of(text)))]


@dataclasses.dataclass(frozen=True)
class SourceFile:
    """A parsed file. `module` is its dotted import name; notebooks and percent scripts arrive as plain text too."""

    path: Path
    module: str
    text: str = dataclasses.field(repr=False)  # messages of errors may show a file
    tree: ast.Module = dataclasses.field(repr=False)
    is_package: bool = False
    # Dotted name as an import statement of this file says it → the project's name for it (see files/modules.py).
    resolve: Callable[[str], str] | None = None
    # What the project's names of modules beside this file have in front that import statements must not say.
    prefix: str = ""
    _spans: dict[ast.AST, Span] = dataclasses.field(default_factory=dict, init=False, repr=False, compare=False)
    # What was found in its text alone, by who asked and for which node: trials of other forms of the project ask again.
    found: dict[tuple[str, ast.AST], Any] = dataclasses.field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def parse(
        cls,
        path: Path,
        module: str,
        text: str,
        *,
        is_package: bool = False,
        resolve: Callable[[str], str] | None = None,
        prefix: str = "",
    ) -> SourceFile:
        """Raises SyntaxError (or ValueError for null bytes) as `ast.parse` does."""
        return cls(path, module, text, as_assignments(parse_text(text), text), is_package, resolve, prefix)

    @functools.cached_property
    def names(self) -> Names:
        return Names(self.tree, self.module, is_package=self.is_package, resolve=self.resolve, flat=self.flat)

    @functools.cached_property
    def flat(self) -> FlatTree:
        return FlatTree(self.tree)

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, breadth first as `ast.walk` has them, expression contexts (`Load`) left out."""
        return self.flat.nodes

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return self.flat.parents

    @functools.cached_property
    def by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        """`nodes` by their class."""
        return self.flat.by_kind

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Every word of the text, comments and strings included: what is not among them the code cannot say."""
        if self.text.isascii():  # twice as fast; of `3d` it is `3d`, which no code says
            return frozenset(self.text.encode().translate(_SPACED).decode().split())
        return frozenset(_WORD.findall(self.text))

    @functools.cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        return starts

    @functools.cached_property
    def lines(self) -> list[str]:
        """The text's lines with their ends, as `ast` counts them; the last one may be empty."""
        found = lines_of(self.text)
        if self.text[-1:] in ("", "\n", "\r"):
            found.append("")
        return found

    def offset(self, line: int, byte_column: int) -> int:
        """Character offset of an `ast` position (line from 1, column in UTF-8 bytes)."""
        content = self.lines[line - 1]
        if not content.isascii():
            byte_column = len(content.encode()[:byte_column].decode(errors="ignore"))
        return self._line_starts[line - 1] + byte_column

    def line_start(self, offset: int) -> int:
        """Offset of the first character of the line that `offset` is in."""
        return self._line_starts[min(bisect.bisect_right(self._line_starts, offset), len(self.lines)) - 1]

    def line_end(self, offset: int) -> int:
        """Offset after the line end (or the end of the text) of the line that `offset` is in."""
        index = bisect.bisect_right(self._line_starts, offset)
        return self._line_starts[index] if index < len(self._line_starts) else len(self.text)

    def span(self, node: ast.AST) -> Span:
        """Where `node` stands. Decorators are not part of a class or function; see `full_span`."""
        span = self._spans.get(node)
        if span is None:
            span = Span(
                self.offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
                self.offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
            )
            self._spans[node] = span
        return span

    def is_bare_tuple(self, node: ast.AST | None) -> bool:
        """Is that a tuple without parentheses (`sizes: tuple = 1, 2`), which only a statement may be?"""
        if not isinstance(node, ast.Tuple):
            return False
        span = self.span(node)
        call = ast.parse(f"f({self.text[span.start : span.end]})", mode="eval").body
        return isinstance(call, ast.Call) and (len(call.args) > 1 or not isinstance(call.args[0], ast.Tuple))

    def enclosed(self, node: ast.AST) -> tuple[str | Span, ...]:
        """The parts of an expression that may stand anywhere: a tuple in parentheses."""
        span = self.span(node)
        return ("(", span, ")") if self.is_bare_tuple(node) else (span,)

    def full_span(self, node: ast.AST) -> Span:
        """As `span`, with the decorators (and their `@`) of a class or function."""
        span = self.span(node)
        decorators = getattr(node, "decorator_list", [])
        if decorators:
            start = self.text.rindex("@", 0, self.span(decorators[0]).start)
            return Span(min(start, span.start), span.end)
        return span

    def text_of(self, node: ast.AST) -> str:
        span = self.span(node)
        return self.text[span.start : span.end]

    def line_span(self, node: ast.AST) -> Span:
        """Whole lines of a statement, indentation and line end included."""
        span = self.full_span(node)
        start = self.text.rfind("\n", 0, span.start) + 1
        end = self.text.find("\n", span.end)
        return Span(start, len(self.text) if end < 0 else end + 1)

    def marked(self, line: int, family: str) -> bool:
        """Did an earlier run leave a comment of a family of codes (NNX1, NNX2, ...) above the line at this offset?"""
        for above in reversed(self.text[:line].splitlines()):
            if not above.lstrip().startswith("#"):
                return False
            if above.lstrip().startswith(f"# TODO(nnx-migrate): {family}"):
                return True
        return False

    def indent_of(self, node: ast.AST) -> str:
        """White space before the first token of a statement; for one on the line of its `def`, what it would have below."""
        if self.shares_line(node):
            return self._lead(self.parents[node]) + self.indent_unit
        return self._lead(node)

    def indent_at(self, node: ast.AST) -> str:
        """White space before the line on which an expression begins; the statement's, where that is the same line."""
        statement = self.statement_of(node)
        if "\n" not in self.text[self.full_span(statement).start : self.span(node).start]:
            return self.indent_of(statement)
        before = self._before(node)
        return before[: len(before) - len(before.lstrip())]

    def indent_before(self, offset: int) -> str:
        """White space at the beginning of the line on which an offset is."""
        line = self.text[self.text.rfind("\n", 0, offset) + 1 : offset]
        return line[: len(line) - len(line.lstrip())]

    def _lead(self, node: ast.AST) -> str:
        before = self._before(node)
        return before[: len(before) - len(before.lstrip())] if before.strip() else before

    def _before(self, node: ast.AST) -> str:
        """What stands before a statement on its line."""
        start = self.full_span(node).start
        return self.text[self.text.rfind("\n", 0, start) + 1 : start]

    def shares_line(self, node: ast.AST) -> bool:
        """Does a statement stand behind the `def` or `class` that it is in, on one line?"""
        inside = isinstance(node, ast.stmt) and isinstance(self.parents.get(node), ast.FunctionDef | ast.ClassDef)
        return inside and bool(self._before(node).strip())

    @functools.cached_property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @functools.cached_property
    def indent_unit(self) -> str:
        """The file's own indentation step."""
        for node in self.nodes:
            body = getattr(node, "body", None)
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and isinstance(body, list) and body:
                outer, inner = self._lead(node), self._lead(body[0])
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
        return "    "

    def position(self, node: ast.AST) -> tuple[int, int]:
        """(line, column) from 1, for diagnostics."""
        start = self.span(node).start
        line = getattr(node, "lineno", 1)
        return line, start - self._line_starts[line - 1] + 1

    @functools.cached_property
    def _by_word(self) -> dict[str, list[tuple[int, ast.Name | ast.Attribute]]]:
        """The last word of names and attributes → where they stand, names first, each in the order of `nodes`."""
        table: dict[str, list[tuple[int, ast.Name | ast.Attribute]]] = {}
        said = (*self.by_kind.get(ast.Name, ()), *self.by_kind.get(ast.Attribute, ()))
        for position, node in enumerate(said):
            assert isinstance(node, ast.Name | ast.Attribute)
            table.setdefault(node.id if isinstance(node, ast.Name) else node.attr, []).append((position, node))
        return table

    def forget_words(self) -> None:
        """Names have changed: what says a word is looked up anew."""
        self.__dict__.pop("_by_word", None)

    def saying(self, *words: str) -> list[ast.Name | ast.Attribute]:
        """The names and attributes that end in one of the words: all names, then all attributes, in the order of `nodes`."""
        found = [place for word in dict.fromkeys(words) for place in self._by_word.get(word, ())]
        return [node for _, node in (sorted(found, key=lambda place: place[0]) if len(words) > 1 else found)]

    @functools.cached_property
    def calls_by_name(self) -> dict[str, list[ast.Call]]:
        """The calls of plain names, in the order of `nodes`."""
        table: dict[str, list[ast.Call]] = {}
        for node in self.by_kind.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            if isinstance(node.func, ast.Name):
                table.setdefault(node.func.id, []).append(node)
        return table

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        """The innermost function that something stands in; a definition itself stands in the function around it."""
        return next((n for n in self.ancestors(node) if isinstance(n, ast.FunctionDef)), None)

    def is_class_asked(self, node: ast.AST) -> bool:
        """Does an expression stand in the second argument of isinstance or issubclass?"""
        inner = node
        for parent in self.ancestors(node):
            if isinstance(parent, ast.Call):
                called = parent.func.id if isinstance(parent.func, ast.Name) else ""
                return called in ("isinstance", "issubclass") and len(parent.args) == 2 and inner is parent.args[1]
            if isinstance(parent, ast.stmt | ast.Lambda):
                return False
            inner = parent
        return False

    def binding(self, name: str) -> list[ast.stmt]:
        """The statements at module level that bind a name of the file, in their order; imports left out."""
        names = self.names
        bound = [node for node in names.binders(name) if names.bound_by(node) is None]
        statements = {node if isinstance(node, ast.stmt) else self.statement_of(node) for node in bound}
        return sorted(statements, key=lambda statement: statement.lineno)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around an expression."""
        return next(parent for parent in self.ancestors(node) if isinstance(parent, ast.stmt))
