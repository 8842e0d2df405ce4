"""What calls may give the modules of a project, by name or by place, apart from their constructors.

A call of what certain classes have made (`Block(4)(x, mask)`, `self.block(x, mask)`) gives these alone.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref
from collections.abc import Collection
from typing import Any

from ...source import SourceFile
from ...trees import subtree

_PARTIAL = "functools.partial"
_APPLIED = frozenset({"apply", "apply_fn", "init", "init_with_output", "lazy_init"})
_OF_LINEN = frozenset({"param", "variable", "sow", "perturb", "get_variable", "put_variable", "has_variable"})
_MANY = 99
_OTHERS = ("flax.", "typing.", "abc.", "builtins.")  # whose attributes no code of the project assigns


@dataclasses.dataclass
class _Given:
    """To any class, or to one."""

    names: set[str] = dataclasses.field(default_factory=set)
    most: int = 0  # arguments by place of one call of what may be a module
    classes: dict[str, _Given] = dataclasses.field(default_factory=dict)  # what was given to one alone

    def has(self, name: str, place: int | None) -> bool:
        return name in self.names or (place is not None and self.most > place)


_known: weakref.WeakKeyDictionary[Any, _Given] = weakref.WeakKeyDictionary()


def gives(project: Any, name: str, place: int | None, family: Collection[str]) -> bool:
    """May a call give a module of a family of classes an argument: by its name, or at its place (None: it has none)?"""
    found = _known.get(project)
    if found is None:
        found = _known[project] = _given(project)
    return found.has(name, place) or any(found.classes[c].has(name, place) for c in family if c in found.classes)


def _given(project: Any) -> _Given:
    found, attributes = _Given(), _Attributes(project)
    classes = project.linen_classes.values()
    methods = {n.name for info in classes for n in info.node.body if isinstance(n, ast.FunctionDef)}
    for source in project.files.values():
        for node in source.by_kind.get(ast.Constant, ()):
            if isinstance(node.value, str) and node.value.isidentifier():
                found.names.add(node.value)  # of a mapping that a call is given
        for node in source.by_kind.get(ast.Call, ()):
            called = project.qualname(source, node.func)
            if called == _PARTIAL and node.args:
                called = project.qualname(source, node.args[0])
            defined = project.definition(called) if called else None
            if called in project.linen_classes or (defined is not None and isinstance(defined[1], ast.ClassDef)):
                continue
            made_by = _made_by(project, source, node.func, attributes)
            names = {k.arg for k in node.keywords if k.arg is not None}
            unsaid = called is None or called.startswith("self.")
            count = _given_by_place(node, node in project.inside_modules, methods) if unsaid else 0
            for given in [found.classes.setdefault(made, _Given()) for made in made_by] or [found]:
                given.names |= names
                given.most = max(given.most, count)
    return found


def _made_by(project: Any, source: SourceFile, function: ast.expr, attributes: _Attributes) -> set[str]:
    """The classes of which one has made what is called, where the text says it; none where it may be another."""
    made: set[str | None] = set()
    if isinstance(function, ast.Call):
        made = {_class_of(project, source, function)}
    elif isinstance(function, ast.Name):
        made = {_class_of(project, source, value) for value in _given_to_name(source, function)}
    elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
        made = attributes.of(source, function)
    known = {name for name in made if name is not None}
    return known if known == made else set()


def _class_of(project: Any, source: SourceFile, value: ast.expr | None) -> str | None:
    """The class of modules that an expression makes one of."""
    name = project.qualname(source, value.func) if isinstance(value, ast.Call) else None
    return name if name in project.linen_classes else None


def _given_to_name(source: SourceFile, name: ast.Name) -> list[ast.expr | None]:
    """What a local name is assigned, None for what is bound otherwise."""
    function = source.function_of(name)
    if function is None:
        return []
    given: list[ast.expr | None] = []
    for node in subtree(function):
        if isinstance(node, ast.arg) and node.arg == name.id:
            given.append(None)
        elif isinstance(node, ast.Name) and node.id == name.id and not isinstance(node.ctx, ast.Load):
            given.append(_assigned(source, node))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias | ast.ExceptHandler | ast.MatchAs):
            given += [None] if name.id in (node.name, getattr(node, "asname", None)) else []
    return given


class _Attributes:
    """The classes of what attributes of `self` are assigned, in each family of classes; None for anything else."""

    def __init__(self, project: Any) -> None:
        self._above: dict[str, str] = {}  # class → one of its family
        self._made: dict[tuple[str, str], set[str | None]] = {}
        self._linen_names = project.linen_names
        for name, info in project.linen_classes.items():
            for base in info.bases:
                if not base.startswith(_OTHERS):
                    self._above[self._family(name)] = self._family(base)
        for source in project.files.values():
            for node in source.by_kind.get(ast.Attribute, ()):
                if not isinstance(node.ctx, ast.Load):
                    self._add(source, node, node.attr, _class_of(project, source, _assigned(source, node)))
        for info in project.linen_classes.values():
            for statement in info.node.body:
                targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                names = [t.id for t in targets if isinstance(t, ast.Name)] + [getattr(statement, "name", "")]
                for name in names:
                    self._add(info.source, statement, name, None)  # a field, or a method

    def of(self, source: SourceFile, node: ast.Attribute) -> set[str | None]:
        """What an attribute may be that a method reads."""
        around = self._around(source, node)
        return self._made.get((around, node.attr), set()) if around is not None else set()

    def _add(self, source: SourceFile, node: ast.AST, name: str, made: str | None) -> None:
        around = self._around(source, node)
        if around is not None:
            self._made.setdefault((around, name), set()).add(made)

    def _around(self, source: SourceFile, node: ast.AST) -> str | None:
        """The family of the class around."""
        around = next((n for n in source.ancestors(node) if isinstance(n, ast.ClassDef)), None)
        return self._family(self._linen_names.get(around, f"{source.module}.{around.name}")) if around is not None else None

    def _family(self, name: str) -> str:
        while name in self._above and self._above[name] != name:
            name = self._above[name]
        return name


def _assigned(source: SourceFile, target: ast.expr) -> ast.expr | None:
    statement = source.parents.get(target)
    if isinstance(statement, ast.Assign) and target in statement.targets:
        return statement.value
    return statement.value if isinstance(statement, ast.AnnAssign) and statement.target is target else None


def _given_by_place(call: ast.Call, inside: bool, methods: set[str]) -> int:
    """How many arguments a call gives a module by place, if one is called; `inside`: of a module."""
    function = call.func
    count = _MANY if any(isinstance(a, ast.Starred) for a in call.args) else len(call.args)
    if isinstance(function, ast.Attribute) and function.attr in _APPLIED:
        # Behind the variables, or the key; another method has arguments of its own.
        return count - 1 if all(k.arg != "method" for k in call.keywords) else 0
    if not inside:
        return 0  # modules are bound there
    if isinstance(function, ast.Attribute):
        own = isinstance(function.value, ast.Name) and function.value.id == "self"
        return count if function.attr == "__call__" or (own and function.attr not in methods | _OF_LINEN) else 0
    return count


__all__ = ["gives"]
