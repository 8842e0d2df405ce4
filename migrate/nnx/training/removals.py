"""What goes out of tuples, and when edits of several models become those of the files.

A function may take and return states of two models (`return actor_state, critic_state, loss`). Each model's writer says
which elements of a tuple are its own and go; the tuple is written when all of them have spoken.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...context import FileContext
from ...edits import Conflict, Edit, Part, Span
from ..text import comments
from .rewrite import Rewrite, Unsupported

_Edit = tuple[FileContext, Span, tuple[Part, ...]]


def commit(forms: Sequence[Rewrite], code: str) -> bool:
    """Carry the edits of several writers out. False, and nothing done, where they meet each other or others before."""
    try:
        edits = [*(edit for form in forms for edit in form.edits), *_tuples(forms)]
    except Unsupported:
        return False
    wanted: dict[tuple[str, Span], _Edit] = {}
    insertions: list[_Edit] = []
    for edit in edits:
        context, span, _ = edit
        if span.start == span.end:
            if edit not in insertions:
                insertions.append(edit)
            continue
        if context.edits.has(span) or wanted.setdefault((context.source.module, span), edit) != edit:
            return False
    replaced = list(wanted.values())
    for index, (context, span, _) in enumerate(replaced):
        if any(_cross(span, span2) for other, span2, _ in replaced[:index] if context is other):
            return False
        if any(_cross(span, done.span) for done in context.edits):  # of models that have been written
            return False
    try:
        for context, span, parts in insertions:
            context.insert(span.start, *parts, code=code)
        for context, at, comment in _comments(replaced):
            context.insert(at, comment, code=code)
        for context, span, parts in replaced:
            context.edits.replace(span, *parts, code=code)
    except Conflict:
        return False
    return True


def _cross(one: Span, other: Span) -> bool:
    """Have two pieces of text a part in common, and each one of its own?"""
    return one.overlaps(other) and not (one.contains(other) or other.contains(one))


def _comments(replaced: Sequence[_Edit]) -> Iterator[tuple[FileContext, int, str]]:
    """Lines for the comments that edits of a statement would lose, and where they go: above it."""
    by_context: dict[FileContext, list[Edit]] = {}
    for context, span, parts in replaced:
        by_context.setdefault(context, []).append(Edit(span, parts))
    for context, edits in by_context.items():
        source = context.source
        spans = [edit.span for edit in edits if edit.parts and "#" in source.text[edit.span.start : edit.span.end]]
        for statement in ast.walk(source.tree) if spans else ():
            if not isinstance(statement, ast.stmt) or isinstance(statement, comments.COMPOUND):
                continue
            at = source.line_span(statement).start
            alone = not source.text[at : source.full_span(statement).start].strip()
            if alone and any(source.span(statement).contains(span) for span in spans):
                for said in comments.lost(source, statement, edits):
                    yield context, at, f"{source.indent_of(statement)}{said}{source.newline}"


def _tuples(forms: Sequence[Rewrite]) -> list[_Edit]:
    """The tuples that lose elements, inner before outer."""
    gone: dict[ast.Tuple, set[ast.AST]] = {}
    of: dict[ast.Tuple, Rewrite] = {}
    for form in forms:
        for node, elements in form.removed.items():
            gone.setdefault(node, set()).update(elements)
            of.setdefault(node, form)
    found: list[_Edit] = []
    todo = list(gone)
    while todo:
        node = todo.pop(0)
        form, parent = of[node], of[node].parent(node)
        kept = [element for element in node.elts if element not in gone[node]]
        if kept:
            found.append(_edit(form, node, _spelled(form, node, kept)))
        elif isinstance(parent, ast.Tuple):
            gone.setdefault(parent, set()).add(node)
            of.setdefault(parent, form)
            todo.append(parent)
            found = [edit for edit in found if edit[1] != form.source(parent).span(parent)]
        elif isinstance(parent, ast.Return):
            found.append(_ended(form, parent))
        elif isinstance(parent, ast.Assign) and parent.targets == [node]:
            source = form.source(node)
            head = Span(source.span(node).start, source.span(parent.value).start)
            found.append((form.context(node), head, ("",)))
        else:
            raise Unsupported(node, "a tuple that would be empty")
    return found


def _spelled(form: Rewrite, node: ast.Tuple, kept: list[ast.expr]) -> list[Part]:
    source = form.source(node)
    parts: list[Part] = []
    for element in kept:
        parts += [", ", source.span(element)] if parts else [source.span(element)]
    if len(kept) > 1 and form.text(node).startswith("("):
        parts = ["(", *parts, ")"]
    return parts


def _edit(form: Rewrite, node: ast.AST, parts: Sequence[Part]) -> _Edit:
    return form.context(node), form.source(node).span(node), tuple(parts)


def _ended(form: Rewrite, statement: ast.Return) -> _Edit:
    """A return of nothing, which goes where it is the last statement of its function."""
    function = form.function(statement)
    last = isinstance(function, ast.FunctionDef) and function.body[-1] is statement
    source = form.source(statement)
    line = source.line_span(statement)
    alone = ";" not in source.text[line.start : line.end]
    if last and alone and len(form.block(statement)) > 1:
        return form.context(statement), line, ()
    return _edit(form, statement, ["return"])
