"""Abstract methods of a base that nothing defines: `flax.linen` makes such a class all the same, `flax.nnx` refuses to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.project.classes import ClassModel, is_decorated_abstract
from ...linen.values.sites import Unmigratable

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def refuse(text: ClassText) -> None:
    """Refuse a class that derives from one with abstract methods, is no base itself, and leaves some of them out."""
    model = text.model
    if len(model.mro()) == 1 or any(text.analyser.classes.derived(model)):
        return
    if any(base.startswith("abc.") for owner in model.mro() for base in owner.foreign_bases):
        return  # Python does not make it in Linen either
    left = _left(model)
    if left and not left & _named(model, abstract=True):
        reason = f"it does not define `{min(left)}`, an abstract method of a base: flax.nnx makes no module of it"
        raise Unmigratable("NNX161", reason, model.node)


def _left(model: ClassModel) -> set[str]:
    """The abstract methods of a class's bases, and of its own."""
    left: set[str] = set()
    for owner in reversed(model.mro()):
        left -= _named(owner, abstract=False)
        left |= _named(owner, abstract=True)
    return left


def _named(model: ClassModel, *, abstract: bool) -> set[str]:
    """What the body of a class defines, abstract or not."""
    found = set()
    for statement in model.node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if is_decorated_abstract(model.project, model.source, statement) == abstract:
                found.add(statement.name)
        elif not abstract and isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= {t.id for t in targets if isinstance(t, ast.Name)}
        elif not abstract and isinstance(statement, ast.ClassDef):
            found.add(statement.name)
    return found


__all__ = ["refuse"]
