"""The arguments of a call in the text: where one stands, and how one goes or moves without what stands around it.

Between two arguments stand white space, brackets of their own, one comma, and comments, which may hold commas and brackets.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref
from collections.abc import Iterator

from ...context import FileContext
from ...edits import EditSet, Span


@dataclasses.dataclass(frozen=True)
class _Places:
    """Where the arguments of a call stand, in the order of the text."""

    nodes: tuple[ast.expr | ast.keyword, ...]
    spans: tuple[Span, ...]  # with their keywords, stars and brackets
    values: tuple[Span, ...]  # without their keywords and the stars of keywords
    commas: tuple[int | None, ...]  # before each of them; the last entry is a comma behind all of them


def _places(ctx: FileContext, call: ast.Call) -> _Places:
    text = ctx.source.text
    nodes: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    nodes.sort(key=lambda node: ctx.span(node).start)
    spans, values, commas = [], [], []
    at, closing = ctx.span(call.func).end, ctx.span(call).end - 1
    for index, node in enumerate(nodes):
        span = ctx.span(node)
        comma, start = _before(text, at, span.start, "," if index else "(")
        limit = ctx.span(nodes[index + 1]).start if node is not nodes[-1] else closing
        end = _behind(text, span.end, limit)
        commas.append(comma if index else None)
        spans.append(Span(start, end))
        values.append(Span(start, end))
        if isinstance(node, ast.keyword):
            inner = ctx.span(node.value).start
            sign = text.find("=" if node.arg else "*", start, inner) + (1 if node.arg else 2)
            values[-1] = Span(next((i for i in _code(text, sign, inner)), inner), end)
        at = end
    trailing = next((i for i in _code(text, at, closing) if text[i] == ","), None)
    return _Places(tuple(nodes), tuple(spans), tuple(values), (*commas, trailing))


def _code(text: str, start: int, end: int) -> Iterator[int]:
    """Where something stands that is neither white space nor a comment."""
    comment = False
    for index in range(start, end):
        character = text[index]
        if character in "\r\n":
            comment = False
        elif character == "#":
            comment = True
        elif not comment and character not in " \t\f\\":
            yield index


def _before(text: str, start: int, end: int, sign: str) -> tuple[int | None, int]:
    """The comma or bracket before an argument, and where the argument begins with brackets of its own."""
    found = list(_code(text, start, end))
    where = next((i for i in found if text[i] == sign), None)
    return where, next((i for i in found if where is not None and i > where), end)


def _behind(text: str, start: int, end: int) -> int:
    """Where an argument ends with brackets of its own."""
    for index in _code(text, start, end):
        if text[index] != ")":
            break
        start = index + 1
    return start


def argument_span(ctx: FileContext, call: ast.Call, value: ast.expr) -> Span:
    """Where an argument stands, with brackets of its own: `(x)` in `f((x), y)`, which `ast` leaves out."""
    places = _places(ctx, call)
    for node, span in zip(places.nodes, places.values, strict=True):
        if node is value or (isinstance(node, ast.keyword) and node.value is value):
            return span
    return ctx.span(value)


def argument_text(ctx: FileContext, call: ast.Call, value: ast.expr) -> Span:
    """An argument without brackets of its own, unless these hold comments, too."""
    span, whole = ctx.span(value), argument_span(ctx, call, value)
    around = ctx.source.text[whole.start : span.start] + ctx.source.text[span.end : whole.end]
    return whole if "#" in around else span


_gone: weakref.WeakKeyDictionary[EditSet, tuple[set[ast.AST], set[int]]] = weakref.WeakKeyDictionary()


def drop_argument(ctx: FileContext, call: ast.Call, node: ast.expr | ast.keyword, code: str) -> None:
    """An argument (the value of a keyword means the keyword) goes with one comma beside it; comments around it stay."""
    places, text = _places(ctx, call), ctx.source.text
    index = next(i for i, n in enumerate(places.nodes) if n is node or (isinstance(n, ast.keyword) and n.value is node))
    dropped, cut = _gone.setdefault(ctx.edits, (set(), set()))
    if places.nodes[index] in dropped:
        return
    dropped.add(places.nodes[index])
    span, comma = places.spans[index], places.commas[index]
    if comma is not None and comma not in cut and "#" not in text[comma : span.start]:
        cut.add(comma)
        line, behind = ctx.source.line_start(comma), ctx.source.line_end(span.end)
        alone = not text[line:comma].strip() and not text[span.end : behind].strip()
        ctx.replace(Span(line, behind) if alone else Span(comma, span.end), code=code)
        return
    comma = next((c for c in places.commas[index + 1 :] if c is not None and c not in cut), None)
    end = span.end
    if comma is not None:
        cut.add(comma)
        if comma == places.commas[index + 1] and "#" not in text[end:comma]:
            end = comma + 1
        else:
            ctx.replace(Span(comma, comma + 1), code=code)
    ctx.replace(_with_white_space(ctx, places, index, end), code=code)


def _with_white_space(ctx: FileContext, places: _Places, index: int, end: int) -> Span:
    """What goes from the start of an argument up to `end`, with white space as far as the next one, or its whole line."""
    text, start = ctx.source.text, places.spans[index].start
    more = index + 1 < len(places.nodes)
    if more and end > places.spans[index].end and not text[end : places.spans[index + 1].start].strip():
        return Span(start, places.spans[index + 1].start)
    line, behind = ctx.source.line_start(start), ctx.source.line_end(end)
    if not text[line:start].strip() and not text[end:behind].strip() and (index or not more):
        return Span(line, behind)
    while text[end] in " \t" and (end > places.spans[index].end or not text[line:start].strip()):
        end += 1
    return Span(start, end)


def function_first(ctx: FileContext, call: ast.Call, name: str, before: int, code: str) -> None:
    """`jit(static_argnums=1, fun=f)` → `jit(f, static_argnums=1)`, where `before` arguments by position stay before it."""
    keyword = next((k for k in call.keywords if k.arg == name), None)
    if keyword is None or len(call.args) != before:
        return
    value = argument_span(ctx, call, keyword.value)
    if keyword is call.keywords[0]:
        ctx.replace(Span(ctx.span(keyword).start, value.start), code=code)
        return
    if before:
        ctx.insert(argument_span(ctx, call, call.args[-1]).end, ", ", value, code=code)
    else:
        ctx.insert(ctx.span(call.keywords[0]).start, value, ", ", code=code)
    drop_argument(ctx, call, keyword, code)


__all__ = ["argument_span", "argument_text", "drop_argument", "function_first"]
