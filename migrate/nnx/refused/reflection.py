"""Methods that ask a module for all that it holds: `vars(self)`, `dataclasses.fields(self)`.

Linen keeps the fields of a dataclass there, the parent, the name and what setup has made; an nnx.Module is no dataclass, and
keeps lists, variables and wrapped modules in other objects. A mixin that is no module itself may ask, too, and so may a
function that is given the module.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...linen.values.called_functions import called_function
from ...linen.values.sites import Unmigratable
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.project.index import Project
    from ...source import SourceFile
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

_OF_DATACLASSES = frozenset(f"dataclasses.{name}" for name in ("fields", "asdict", "astuple", "replace"))
_OF_ATTRIBUTES = frozenset({"inspect.getmembers", "inspect.getmembers_static", "builtins.vars", "builtins.dir"})
_MAX_DEPTH = 8  # bases of bases, functions that hand a module on

Function = ast.FunctionDef | ast.Lambda


@dataclasses.dataclass(frozen=True)
class _Ask:
    cls: ast.ClassDef
    text: str
    of_dataclass: bool


def refuse(writer: ClassWriter) -> None:
    """Raises Unmigratable."""
    project, node = writer.run.project, writer.model.node
    for ask in _asks(writer.text):
        if ask.cls is node or ask.cls in project.linen_names or _holds_modules(writer.text):
            raise Unmigratable("NNX133", f"`{ask.text}` of {ask.cls.name} asks for all that a module of Linen holds", node)


def warnings(text: ClassText) -> Iterator[tuple[str, str]]:
    """What mixins see of a native class without modules, in which they find none on either side: code and message."""
    for ask in _asks(text):
        if ask.of_dataclass:
            sees = f"fails: {text.model.name} is no dataclass any more"
        else:
            sees = (
                f"sees what an nnx.Module holds: the fields of {text.model.name} that it keeps, its variables as objects of "
                "NNX, no `parent`, `name` and `scope`, and what NNX keeps for itself"
            )
        yield "NNX133", f"`{ask.text}` of {ask.cls.name} {sees}"


def _holds_modules(text: ClassText) -> bool:
    run = text.run
    made = any(site.kind not in ("param", "variable") for site in run.sites)
    handed = text.model.qualname in run.analyser.given_outside.handed
    return made or handed or any(run.holds_module(run.field_value(name).value) for name in run.fields)


def _asks(text: ClassText) -> Iterator[_Ask]:
    """What a class asks, and its bases, methods first that stand first."""
    fields = frozenset(field.name for field in text.model.fields())
    for source, cls in _classes(text.run.project, text.model.source, text.model.node, 0):
        for said, of_dataclass in _asked(text, source, cls, _selves(source, cls), fields, ()):
            yield _Ask(cls, said, of_dataclass)


def _asked(
    text: ClassText,
    source: SourceFile,
    within: ast.AST,
    selves: frozenset[str],
    fields: frozenset[str],
    path: Sequence[ast.AST],
) -> Iterator[tuple[str, bool]]:
    """What code asks of names that mean the module, with whether it asks a dataclass."""
    project = text.run.project
    for node in _own_nodes(within):
        if isinstance(node, ast.Attribute) and _is(node.value, selves) and node.attr == "__dict__":
            if not _takes_field(source, node, fields):
                yield project.said(node), False
        elif isinstance(node, ast.Attribute) and node.attr == "__dataclass_fields__" and _of_class(node.value, selves):
            yield project.said(node), True
        elif isinstance(node, ast.Call):
            first = [*node.args, *(keyword.value for keyword in node.keywords)][:1]
            name = project.qualname(source, node.func) or ""
            if first and name in _OF_DATACLASSES and _of_class(first[0], selves):
                yield project.said(node), True
            elif first and _is(first[0], selves) and (name in _OF_ATTRIBUTES or _is_builtin(source, node.func)):
                if not _takes_field(source, node, fields) or _word(node.func) == "dir":
                    yield project.said(node), False
            elif first and _is(first[0], selves) and _asks_for_dict(node):
                if not _takes_field(source, node, fields):
                    yield project.said(node), False
            elif len(path) < _MAX_DEPTH:
                yield from _by_function(text, source, node, selves, fields, path)


def _own_nodes(within: ast.AST) -> list[ast.Attribute | ast.Call]:
    """Attributes and calls, but for those of classes inside, whose `self` is another."""
    nodes = subtree(within)
    inner = {n for cls in nodes if isinstance(cls, ast.ClassDef) and cls is not within for n in subtree(cls)}
    return [n for n in nodes if isinstance(n, ast.Attribute | ast.Call) and n not in inner]


def _by_function(
    text: ClassText,
    source: SourceFile,
    call: ast.Call,
    selves: frozenset[str],
    fields: frozenset[str],
    path: Sequence[ast.AST],
) -> Iterator[tuple[str, bool]]:
    """`described(self)`, a function of the project that asks its argument."""
    given = [at for at, argument in enumerate(call.args) if _is(argument, selves)]
    named = [keyword.arg for keyword in call.keywords if keyword.arg and _is(keyword.value, selves)]
    found = called_function(text.run, source, call.func) if given or named else None
    if found is None or found[1] in path:
        return
    home, function = found
    arguments = function.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if isinstance(call.func, ast.Attribute) and _is(call.func.value, selves) and positional[:1] == ["self"]:
        positional = positional[1:]
    taken = {positional[at] for at in given if at < len(positional)} | set(named)
    for said, of_dataclass in _asked(text, home, function, _with_aliases(function, taken), fields, (*path, function)):
        yield f"{text.run.project.said(call)}`, by `{said}", of_dataclass


def _selves(source: SourceFile, cls: ast.ClassDef) -> frozenset[str]:
    """The names that methods have for the module, `cls` of class methods among them: it is asked as a dataclass, too."""
    found = {"self"}
    for method in cls.body:
        if isinstance(method, ast.FunctionDef) and (method.args.posonlyargs or method.args.args):
            if not any(_word(decorator) == "staticmethod" for decorator in method.decorator_list):
                found.add([*method.args.posonlyargs, *method.args.args][0].arg)
    return _with_aliases(cls, found)


def _with_aliases(within: ast.AST, names: set[str]) -> frozenset[str]:
    """`me = self`"""
    given = [
        n for n in subtree(within) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name) and n.value.id in names
    ]
    return frozenset(names | {target.id for n in given for target in n.targets if isinstance(target, ast.Name)})


def _takes_field(source: SourceFile, node: ast.AST, fields: frozenset[str]) -> bool:
    """`vars(self).get("width")`, `vars(self)["width"]` of a field that the class keeps"""
    outer = source.parents.get(node)
    key: ast.AST | None = None
    if isinstance(outer, ast.Subscript) and outer.value is node and isinstance(outer.ctx, ast.Load):
        key = outer.slice
    elif isinstance(outer, ast.Attribute) and outer.attr == "get":
        call = source.parents.get(outer)
        key = call.args[0] if isinstance(call, ast.Call) and call.func is outer and call.args else None
    return isinstance(key, ast.Constant) and key.value in fields


def _of_class(node: ast.AST, selves: frozenset[str]) -> bool:
    """The module, or its class: `type(self)`, `self.__class__`"""
    if isinstance(node, ast.Call) and _word(node.func) == "type" and len(node.args) == 1:
        node = node.args[0]
    elif isinstance(node, ast.Attribute) and node.attr == "__class__":
        node = node.value
    return _is(node, selves)


def _asks_for_dict(call: ast.Call) -> bool:
    """`getattr(self, "__dict__")`"""
    key = call.args[1] if len(call.args) > 1 else None
    return _word(call.func) == "getattr" and isinstance(key, ast.Constant) and key.value == "__dict__"


def _is_builtin(source: SourceFile, function: ast.expr) -> bool:
    if not isinstance(function, ast.Name):
        return False
    known = source.names.single_assignments.get(function.id, function)  # `held = vars`
    return isinstance(known, ast.Name) and known.id in ("vars", "dir") and known.id not in source.names.definitions


def _is(node: ast.AST, selves: frozenset[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in selves


def _word(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _classes(
    project: Project, source: SourceFile, cls: ast.ClassDef, depth: int
) -> Iterator[tuple[SourceFile, ast.ClassDef]]:
    """A class, and all of the project that it derives from."""
    yield source, cls
    for base in cls.bases if depth < _MAX_DEPTH else []:
        found = project.definition(project.qualname(source, base) or "")
        if found is not None and isinstance(found[1], ast.ClassDef):
            yield from _classes(project, found[0], found[1], depth + 1)


__all__ = ["refuse", "warnings"]
