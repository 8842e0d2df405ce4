"""Methods that ask a module for all that it holds: `vars(self)`, `self.__dict__`, `dataclasses.fields(self)`.

Linen keeps the fields of a dataclass there, the parent, the name and what setup has made; an nnx.Module is no dataclass, and
keeps lists, variables and wrapped modules in other objects. A mixin that is no module itself may ask, too, and functions of
the project that are given the module.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from ...linen.values.sites import Unmigratable
from ...trees import of_kind, subtree
from ..classes.inheritance import plain_bases

if TYPE_CHECKING:
    from ...linen.project.index import Project
    from ...source import SourceFile
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

_WHOLE = frozenset({"builtins.vars", "builtins.dir", "inspect.getmembers", "inspect.getmembers_static"})
_OF_FIELDS = frozenset({*(f"dataclasses.{name}" for name in ("fields", "asdict", "astuple", "replace")), "copy.replace"})
_BUILTIN = frozenset({"vars", "dir"})
_WORDS = frozenset(
    {"vars", "dir", "__dict__", "__dataclass_fields__", "getmembers", "dataclasses", "getmembers_static", "copy"}
)
_BY_NAME = ("__dict__", "__dataclass_fields__")  # `getattr(self, "__dict__")`
_MAX_DEPTH = 8  # functions that hand on what they were given, names for names
_BY_ITSELF = frozenset({"setup", "__call__"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclasses.dataclass(frozen=True)
class _Question:
    """One place that asks."""

    said: str
    of_dataclass: bool  # natively this raises
    method: str  # in which it stands


def refuse(writer: ClassWriter) -> None:
    """Raises Unmigratable."""
    text = writer.text
    for model in text.model.mro():
        for question in _questions(text.run.project, model.source, model.node, text.run.fields.keys()):
            raise Unmigratable("NNX133", _reason(question, model.node), text.model.node)
    for cls, question in _of_mixins(text):
        running = question.of_dataclass and question.method in _running(text)
        if running or _holds_modules(text):
            raise Unmigratable("NNX133", _reason(question, cls), text.model.node)


def warnings(text: ClassText) -> Iterator[str]:
    """What a mixin of a native class asks, which holds no modules that it could find."""
    for cls, question in _of_mixins(text):
        what = "an nnx.Module is no dataclass" if question.of_dataclass else "natively it holds its variables there, too"
        yield f"{_reason(question, cls)}, and {what}"


def _reason(question: _Question, cls: ast.ClassDef) -> str:
    return f"{question.said} of {cls.name} asks for all that a module of Linen holds"


def _of_mixins(text: ClassText) -> Iterator[tuple[ast.ClassDef, _Question]]:
    project = text.run.project
    for source, cls in filter(None, plain_bases(text, text.model.mro())):
        for question in _questions(project, source, cls, text.run.fields.keys()):
            yield cls, question


def _running(text: ClassText) -> Set[str]:
    """The methods that run by themselves, or that those of the module call."""
    nodes = [n for model in text.model.mro() for n in of_kind(model.node, ast.Attribute)]
    found = {n.attr for n in nodes} | _BY_ITSELF
    mixins = [cls for _, cls in filter(None, plain_bases(text, text.model.mro()))]
    methods = [f for cls in mixins for f in of_kind(cls, ast.FunctionDef)]
    found |= {f.name for f in methods if f.name.startswith("__")}
    while True:
        called = {n.attr for f in methods if f.name in found for n in of_kind(f, ast.Attribute)}
        if called <= found:
            return found
        found |= called


def _holds_modules(text: ClassText) -> bool:
    """Where a mixin that goes through the modules finds none on either side, it is the same on both."""
    run = text.run
    made = any(site.kind not in ("param", "variable") for site in run.sites)
    handed = text.model.qualname in run.analyser.given_outside.handed
    return made or handed or any(run.holds_module(run.field_value(name).value) for name in run.fields)


def _questions(project: Project, source: SourceFile, cls: ast.ClassDef, fields: Set[str]) -> Iterator[_Question]:
    """Where the methods of a class ask."""
    if all(_WORDS.isdisjoint(file.words) for file in project.files.values()):
        return
    functions: list[_Function] = [
        *of_kind(cls, ast.FunctionDef),
        *of_kind(cls, ast.AsyncFunctionDef),
        *of_kind(cls, ast.Lambda),
    ]
    for function in functions:
        if _scope(source, function) is not cls:
            continue
        decorators = [ast.unparse(d) for d in getattr(function, "decorator_list", ())]
        positional = [*function.args.posonlyargs, *function.args.args]
        if not positional or "staticmethod" in decorators:
            continue
        asking = _Asking(project, source, fields, of_class="classmethod" in decorators)
        name = getattr(function, "name", "") or next(_assigned(source, function), "")
        for said, of_dataclass in asking.of(function, positional[0].arg):
            yield _Question(said, of_dataclass, name)


def _scope(source: SourceFile, function: ast.AST) -> ast.AST | None:
    return next((n for n in source.ancestors(function) if isinstance(n, (*_FUNCTIONS, ast.ClassDef))), None)


def _assigned(source: SourceFile, function: ast.AST) -> Iterator[str]:
    """`parts` of `parts = property(lambda self: ...)`"""
    for parent in source.ancestors(function):
        if isinstance(parent, ast.Assign):
            yield from (t.id for t in parent.targets if isinstance(t, ast.Name))


class _Asking:
    """Looks for what is asked of a function's parameter."""

    def __init__(self, project: Project, source: SourceFile, fields: Set[str], *, of_class: bool, depth: int = 0) -> None:
        self.project = project
        self.source = source
        self.fields = fields
        self.of_class = of_class  # the parameter is the class of the module
        self.depth = depth

    def of(self, function: _Function, parameter: str) -> Iterator[tuple[str, bool]]:
        """Each place, and whether it asks what only a dataclass can say."""
        self.function = function
        self.names = {parameter}
        for node in subtree(function):  # `module = self`
            if isinstance(node, ast.Assign) and self._is_it(node.value):
                self.names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            elif isinstance(node, ast.NamedExpr) and self._is_it(node.value):
                self.names.add(node.target.id)
        for node in subtree(function):
            if isinstance(node, ast.Attribute):
                if node.attr == "__dict__" and self._is_module(node.value) and not self._takes_field(node):
                    yield f"`{ast.unparse(node)}`", False
                elif node.attr == "__dataclass_fields__" and (self._is_it(node.value) or self._is_kind(node.value)):
                    yield f"`{ast.unparse(node)}`", True
            elif isinstance(node, ast.Call):
                yield from self._call(node)

    def _is_it(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.names

    def _is_module(self, node: ast.expr) -> bool:
        return self._is_it(node) and not self.of_class

    def _is_kind(self, node: ast.expr) -> bool:
        """`type(self)`, `self.__class__`"""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
            return len(node.args) == 1 and self._is_it(node.args[0])
        return isinstance(node, ast.Attribute) and node.attr == "__class__" and self._is_it(node.value)

    def _takes_field(self, node: ast.AST) -> bool:
        """`vars(self).get("width")`, `vars(self)["width"]`, `"width" in vars(self)`: a field is there on both sides."""
        parent = self.source.parents.get(node)
        key: ast.AST | None = None
        if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
            key = parent.slice
        elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(parent.ops[0], ast.In | ast.NotIn):
            key = parent.left
        elif isinstance(parent, ast.Attribute) and parent.attr == "get":
            call = self.source.parents.get(parent)
            key = call.args[0] if isinstance(call, ast.Call) and call.func is parent and call.args else None
        return isinstance(key, ast.Constant) and key.value in self.fields

    def _call(self, node: ast.Call) -> Iterator[tuple[str, bool]]:
        function, given = node.func, list(node.args)
        if not any(self._is_it(a) or self._is_kind(a) for a in (*given, *(k.value for k in node.keywords))):
            return
        asked = given[1].value if len(given) > 1 and isinstance(given[1], ast.Constant) else None
        if asked in _BY_NAME and isinstance(function, ast.Name) and function.id == "getattr" and not self._takes_field(node):
            yield f"`{ast.unparse(node)}`", asked == "__dataclass_fields__"
            return
        found = self._meant(self.source, function)
        if found == "functools.partial" and given:
            found, given = self._meant(self.source, given[0]), given[1:]
        said = f"`{ast.unparse(node)}`"
        if isinstance(found, str):
            if found in _WHOLE and given and self._is_module(given[0]) and not self._takes_field(node):
                yield said, False
            if found in _OF_FIELDS and given and (self._is_it(given[0]) or self._is_kind(given[0])):
                yield said, True
            return
        if found is None or self.depth == _MAX_DEPTH:
            return
        source, definition, bound = found
        positional = [p.arg for p in (*definition.args.posonlyargs, *definition.args.args)][bound:]
        known = list(itertools.takewhile(lambda a: not isinstance(a, ast.Starred), given))
        passed = [*zip(positional, known, strict=False), *((k.arg, k.value) for k in node.keywords)]
        for name, value in passed:
            if name is not None and (self._is_it(value) or self._is_kind(value)):
                kind = self.of_class or self._is_kind(value)
                inner = _Asking(self.project, source, self.fields, of_class=kind, depth=self.depth + 1)
                for there, of_dataclass in inner.of(definition, name):
                    yield f"{there} in {said}", of_dataclass

    def _meant(self, source: SourceFile, node: ast.expr, depth: int = 0) -> str | tuple[SourceFile, _Function, int] | None:
        """What is called: the name of a library's function, or one of the project and how many arguments it has already."""
        if isinstance(node, ast.Lambda):
            return source, node, 0
        name = self.project.qualname(source, node)
        if name is None:
            return self._meant_locally(source, node, depth)
        found = self.project.definition(name)
        if found is None:
            owner = self.project.definition(name.rpartition(".")[0])
            method = _method(owner[1], name.rpartition(".")[2]) if owner is not None else None
            return name if owner is None else (owner[0], *method) if method is not None else None
        home, definition = found
        if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
            return home, definition, 0
        if isinstance(definition, ast.ClassDef):
            method = _method(definition, "__init__") if name not in self.project.linen_classes else None
            return (home, method[0], 1) if method is not None else None
        value = definition.value if isinstance(definition, ast.Assign | ast.AnnAssign) else None
        return self._meant(home, value, depth + 1) if value is not None and depth < _MAX_DEPTH else None

    def _meant_locally(
        self, source: SourceFile, node: ast.expr, depth: int
    ) -> str | tuple[SourceFile, _Function, int] | None:
        if not isinstance(node, ast.Name):
            return None
        if not source.names.is_hidden(node.id, node):
            return f"builtins.{node.id}" if node.id in _BUILTIN else None
        scope = source.names.binding_scope(node.id, node)
        for inner in subtree(scope) if scope is not None and depth < _MAX_DEPTH else ():
            if isinstance(inner, ast.FunctionDef) and inner.name == node.id:
                return source, inner, 0
            if isinstance(inner, ast.Assign) and any(isinstance(t, ast.Name) and t.id == node.id for t in inner.targets):
                return self._meant(source, inner.value, depth + 1)
        return None


def _method(cls: ast.AST, name: str) -> tuple[_Function, int] | None:
    """A method that is called on its class, and how many arguments it has already."""
    for function in cls.body if isinstance(cls, ast.ClassDef) else ():
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and function.name == name:
            return function, int(any(ast.unparse(d) == "classmethod" for d in function.decorator_list))
    return None


__all__ = ["refuse", "warnings"]
