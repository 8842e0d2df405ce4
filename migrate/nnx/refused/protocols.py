"""Protocols among the bases of a module: `class DenseHead(ClassifierHead, nn.Module)`.

NNX's modules have a metaclass that a protocol's does not go with. A protocol that only says what its classes have gives them
nothing, and whoever has it is of it all the same: the native class leaves it out of its bases.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ...edits import Span
from ...linen.execution.type_tests import asked_classes
from ...linen.values.sites import Unmigratable
from ...source import SourceFile

if TYPE_CHECKING:
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
_CHECKABLE = frozenset({"typing.runtime_checkable", "typing_extensions.runtime_checkable"})
_PLAIN = PROTOCOLS | {"typing.Generic", "typing_extensions.Generic"}


def protocol_of(project: Any, source: SourceFile, base: ast.expr) -> tuple[SourceFile, ast.ClassDef] | None:
    """The protocol of the project that a base names."""
    found = _definition(project, source, base)
    if found is not None and any(_name(project, found[0], b) in PROTOCOLS for b in found[1].bases):
        return found
    return None


def left_out(text: ClassText) -> list[ast.expr]:
    """The bases of a class that are protocols; refused where one gives its classes more than its word."""
    project, model = text.run.project, text.model
    return [base for base in model.node.bases if (p := protocol_of(project, text.source, base)) and _is_word(text, base, p)]


def _is_word(text: ClassText, base: ast.expr, protocol: tuple[SourceFile, ast.ClassDef]) -> bool:
    project, model = text.run.project, text.model
    methods, todo = {name for owner in model.mro() for name in owner.own_methods}, [protocol]
    asked = asked_classes(project)
    while todo:
        source, node = todo.pop()
        for inner in node.bases:
            if _name(project, source, inner) not in _PLAIN:
                above = protocol_of(project, source, inner)
                if above is None:
                    raise _refusal(base, f"derives from `{ast.unparse(inner)}`", model.node)
                todo.append(above)
        name = project.qualname(text.source, base.value if isinstance(base, ast.Subscript) else base)
        if name in asked or node.keywords or any(_name(project, source, d) not in _CHECKABLE for d in node.decorator_list):
            raise _refusal(base, "is asked for, or decorated", model.node)
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef) and _is_stub(statement):
                if statement.name not in methods:
                    raise _refusal(base, f"gives it `{statement.name}`", model.node)
            elif not _says_nothing(statement) and not (isinstance(statement, ast.AnnAssign) and statement.value is None):
                raise _refusal(base, f"has more than signatures: `{ast.unparse(statement)[:40]}`", model.node)
    return True


def _refusal(base: ast.expr, what: str, node: ast.ClassDef) -> Unmigratable:
    return Unmigratable(
        "NNX160", f"`{ast.unparse(base)}` is a protocol, whose metaclass NNX's modules cannot have, and {what}", node
    )


def _is_stub(function: ast.FunctionDef) -> bool:
    return all(_says_nothing(statement) or isinstance(statement, ast.Raise) for statement in function.body)


def _says_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def _definition(project: Any, source: SourceFile, base: ast.expr) -> tuple[SourceFile, ast.ClassDef] | None:
    name = _name(project, source, base)
    found = project.definition(name) if name else None
    return (found[0], found[1]) if found is not None and isinstance(found[1], ast.ClassDef) else None


def _name(project: Any, source: SourceFile, node: ast.expr) -> str:
    return project.qualname(source, node.value if isinstance(node, ast.Subscript) else node) or ""


def write(writer: ClassWriter) -> None:
    """Take them out of the head of the class."""
    bases, gone = writer.model.node.bases, left_out(writer.text)
    for place, base in enumerate(bases):
        if base not in gone:
            continue
        span = writer.source.span(base)
        if any(later not in gone for later in bases[place + 1 :]):
            span = Span(span.start, writer.source.span(bases[place + 1]).start)
        else:
            span = Span(writer.source.span(bases[place - 1]).end, span.end)
        writer.remove(writer.source, span)


__all__ = ["PROTOCOLS", "left_out", "protocol_of", "write"]
