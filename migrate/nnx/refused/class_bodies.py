"""Classes of which only the code that ran tells what they are: methods, fields and attributes under conditions of their
bodies, and classes that other code changes once they are defined (`Net.__call__ = fast`, `setattr(Net, "width", 8)`).
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.execution import module_names
from ...linen.values.mutation import CHANGING, root_name
from ...linen.values.sites import Unmigratable
from ...names import is_running, is_type_checking, module_level, other_targets
from ...trees import of_kind, subtree
from ..text.text_parts import short

if TYPE_CHECKING:
    from ...linen.project.index import Project
    from ...source import SourceFile
    from ..classes.class_text import ClassText

_Place = tuple["SourceFile", ast.AST]
_COMPOUND = ast.If | ast.Try | ast.With | ast.For | ast.While | ast.Match
_SAYS_NOTHING = frozenset({"__doc__", "__name__", "__qualname__", "__module__"})
# What a class keeps as it stands, and nothing is written for: `if not TYPE_CHECKING:` hides it from type checkers alone.
_KEPT = frozenset({"__getattr__", "__getattribute__", "__repr__", "__str__"})
_changed: weakref.WeakKeyDictionary[Project, dict[str, dict[str, _Place]]] = weakref.WeakKeyDictionary()


def refuse(text: ClassText) -> None:
    """Raises Unmigratable."""
    project, family = text.run.project, text.model.mro()
    for cls in inner(text.model.node):
        for call in of_kind(cls, ast.Call):
            if module_names.is_maker(text.run, project.qualname(text.source, call.func) or ""):
                reason = f"{cls.name}, which is defined within it, makes `{short(call)}` (line {call.lineno})"
                raise Unmigratable("NNX175", reason, text.model.node)
    for model in family:
        for name in model.class_attributes:
            if hidden := next((b for b in model.mro()[1:] if any(f.name == name for f in b.own_fields)), None):
                if any(isinstance(s, ast.AnnAssign) and ast.unparse(s.target) == name for s in model.node.body):
                    reason = f"its ClassVar `{name}` takes the place of a field of {hidden.name}"
                    raise Unmigratable("NNX175", reason, text.model.node)
    read = {node.attr for model in family for node in of_kind(model.node, ast.Attribute)}
    for model in family:
        for name, statement in _conditional(model.node):
            if name in read or isinstance(statement, ast.FunctionDef | ast.AnnAssign):
                reason = f"only the code that ran tells what `{name}` is (line {statement.lineno} of {model.name})"
                raise Unmigratable("NNX175", reason, text.model.node)
        had = read | text.run.fields.keys() | text.model.methods().keys() | model.class_attributes.keys()
        for attribute, (source, node) in _assigned(project).get(model.qualname, {}).items():
            if attribute not in had and isinstance(getattr(source.parents[node], "value", None), ast.Constant):
                continue  # `Net.version = 2` is of no concern to the class
            line = source.position(node)[0]
            reason = f"`{attribute}` of {model.name} is given another value (line {line} of {source.path.name})"
            raise Unmigratable("NNX175", reason, text.model.node)


def inner(node: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes that stand in a class."""
    return [cls for cls in of_kind(node, ast.ClassDef) if cls is not node]


def _conditional(node: ast.ClassDef) -> Iterator[tuple[str, ast.stmt]]:
    """What the body of a class binds under conditions, in loops, or anew, and the lists and dicts that it changes."""
    for statement in node.body:
        changed = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
        if isinstance(changed, ast.Attribute) and changed.attr in CHANGING:
            yield root_name(changed.value), statement
        yield from ((name, statement) for target in other_targets(statement) for name in _stored(target))
        if not isinstance(statement, _COMPOUND) or (isinstance(statement, ast.If) and is_type_checking(statement.test)):
            continue
        for inner in module_level([statement]):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                hidden = isinstance(statement, ast.If) and is_running(statement.test) and not statement.orelse
                if not (hidden and inner.name in _KEPT):
                    yield inner.name, inner
            elif not isinstance(inner, _COMPOUND):
                yield from ((name, inner) for name in _stored(inner))


def _stored(node: ast.AST) -> Iterator[str]:
    for part in subtree(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.Subscript | ast.Attribute) and not isinstance(part.ctx, ast.Load):
            yield root_name(part)


def _assigned(project: Project) -> dict[str, dict[str, _Place]]:
    """Module class → what code of the project puts in the place of its attributes and methods, and where."""
    if project not in _changed:
        found: dict[str, dict[str, _Place]] = {}
        for source in project.files.values():
            for owner, attribute, node in _assignments(source):
                name = project.qualname(source, owner)
                if name in project.linen_classes and attribute not in _SAYS_NOTHING:
                    found.setdefault(str(name), {}).setdefault(attribute, (source, node))
        _changed[project] = found
    return _changed[project]


def _assignments(source: SourceFile) -> Iterator[tuple[ast.expr, str, ast.AST]]:
    for node in source.by_kind.get(ast.Attribute, ()):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                yield node.value, node.attr, node
    for call in (call for called in ("setattr", "delattr") for call in source.calls_by_name.get(called, ())):
        if len(call.args) > 1:
            name = call.args[1]
            yield call.args[0], str(name.value) if isinstance(name, ast.Constant) else ast.unparse(name), call


__all__ = ["inner", "refuse"]
