"""Calls of one of several functions, as calls of each under its condition:

    f = wide if self.wide else narrow               if self.wide:
    x = f(x)                                →           x = wide(x)
                                                    else:
                                                        x = narrow(x)
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ..edits import EditSet
from ..linen.project.index import Project
from ..linen.values.mutation import is_fixed
from ..source import SourceFile
from .bindings import free_name, moved, names_in
from .callees import Callee, Key, NotInlined, callee, is_class
from .place import Place
from .stable import bound_once, is_stable
from .strings import has_long_string

CHOSEN: Key = ("one of several functions",)  # wanted besides functions, for lambdas
_FUNCTIONS = (ast.Name, ast.Attribute, ast.Lambda)


@dataclasses.dataclass(frozen=True)
class Choice:
    """The functions that a call may mean, each with the text of its condition; the last may have none."""

    sides: tuple[tuple[str, ast.expr], ...]
    otherwise: str = ""  # what is done where no condition holds


def functions_of(project: Project, source: SourceFile, model: ast.ClassDef, func: ast.expr) -> Iterator[Callee]:
    """The functions of the project that a call in a method may run."""
    choice = choice_of(project, source, func)
    if choice is None:
        found = callee(project, source, model, func)
        if found is not None:
            yield found
        return
    for _, side in choice.sides:
        yield from functions_of(project, source, model, side)


def keys_of(project: Project, source: SourceFile, model: ast.ClassDef, func: ast.expr) -> Iterator[Key]:
    """What is wanted for a call of one of several functions to be said by conditions."""
    choice = choice_of(project, source, func)
    for _, side in choice.sides if choice is not None else ():
        calls = [n.func for n in ast.walk(side) if isinstance(n, ast.Call)] if isinstance(side, ast.Lambda) else []
        if any(isinstance(f, ast.Call) or is_class(project, source, f) for f in calls):
            yield CHOSEN
        yield from (function.key for function in functions_of(project, source, model, side))


def choice_of(project: Project, source: SourceFile, func: ast.expr) -> Choice | None:
    """The functions of which `func` is one, where their conditions are the same as where they were chosen."""
    method = next((a for a in source.ancestors(func) if isinstance(a, ast.FunctionDef | ast.Lambda)), None)
    if not isinstance(method, ast.FunctionDef):
        return None
    held = bound_once(source, method, func) if isinstance(func, ast.Name) else func
    if held is None:
        return _of_branches(source, method, func)
    if isinstance(held, ast.IfExp):
        return _of_expression(source, method, held)
    if held is not func and isinstance(held, ast.Name | ast.Attribute):  # by another name
        return Choice((("", held),)) if _is_function(source, method, held) else None
    return _of_table(project, source, method, held) if isinstance(held, ast.Subscript) else None


def _of_expression(source: SourceFile, method: ast.FunctionDef, node: ast.IfExp) -> Choice | None:
    sides: list[tuple[str, ast.expr]] = []
    last: ast.expr = node
    while isinstance(last, ast.IfExp):
        if not is_stable(source, method, last.test):
            return None
        sides.append((source.text_of(last.test), last.body))
        last = last.orelse
    sides.append(("", last))
    return Choice(tuple(sides)) if all(_is_function(source, method, side) for _, side in sides) else None


def _of_branches(source: SourceFile, method: ast.FunctionDef, func: ast.expr) -> Choice | None:
    """`if self.wide: f = wide`, `else: f = narrow`: statements of the method's own body that bind nothing else."""
    if not isinstance(func, ast.Name) or source.names.binding_scope(func.id, func) is not method:
        return None
    binders = [n for n in source.names.binders(func.id) if source.names.bound_by(n) is method]
    branches = [source.parents.get(source.parents.get(n, n)) for n in binders]
    head = next((b for b in branches if isinstance(b, ast.If) and source.parents[b] is method), None)
    if head is None or head.lineno > func.lineno:
        return None
    sides: list[tuple[str, ast.expr]] = []
    rest: ast.If | None = head
    while rest is not None:
        value = _assigned(rest.body, binders)
        if value is None or not is_stable(source, method, rest.test):
            return None
        sides.append((source.text_of(rest.test), value))
        inner = rest.orelse[0] if len(rest.orelse) == 1 else None
        if isinstance(inner, ast.If):
            rest = inner
        elif isinstance(inner, ast.Raise):
            sides[-1] = ("", value)
            rest = None
        else:
            value = _assigned(rest.orelse, binders)
            if value is None:
                return None
            sides.append(("", value))
            rest = None
    found = len(sides) == len(binders) and all(_is_function(source, method, side) for _, side in sides)
    return Choice(tuple(sides)) if found and len(sides) > 1 else None


def _assigned(body: list[ast.stmt], binders: list[ast.AST]) -> ast.expr | None:
    """The value of a branch that does nothing but assign it."""
    only = body[0] if len(body) == 1 else None
    plain = isinstance(only, ast.Assign) and len(only.targets) == 1 and only.targets[0] in binders
    return only.value if isinstance(only, ast.Assign) and plain else None


def _of_table(project: Project, source: SourceFile, method: ast.FunctionDef, node: ast.Subscript) -> Choice | None:
    """`BLOCKS[self.kind]`, of a table of the caller's own file, or of its method, whose keys are strings."""
    table = _table(project, source, method, node.value)
    if table is None or not table.keys or not is_stable(source, method, node.slice):
        return None
    keys = [k.value if isinstance(k, ast.Constant) else None for k in table.keys]
    if not all(isinstance(k, str) for k in keys) or len(set(keys)) != len(keys):
        return None
    if not all(_is_function(source, method, value) for value in table.values):
        return None
    said = source.text_of(node.slice)
    if isinstance(node.slice, ast.Constant):
        found = [value for key, value in zip(keys, table.values) if key == node.slice.value]
        return Choice((("", found[0]),)) if found else None
    sides = tuple((f"{said} == {source.text_of(k)}", v) for k, v in zip(table.keys, table.values) if k is not None)
    return Choice(sides, f"raise KeyError({said})")


def _table(project: Project, source: SourceFile, method: ast.FunctionDef, node: ast.expr) -> ast.Dict | None:
    if not isinstance(node, ast.Name):
        return None
    if source.names.binding_scope(node.id, node) is not None:
        value = bound_once(source, method, node)
        return value if isinstance(value, ast.Dict) and is_stable(source, method, node) else None
    found = source.names.definitions.get(node.id)
    value = found.value if isinstance(found, ast.Assign | ast.AnnAssign) else None
    whole = f"{source.module}.{node.id}"
    return value if isinstance(value, ast.Dict) and is_fixed(project, whole) else None


def _is_function(source: SourceFile, method: ast.FunctionDef, node: ast.expr) -> bool:
    """Does it mean the same function where the choice is called?"""
    if isinstance(node, ast.Lambda):
        own = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id not in own]
        return all(is_stable(source, method, n) for n in names)
    return isinstance(node, _FUNCTIONS) and is_stable(source, method, node)


def by_conditions(source: SourceFile, place: Place, call: ast.Call, choice: Choice) -> str:
    """The text with a call of each function, under its condition, for the call of one of them."""
    statement, indent, unit = place.statement, source.indent_of(place.statement), source.indent_unit
    if isinstance(statement, ast.AugAssign | ast.For) and not place.whole:
        raise NotInlined("one of several functions is called where its result is needed at once")
    if any(has_long_string(source, n) for n in ast.walk(statement)):
        raise NotInlined("one of several functions is called with a text of several lines")
    held = "" if place.whole else free_name("made", names_in(place.method))
    lines: list[str] = []
    alone = len(choice.sides) == 1 and not choice.sides[0][0]
    for test, side in choice.sides:
        edits = EditSet(source.text)
        said = source.text_of(side)
        edits.replace(source.span(call.func), f"({said})" if isinstance(side, ast.Lambda) else said)
        text = f"{held} = {edits.render(source.span(call))}" if held else edits.render(source.span(statement))
        if alone:
            lines.append(indent + text)
            continue
        head = f"elif {test}:" if lines else f"if {test}:"
        lines += [indent + (head if test else "else:"), indent + unit + moved(text, indent, indent + unit)]
    if choice.otherwise:
        lines += [f"{indent}else:", indent + unit + choice.otherwise]
    if held:
        edits = EditSet(source.text)
        edits.replace(source.span(call), held)
        lines.append(indent + edits.render(source.span(statement)))
    edits = EditSet(source.text)
    edits.replace(source.span(statement), "\n".join(lines)[len(indent) :])
    return edits.render()


__all__ = ["CHOSEN", "Choice", "by_conditions", "choice_of", "functions_of", "keys_of"]
