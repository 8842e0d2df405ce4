"""What the rooms that write classes hand to each other: pieces of generated text, edits, what callers must know.

Calls that would be too long for a line are broken over several.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ...edits import Overlay, Part, Parts, Span
from ...plan import AddedArgument
from ...source import SourceFile

_WIDTH = 100  # characters of a call that stays on one line
BREAK = "\0break"  # a new line, one step deeper than the statement
CLOSE = "\0close"  # a new line at the statement's own depth


class Namer(Protocol):
    """How a file says a dotted name; a FileContext, or a dry stand-in while planning."""

    def name(self, dotted: str) -> str: ...

    def parity(self, part: str) -> str: ...

    def imported(self, dotted: str) -> str: ...


class DryNamer:
    """Names as they are, for planning."""

    def name(self, dotted: str) -> str:
        return dotted.removeprefix("flax.")

    def parity(self, part: str) -> str:
        return f"linen_parity.{part}"

    def imported(self, dotted: str) -> str:
        return dotted.rpartition(".")[2]


class Recorder:
    """A namer that keeps what it was asked, so that what was written with it holds wherever the same names do."""

    def __init__(self, namer: Namer) -> None:
        self._namer = namer
        self._said: dict[tuple[str, str], str] = {}

    def name(self, dotted: str) -> str:
        return self._ask("name", dotted)

    def parity(self, part: str) -> str:
        return self._ask("parity", part)

    def imported(self, dotted: str) -> str:
        return self._ask("imported", dotted)

    def _ask(self, kind: str, asked: str) -> str:
        known = self._said.get((kind, asked))
        if known is None:
            known = self._said[kind, asked] = getattr(self._namer, kind)(asked)
        return known

    def holds_for(self, namer: Namer) -> bool:
        """Does another namer say the same? It is asked for everything, and so imports what the text names."""
        answers = [getattr(namer, kind)(asked) for kind, asked in self._said]
        return answers == list(self._said.values())


@dataclasses.dataclass
class MethodEdit:
    """Text that takes the place of a span of a file, or that goes in at a point."""

    source: SourceFile
    span: Span
    parts: Parts
    code: str = "NNX100"
    insert: bool = False
    order: int = 0
    in_place: bool = False
    parity: tuple[str, ...] = ()  # the parts of linen_parity that the text names, where its file is not the class's
    imports: tuple[str, ...] = ()  # the modules that it names, which that file has to import


@dataclasses.dataclass
class Details:
    """What other classes need to know of a planned class to construct and call it."""

    added: list[tuple[AddedArgument, str, Any]]  # argument, input name, index (-1) or "shape"
    call_keywords: dict[str, tuple[str, str]]  # keyword of the call → (field, Linen argument)
    typed: bool = False  # the dtypes of what it is given first count, too


@dataclasses.dataclass
class InitLines:
    """Lines that stand before a constructor expression (depth, text), and the expression."""

    before: tuple[tuple[int, Parts], ...]
    expression: Parts


def length(parts: Iterable[Part]) -> int:
    """How many characters the parts have."""
    total = 0
    for part in parts:
        if isinstance(part, str):
            total += len(part)
        else:
            span = part.span if isinstance(part, Overlay) else part
            total += span.end - span.start
    return total


def bare(parts: Parts) -> Parts:
    """Generated text without brackets around all of it, as it stands by itself: in a condition, as an argument."""
    if len(parts) == 2 and isinstance(parts[0], str) and re.fullmatch(r"\w+=", parts[0]):
        return (parts[0], *bare(parts[1:]))
    if len(parts) == 1 and isinstance(parts[0], Overlay) and [e.span for e in parts[0].edits] == [parts[0].span]:
        return bare(parts[0].edits[0].parts)  # all of it is said anew
    if not parts or not all(isinstance(part, str) for part in parts):
        return parts
    inner = "".join(part for part in parts if isinstance(part, str))
    if not (inner.startswith("(") and inner.endswith(")")) or BREAK in inner:
        return parts
    try:
        whole, opened = ast.parse(inner, mode="eval").body, ast.parse(inner[1:-1].strip(), mode="eval").body
    except SyntaxError:
        return parts
    # What was opened up must be the same expression, and not one that reads otherwise between commas.
    if ast.dump(whole) != ast.dump(opened) or isinstance(opened, ast.Tuple | ast.NamedExpr | ast.Lambda | ast.GeneratorExp):
        return parts
    return (inner[1:-1].strip(),)


_NAME = re.compile(r"[\w.]+")


def old_text(parts: Parts, old: str) -> str:
    """What parts say in `old`, before what is changed in it."""
    spans = [part.span if isinstance(part, Overlay) else part for part in parts]
    return "".join(span if isinstance(span, str) else old[span.start : span.end] for span in spans)


def is_name(parts: Parts, old: str) -> bool:
    """Do parts say a name or an attribute, also after what is changed in their text (`old`)?"""
    changes = [said for part in parts if isinstance(part, Overlay) for edit in part.edits for said in edit.parts]
    return all(isinstance(said, str) and _NAME.fullmatch(said) for said in (*changes, old_text(parts, old)))


def resolved(parts: Parts | tuple[Part, ...], source: str) -> str:
    """The text of parts."""
    out = []
    for part in parts:
        if isinstance(part, str):
            out.append(part.replace("\0break", "\n").replace("\0close", "\n"))
        elif isinstance(part, Span):
            out.append(source[part.start : part.end])
        else:
            out.append(_overlaid(part, source))
    return "".join(out)


def _overlaid(part: Overlay, source: str) -> str:
    out, at = [], part.span.start
    for edit in sorted(part.edits, key=lambda e: e.span):
        if edit.span.start < at:
            continue
        out += [source[at : edit.span.start], resolved(edit.parts, source)]
        at = edit.span.end
    return "".join([*out, source[at : part.span.end]])


_DENIED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


def denied(parts: Parts, old: str) -> Parts:
    """What says that a condition does not hold: `a != b` of `a == b`, else `not (...)`."""
    parts = bare(parts)
    if is_name(parts, old):
        return ("not ", *parts)
    said = resolved(parts, old)
    try:
        node = ast.parse(said, mode="eval").body
    except (SyntaxError, ValueError):
        return ("not (", *parts, ")")
    plain = isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _DENIED and "\n" not in said
    if not plain or not isinstance(node, ast.Compare):
        return ("not (", *parts, ")")
    raw = said.encode()
    left, right = raw[: node.left.end_col_offset].decode(), raw[node.comparators[0].col_offset :].decode()
    opened = raw[node.left.end_col_offset : node.comparators[0].col_offset].decode()
    if "(" in opened or ")" in opened:
        return ("not (", *parts, ")")
    return (f"{left} {_DENIED[type(node.ops[0])]} {right}",)


def condition(parts: Parts, old: str) -> Parts:
    """A condition as a line says it: `a != b` of `not (a == b)`."""
    said = resolved(bare(parts), old)
    try:
        node = ast.parse(said, mode="eval").body
    except (SyntaxError, ValueError):
        return parts
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.Not) or not isinstance(node.operand, ast.Compare):
        return parts
    other = denied((said.removeprefix("not "),), old)
    return parts if other[0] == "not (" else other


def whole(parts: Parts, old: str) -> Parts:
    """A condition or iterator that a line says: in brackets where its text (in `old`) goes over several lines."""
    said = old_text(parts, old)
    if "\n" not in said:
        return parts
    try:
        ast.parse(said.strip(), mode="eval")
    except SyntaxError:
        return ("(", *parts, ")")
    return parts


def joined(callee: Parts, arguments: list[Parts]) -> Parts:
    """`callee(a, b)`; what would be too long for a line goes one argument a line, marked for the indenter."""
    arguments = [bare(argument) for argument in arguments]
    total = length(callee) + sum(length(a) + 2 for a in arguments)
    out: list[Part] = [*callee, "("]
    if total <= _WIDTH or len(arguments) < 2:
        for position, argument in enumerate(arguments):
            out += [", " if position else "", *argument]
        return (*out, ")")
    for argument in arguments:
        out += [BREAK, *argument, ","]
    return (*out, CLOSE, ")")


def own_words(source: SourceFile, test: ast.expr) -> Part:
    """A condition as it stands in the file, or as it reads in the terms of the class where a function asks it."""
    return source.span(test) if test in source.parents else ast.unparse(test)


def short(node: ast.AST) -> str:
    """Code as a message quotes it, in at most 60 characters."""
    text = ast.unparse(node)
    return text if len(text) < 60 else text[:57] + "..."


def first_on_its_line(text: str, at: int, end: int) -> str:
    """The line break and white space before the first argument, where it stands on a line of its own."""
    line = text.find("\n", at, end)
    if line < 0 or text[at:line].partition("#")[0].strip():
        return ""
    rest = text[line + 1 : end]
    newline = "\r\n" if text[line - 1] == "\r" else "\n"
    return newline + rest[: len(rest) - len(rest.lstrip(" \t"))]


def with_comments(source: SourceFile, statement: ast.stmt) -> int:
    """Where the comment lines right above a statement begin, or its own line."""
    first, indent = source.line_span(statement).start, source.indent_of(statement)
    while first > 0:
        above = source.text.rfind("\n", 0, first - 1) + 1
        if not source.text.startswith(f"{indent}#", above):
            break
        first = above
    return first


def added_arguments(source: SourceFile, call: ast.Call, arguments: Sequence[Parts]) -> list[tuple[int, Parts]]:
    """What to insert into a call for more keyword arguments behind its own: places, and the text for each."""
    text, end = source.text, source.span(call).end - 1
    given = [source.span(node).end for node in (*call.args, *call.keywords)]
    said = [part for i, argument in enumerate(arguments) for part in ((", ",) if i else ()) + argument]
    if not given:
        return [(end, tuple(said))]
    behind = text[max(given) : end]
    comma = "," in "".join(line.partition("#")[0] for line in behind.splitlines())
    lead = first_on_its_line(text, text.index("(", source.span(call.func).end) + 1, end)
    if "\n" in behind and lead:
        at = text.rindex("\n", 0, end)
        at -= text[at - 1] == "\r"
        more = [part for argument in arguments for part in (lead, *argument, ",")]
        return [*([] if comma else [(max(given), (",",))]), (at, tuple(more))]
    between = ("" if text[end - 1].isspace() else " ") if comma else ", "
    return [(end, (between, *said))]


def with_arguments(source: SourceFile, call: ast.Call, arguments: Sequence[str]) -> Parts:
    """A call with more keyword arguments behind its own, one a line where its own stand on lines of their own."""
    text, span = source.text, source.span(call)
    given = [source.span(node).end for node in (*call.args, *call.keywords)]
    if not given:
        opening = text.index("(", source.span(call.func).end)
        return (Span(span.start, opening + 1), ", ".join(arguments), ")")
    last, end = max(given), span.end - 1
    comma = "," in "".join(line.partition("#")[0] for line in text[last:end].splitlines())
    if "\n" not in text[last:end]:
        return (Span(span.start, last), ", ", ", ".join(arguments), ")")
    opening = text.index("(", source.span(call.func).end)
    break_ = text.rindex("\n", last, end)
    lead = first_on_its_line(text, opening + 1, end) or f"{source.newline}{text[break_ + 1 : end]}{source.indent_unit}"
    at = break_ - (text[break_ - 1] == "\r")
    more = "".join(f"{lead}{argument}," for argument in arguments)
    return (Span(span.start, last), "" if comma else ",", Span(last, at), more, Span(at, span.end))
