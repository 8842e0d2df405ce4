"""Comments between the arguments of what `setup` makes, which is written anew: they go above its statement.

self.head = nn.Dense(                           # starts at zero
    self.width,                            →    self.head = nnx.Linear(in_features, width, kernel_init=zeros, rngs=rngs)
    kernel_init=zeros,  # starts at zero
)
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...edits import Edit, Overlay
from ...source import SourceFile
from ..classes.constructor_text import PRAGMA
from ..text.text_parts import MethodEdit

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef, ast.Match)


def keep(writer: ClassWriter) -> None:
    """Put the comments that the edits of `setup` would lose above their statements."""
    method = writer.model.own_methods.get("setup")
    if method is None or "#" not in method.source.text_of(method.node):
        return
    source = method.source
    edits = [edit for edit in writer.edits if edit.source is source and not edit.insert]
    for statement in method.nodes:
        if not isinstance(statement, ast.stmt) or isinstance(statement, _COMPOUND):
            continue
        lost = [said for at, said in _comments(source, statement) if not _is_kept(at, edits)]
        writer.put_before(source, statement, [(said,) for said in dict.fromkeys(lost)])


def _comments(source: SourceFile, statement: ast.stmt) -> Iterator[tuple[int, str]]:
    """The place and the text of each comment inside a statement; none of those that speak to a tool."""
    span = source.span(statement)
    text = source.text[span.start : span.end]
    if "#" not in text or "\n" not in text:
        return
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text + "\n", newline="").readline):
        if token.type == tokenize.COMMENT and not PRAGMA.match(token.string):
            yield span.start + starts[token.start[0] - 1] + token.start[1], token.string.rstrip("\r")


def _is_kept(at: int, edits: Sequence[MethodEdit | Edit]) -> bool:
    """Does the text at a place stand in what the edits leave?"""
    covering = [edit for edit in edits if edit.span.start <= at < edit.span.end]
    if not covering:
        return True
    outer = max(covering, key=lambda edit: edit.span.end - edit.span.start)
    for part in outer.parts:
        if isinstance(part, str):
            continue
        span = part.span if isinstance(part, Overlay) else part
        if span.start <= at < span.end:
            inner = [edit for edit in edits if edit is not outer and span.contains(edit.span) and edit.span != outer.span]
            return _is_kept(at, [*inner, *(part.edits if isinstance(part, Overlay) else ())])
    return False
