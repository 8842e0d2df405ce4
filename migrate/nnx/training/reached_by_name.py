"""Functions that return what a form changes, and that the program reaches by their names as text.

    params = getattr(nets, f"make_{kind}")(key)
    state = importlib.import_module("tasks").fit(key)

Nothing follows what such a call gives: it would take Linen's dictionaries for granted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linen.flow.flow_values import Function
from ...source import SourceFile
from .rewrite import Rewrite, Unsupported

_IMPORTING = ("importlib.import_module", "__import__")
_WORDS = {"getattr", "globals", "locals", "vars", "__dict__", "import_module", "__import__", "attrgetter", "methodcaller"}


def check(form: Rewrite) -> None:
    """Unsupported where a file of the program does that with a function that returns values of the component."""
    functions = {f for f, _ in form.flow.uses.returning(form.component.sites) if isinstance(f, ast.FunctionDef)}
    if not functions:
        return
    names = {function.name for function in functions}
    modules = {form.source(function).module for function in functions}
    files = form.program_files()
    for name, source in form.flow.project.files.items():
        if _WORDS.isdisjoint(source.words):
            continue
        found = _asked(form, source, names, modules) if name in files else iter(())
        for node in (*found, *_of_imports(form, source, names, modules)):
            raise Unsupported(node, "a function that returns what is migrated, and that is reached by its name as a text")


def _asked(form: Rewrite, source: SourceFile, names: set[str], modules: set[str]) -> Iterator[ast.AST]:
    """`getattr(nets, "make")`, `globals()["make"]`, `nets.__dict__`."""
    flow = form.flow
    for node in source.by_kind.get(ast.Call, ()):
        if not isinstance(node, ast.Call) or node not in flow.source_of:
            continue
        called = flow.name(node.func) or getattr(node.func, "id", "")
        if called in ("getattr", "operator.attrgetter", "operator.methodcaller") and node.args:
            text = node.args[min(1, len(node.args) - 1) if called == "getattr" else 0]
            if isinstance(text, ast.Constant):
                if text.value in names:
                    yield node
            elif called == "getattr" and _module(form, source, node.args[0]) in modules:
                yield node
        elif called in ("globals", "locals", "vars"):
            held = _module(form, source, node.args[0]) if node.args else source.module
            if held in modules and _asks_for(source.parents[node], names):
                yield node
    for attribute in source.by_kind.get(ast.Attribute, ()):
        if isinstance(attribute, ast.Attribute) and attribute.attr == "__dict__" and attribute in flow.source_of:
            if _module(form, source, attribute.value) in modules:
                yield attribute


def _of_imports(form: Rewrite, source: SourceFile, names: set[str], modules: set[str]) -> Iterator[ast.AST]:
    """`importlib.import_module("nets").make`: what a file says that has no import of the other one."""
    if {"import_module", "__import__"}.isdisjoint(source.words):
        return
    for node in source.by_kind.get(ast.Attribute, ()):
        if isinstance(node, ast.Attribute) and node.attr in names and node in form.flow.source_of:
            if not isinstance(form.flow.value(node), Function) and _imported(form, source, node.value, modules):
                yield node


def _module(form: Rewrite, source: SourceFile, node: ast.expr) -> str | None:
    """The file of the project that an expression is; `sys.modules[__name__]` is its own."""
    if isinstance(node, ast.Subscript) and form.flow.name(node.value) == "sys.modules":
        return source.module if isinstance(node.slice, ast.Name) and node.slice.id == "__name__" else None
    name = form.flow.name(node)
    return name if name in form.flow.project.files else None


def _asks_for(parent: ast.AST, names: set[str]) -> bool:
    """Is it asked for one of the names, or for one that is computed?"""
    if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
        return parent.slice.value in names
    return True


def _imported(form: Rewrite, source: SourceFile, node: ast.expr, modules: set[str]) -> bool:
    """Is it a module that a call imports, by itself or under a name, and that may be one of these?"""
    given: list[ast.AST] = [node]
    if isinstance(node, ast.Name):
        same = form.flow.occurrences(form.flow.symbol(source, node))
        parents = [form.parent(name) for name in same if isinstance(name.ctx, ast.Store)]
        given = [parent.value for parent in parents if isinstance(parent, ast.Assign)]
    return any(isinstance(call, ast.Call) and _imports(form, call, modules) for call in given)


def _imports(form: Rewrite, call: ast.Call, modules: set[str]) -> bool:
    if (form.flow.name(call.func) or getattr(call.func, "id", "")) not in _IMPORTING:
        return False
    said = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    return not isinstance(said, str) or any(f".{module}".endswith(f".{said.lstrip('.')}") for module in modules)
