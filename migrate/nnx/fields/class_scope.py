"""Fields that the body of a class reads itself: `def __call__(self, x, rate=rate)`, `HIDDEN = 2 * width`, `deep: int = 4`.

In Linen a field with a default is a name of the class's body. In NNX the constructor has it, so what stands there is that
default.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Part, Parts
from ...linen.project.classes import Field
from ...linen.values.sites import Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Dict)


def edits(writer: ClassWriter) -> None:
    """Put the defaults of fields where the body of the class names them."""
    fields: dict[str, Field] = {f.name: f for f in writer.model.own_fields}
    declared: dict[str, Field] = {}
    for statement in writer.model.node.body:
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        field = fields.get(target.id) if isinstance(target, ast.Name) else None
        for name in _read(writer, statement):
            if name.id in declared and isinstance(name.ctx, ast.Load):
                writer.put(name, *_default(writer, declared, name))
        if field is not None:
            if isinstance(statement, ast.AnnAssign) and statement.value is not None:
                declared[field.name] = field
            continue
        for bound in _bound(statement):
            declared.pop(bound, None)


def _read(writer: ClassWriter, statement: ast.stmt) -> Iterator[ast.Name]:
    """The names that a statement of the body reads as the class is made, also in defaults of its functions and lambdas and
    in what its comprehensions go through first; annotations say no values.
    """
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        spec = statement.args
        roots: list[ast.AST] = [d for d in (*spec.defaults, *spec.kw_defaults) if d is not None]
        roots += statement.decorator_list
    elif isinstance(statement, ast.AnnAssign):
        roots = [statement.value] if statement.value is not None else []
    else:
        roots = [statement]
    scope_of = writer.source.names.scope_of
    for node in (part for root in roots for part in subtree(root)):
        if isinstance(node, ast.Name) and scope_of(node) is writer.model.node:
            yield node


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    return [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _default(writer: ClassWriter, declared: dict[str, Field], name: ast.Name) -> Parts:
    """What stands for the name: the field's default, in which others are said likewise."""
    field = declared[name.id]
    if field.default is None:
        reason = f"the body of the class reads its field `{field.name}`, whose default is computed"
        raise Unmigratable("NNX171", reason, name)
    return in_brackets(field.default, writer.source.span(field.default))


def default_above(model: ast.ClassDef, name: ast.Name) -> ast.expr | None:
    """The default of a field of the class, where a name that its body reads further down is that field."""
    for statement in reversed(model.body):
        above = (statement.lineno, statement.col_offset) < (name.lineno, name.col_offset)
        if above and not any(part is name for part in subtree(statement)) and name.id in _bound(statement):
            is_field = isinstance(statement, ast.AnnAssign) and "ClassVar" not in ast.unparse(statement.annotation)
            return statement.value if is_field and isinstance(statement, ast.AnnAssign) else None
    return None


def in_brackets(node: ast.expr, text: Part) -> Parts:
    """A default where a name stood."""
    return (text,) if isinstance(node, _PLAIN) else ("(", text, ")")


__all__ = ["default_above", "edits", "in_brackets"]
