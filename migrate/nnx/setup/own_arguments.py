"""Lines of `setup` that give a field a local name, which the constructor's argument has already.

def setup(self):                           def __init__(self, config: Config, *, rngs: nnx.Rngs):
    config = self.config            →          self.config = config
    self.head = nn.Dense(config.width)         self.head = nnx.Linear(..., config.width, rngs=rngs)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.project.classes import Method
from ...trees import subtree

_NOTHING = re.compile(r"[\s;]*")  # between two statements

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def drop(writer: ClassWriter, plain: Collection[str]) -> int | None:
    """Take them away; of those at the beginning, which go with the head of the method, say where the rest begins. `plain`:
    the fields of which the constructor stores its argument as it is, or nothing."""
    setup = writer.model.own_methods.get("setup")
    if setup is None:
        return None
    source, body = writer.source, setup.node.body
    found = [s for s in _said_again(writer, setup) if _name(s) in plain and s is not body[-1]]
    begins: int | None = None
    for statement in body[1:] if ast.get_docstring(setup.node) is not None else body:
        follows = _NOTHING.match(source.text, source.span(statement).end)
        at = follows.end() if follows is not None else 0
        behind = source.text[source.span(statement).end : at]
        if statement not in found or (source.text.startswith("#", at) and "\n" not in behind):
            break
        if _is_edited(writer, Span(source.span(statement).start, at)):  # the next line is taken away, or one goes above it
            break
        begins = at
        found.remove(statement)
    for statement in found:
        whole = source.line_span(statement)
        alone = source.text[whole.start : whole.end].strip() == source.text_of(statement)
        if alone and (begins or source.span(body[0]).start) < whole.start and not _is_edited(writer, whole):
            writer.remove(source, whole)
    return begins


def _said_again(writer: ClassWriter, setup: Method) -> Iterator[ast.stmt]:
    """Statements `name = self.name` before which neither the name nor the field can have become something else."""
    methods = writer.model.methods()
    changed: set[str] = set()
    for statement in setup.node.body:
        name = _name(statement)
        if name and name not in changed and not _is_edited(writer, writer.source.span(statement)):
            yield statement
            continue
        for node in subtree(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
                changed.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
                changed.add(node.attr)
            elif isinstance(node, ast.Name) and node.id in ("self", "super"):
                around = setup.source.parents[node]
                if not isinstance(around, ast.Attribute) or around.attr in methods:
                    return  # it may set anything
            elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Match | ast.Try):
                return  # binds names in other ways


def _name(statement: ast.stmt) -> str:
    """`name` of `name = self.name`; "" for any other statement."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(value=ast.Name(id="self"), attr=field)):
            return name if name == field else ""
    return ""


def _is_edited(writer: ClassWriter, span: Span) -> bool:
    """Has other text gone into a part of the file?"""
    return any(
        edit.source is writer.source and edit.span.start < span.end and span.start < max(edit.span.end, edit.span.start + 1)
        for edit in writer.edits
    )
