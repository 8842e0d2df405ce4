"""The plain functions that code outside of modules calls, and all their calls."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from ...source import SourceFile
from ...trees import of_kind, subtree


@dataclasses.dataclass
class _Calls:
    """The calls of a function that were found, and whether these are all."""

    found: list[tuple[SourceFile, ast.Call]] = dataclasses.field(default_factory=list)
    complete: bool = True

    def add(self, source: SourceFile, function: ast.expr) -> None:
        """Note the call that a function's name stands in."""
        call = source.parents[function]
        if isinstance(call, ast.Call) and call.func is function:
            self.found.append((source, call))
            self.complete &= not any(isinstance(a, ast.Starred) for a in call.args) and all(k.arg for k in call.keywords)
        else:
            self.complete = False


class FunctionCalls:
    """Functions of files and of other functions, class methods and static methods; not decorated, and no generators."""

    def __init__(self, project: Any) -> None:
        self.project = project
        self._calls: dict[ast.AST, _Calls] = {}
        self._given: dict[ast.AST, dict[str | None, list[tuple[SourceFile, ast.expr]]]] = {}  # function → parameter → what
        self._called: dict[ast.Call, tuple[SourceFile, ast.FunctionDef] | None] = {}

    def called(self, source: SourceFile, call: ast.Call) -> tuple[SourceFile, ast.FunctionDef] | None:
        """The plain function of the project, or of the code around, that a call calls."""
        if call not in self._called:
            self._called[call] = self._find_called(source, call)
        return self._called[call]

    def _find_called(self, source: SourceFile, call: ast.Call) -> tuple[SourceFile, ast.FunctionDef] | None:
        if not isinstance(call.func, ast.Name | ast.Attribute):
            return None
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        scope = source.names.binding_scope(name, call.func) if name else None
        found: tuple[SourceFile, ast.AST] | None
        if scope is not None:
            bound = [n for n in source.names.binders(name) if source.names.bound_by(n) is scope]
            found = (source, bound[0]) if len(bound) == 1 else None
        else:
            qualname = self.project.qualname(source, call.func) or ""
            found = self.project.definition(qualname) or self._method(qualname)
            if found is not None and isinstance(found[1], ast.ClassDef) and qualname not in self.project.linen_classes:
                found = self._method(f"{qualname}.__init__")
        if found is None or not isinstance(found[1], ast.FunctionDef):
            return None
        if found[1].decorator_list and not self._class_of(found[0], found[1]):
            return None
        generates = any(of_kind(found[1], kind) for kind in (ast.Yield, ast.YieldFrom))
        return None if generates else (found[0], found[1])

    def calls(self, source: SourceFile, function: ast.FunctionDef) -> list[tuple[SourceFile, ast.Call]] | None:
        """Every call of a function; None where it may be called otherwise, or with arguments that are not spelled out."""
        known = self._known(source, function)
        return known.found if known.complete else None

    def found(self, source: SourceFile, function: ast.FunctionDef) -> list[tuple[SourceFile, ast.Call]]:
        """The calls of a function that are known, which may not be all."""
        return self._known(source, function).found

    def _known(self, source: SourceFile, function: ast.FunctionDef) -> _Calls:
        if function not in self._calls:
            self._calls[function] = self._find_calls(source, function)
        return self._calls[function]

    def given(self, source: SourceFile, function: ast.FunctionDef, name: str) -> Sequence[tuple[SourceFile, ast.expr]]:
        """What the calls that are known give to a parameter of a function."""
        if function not in self._given:
            table: dict[str | None, list[tuple[SourceFile, ast.expr]]] = {}
            for where, call in self.found(source, function):
                for argument in arguments(call):
                    value = argument.value if isinstance(argument, ast.keyword) else argument
                    table.setdefault(parameter(function, call, argument), []).append((where, value))
            self._given[function] = table
        return self._given[function].get(name, ())

    def _find_calls(self, source: SourceFile, function: ast.FunctionDef) -> _Calls:
        name, scope = function.name, source.names.scope_of(function)
        if name == "__init__" and isinstance(scope, ast.ClassDef):
            return self._find_constructions(source, scope)
        owner = self._class_of(source, function)
        if owner:
            return self._find_method_calls(f"{owner}.{name}")
        if function.decorator_list or isinstance(scope, ast.ClassDef):
            return _Calls(complete=False)
        if [n for n in source.names.binders(name) if source.names.bound_by(n) is scope] != [function]:
            return _Calls(complete=False)
        qualname = self.project.canonical(f"{source.module}.{name}" if source.module else name)
        files = [source] if scope is not None else self.project.files_saying(name)
        found = _Calls()
        for file in files:
            known = {name, *(local for local, dotted in file.names.imports.items() if dotted.endswith(f".{name}"))}
            for node in file.saying(*known):
                if scope is not None:
                    if isinstance(node, ast.Attribute) or file.names.binding_scope(node.id, node) is not scope:
                        continue
                elif self.project.qualname(file, node) != qualname:
                    continue
                found.add(file, node)
        return found

    def _find_method_calls(self, qualname: str) -> _Calls:
        """`Agent.create(...)`; None where something of that name is asked of what may be it, or derive from it."""
        owner, _, name = qualname.rpartition(".")
        found = _Calls()
        for file in self.project.files.values():
            if name not in file.words:
                continue
            for node in file.saying(name):
                if isinstance(node, ast.Name):
                    continue
                known = self.project.qualname(file, node)
                if known is None or self._derives(known.rpartition(".")[0], owner):
                    found.complete = False
                elif known == qualname:
                    found.add(file, node)
        return found

    def _find_constructions(self, source: SourceFile, owner: ast.ClassDef) -> _Calls:
        """`Agent(...)`; methods of its own may make one otherwise, as do classes that derive from it."""
        found = _Calls(complete=not any(isinstance(n, ast.Name) and n.id == "cls" for n in subtree(owner)))
        if not isinstance(source.parents[owner], ast.Module) or source.names.definitions.get(owner.name) is not owner:
            return _Calls(complete=False)
        qualname = self.project.canonical(f"{source.module}.{owner.name}" if source.module else owner.name)
        for file in self.project.files.values():
            if owner.name not in file.words:
                continue
            for node in file.saying(*self._other_names(owner.name), *file.names.single_assignments):
                if self.project.qualname(file, node) == qualname:
                    found.add(file, node)
        return found

    def _other_names(self, name: str) -> list[str]:
        """The words that files may have for what is called `name` where it is defined, itself the first."""
        found = [name]
        for word in found:  # grows while it is walked
            found += [other for other in self._renamed.get(word, ()) if other not in found]
        return found

    @functools.cached_property
    def _renamed(self) -> dict[str, set[str]]:
        """What imports call by another name than it has there (`import Agent as Actor`)."""
        found: dict[str, set[str]] = {}
        for alias, target in self.project.aliases.items():
            local, name = alias.rpartition(".")[2], target.rpartition(".")[2]
            if local != name:
                found.setdefault(name, set()).add(local)
        return found

    def _derives(self, name: str, owner: str) -> bool:
        """Is a class of the project another than `owner`, and has it bases (which may be `owner`)?"""
        found = self.project.definition(name)
        return name != owner and found is not None and isinstance(found[1], ast.ClassDef) and bool(found[1].bases)

    def _class_of(self, source: SourceFile, function: ast.FunctionDef) -> str:
        """The class whose class method or static method a function is, a plain class of a file; else ""."""
        parent = source.parents[function]
        decorators = [d.id for d in function.decorator_list if isinstance(d, ast.Name)]
        if (
            not isinstance(parent, ast.ClassDef)
            or len(function.decorator_list) != 1
            or not isinstance(source.parents[parent], ast.Module)
        ):
            return ""
        name = self.project.canonical(f"{source.module}.{parent.name}" if source.module else parent.name)
        return name if decorators in (["classmethod"], ["staticmethod"]) and name not in self.project.linen_classes else ""

    def _method(self, qualname: str) -> tuple[SourceFile, ast.stmt] | None:
        owner, _, name = qualname.rpartition(".")
        found = self.project.definition(owner)
        if found is None or not isinstance(found[1], ast.ClassDef):
            return None
        methods = [s for s in found[1].body if isinstance(s, ast.FunctionDef) and s.name == name]
        return (found[0], methods[0]) if len(methods) == 1 else None


def parameters(function: ast.FunctionDef) -> list[str]:
    spec = function.args
    return [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]


def arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    return [*call.args, *call.keywords]


def parameter(function: ast.FunctionDef, call: ast.Call, argument: ast.AST) -> str | None:
    """The parameter of a function that a call gives an argument to."""
    if isinstance(argument, ast.keyword):
        return argument.arg if argument.arg in parameters(function) else None
    places = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if function.name == "__init__" or any(
        isinstance(d, ast.Name) and d.id == "classmethod" for d in function.decorator_list
    ):
        places = places[1:]
    index = next((i for i, a in enumerate(call.args) if a is argument), len(places))
    return places[index] if index < len(places) else None


__all__ = ["FunctionCalls", "arguments", "parameter", "parameters"]
