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
from ..trees import subtree
from .bindings import free_name, moved, names_in
from .callees import Callee, Key, NotInlined, callee, is_class
from .partials import is_partial
from .place import Place
from .pure import is_pure
from .stable import bound_once, is_stable
from .strings import has_long_string

CHOSEN: Key = ("one of several functions",)  # wanted besides functions, for lambdas
_NOT_FOUND = 'raise TypeError("\'NoneType\' object is not callable")'  # what calling `TABLE.get(key)` is then


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
        calls = [n.func for n in subtree(side) if isinstance(n, ast.Call)] if isinstance(side, ast.Lambda) else []
        if any(isinstance(f, ast.Call) or is_class(project, source, f) for f in calls):
            yield CHOSEN
        yield from (function.key for function in functions_of(project, source, model, side))


def choice_of(project: Project, source: SourceFile, func: ast.expr) -> Choice | None:
    """The functions of which `func` is one, where their conditions are the same as where they were chosen."""
    method = next((a for a in source.ancestors(func) if isinstance(a, ast.FunctionDef | ast.Lambda)), None)
    if not isinstance(method, ast.FunctionDef):
        return None
    held = bound_once(source, method, func) if isinstance(func, ast.Name) else func
    place = _Chosen(project, source, method, func, held is func)
    if held is None:
        return place.of_branches()
    if isinstance(held, ast.IfExp):
        return place.of_expression(held)
    if held is not func and isinstance(held, ast.Name | ast.Attribute):  # by another name
        return Choice((("", held),)) if place.is_function(held) else None
    return place.of_table(held)


@dataclasses.dataclass(frozen=True)
class _Chosen:
    """What a method calls by `func`; `here`: that says itself which function it is, where it is called."""

    project: Project
    source: SourceFile
    method: ast.FunctionDef
    func: ast.expr
    here: bool

    def is_same(self, node: ast.expr) -> bool:
        """Does an expression give the same where the function is called as where it is chosen?"""
        own = {a.arg for a in subtree(node) if isinstance(a, ast.arg)}
        for name in subtree(node):
            if isinstance(name, ast.Name) and name.id not in own:
                scopes = (self.source.names.binding_scope(name.id, place) for place in (name, self.func))
                if next(scopes) is not next(scopes) or not (self.here or is_stable(self.source, self.method, name)):
                    return False
        return isinstance(node, ast.Lambda) or (is_pure(node) if self.here else is_stable(self.source, self.method, node))

    def is_function(self, node: ast.expr) -> bool:
        """Does it mean a function, the same where the choice is called?"""
        if is_partial(node, self.project, self.source):
            parts = [node.func, *node.args, *[k.value for k in node.keywords]]
            return all(map(self.is_same, parts))
        return isinstance(node, ast.Name | ast.Attribute | ast.Lambda) and self.is_same(node)

    def of_expression(self, node: ast.IfExp) -> Choice | None:
        sides: list[tuple[str, ast.expr]] = []
        last: ast.expr = node
        while isinstance(last, ast.IfExp):
            if not self.is_same(last.test):
                return None
            sides.append((self.source.text_of(last.test), last.body))
            last = last.orelse
        sides.append(("", last))
        return Choice(tuple(sides)) if all(self.is_function(side) for _, side in sides) else None

    def of_branches(self) -> Choice | None:
        """`if self.wide: f = wide`, `else: f = narrow`: statements of the method's own body that bind nothing else."""
        source, method, func = self.source, self.method, self.func
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
            if value is None or not self.is_same(rest.test):
                return None
            sides.append((source.text_of(rest.test), value))
            inner = rest.orelse[0] if len(rest.orelse) == 1 else None
            if isinstance(inner, ast.If):
                rest = inner
                continue
            if isinstance(inner, ast.Raise):
                sides[-1] = ("", value)
            else:
                value = _assigned(rest.orelse, binders)
                if value is None:
                    return None
                sides.append(("", value))
            rest = None
        found = len(sides) == len(binders) and all(self.is_function(side) for _, side in sides)
        return Choice(tuple(sides)) if found and len(sides) > 1 else None

    def of_table(self, node: ast.expr) -> Choice | None:
        """`BLOCKS[self.kind]`, `BLOCKS.get(self.kind, plain)`: of a table of the caller's own file, or of its method, whose
        keys are strings."""
        asked = _asked(node)
        table = self._table(asked[0]) if asked is not None else None
        if asked is None or table is None or not table.keys or not self.is_same(asked[1]):
            return None
        _, key, default = asked
        keys = [k.value if isinstance(k, ast.Constant) else None for k in table.keys]
        if not all(isinstance(k, str) for k in keys) or len(set(keys)) != len(keys):
            return None
        filled = dataclasses.replace(self, here=self.here and asked[0] is table)  # when its items were what they are
        if not all(map(filled.is_function, table.values)) or not (default is None or self.is_function(default)):
            return None
        if isinstance(key, ast.Constant):
            found = [value for k, value in zip(keys, table.values) if k == key.value]
            return Choice((("", found[0]),)) if found else None
        said = self.source.text_of(key)
        sides = [(f"{said} == {self.source.text_of(k)}", v) for k, v in zip(table.keys, table.values) if k is not None]
        if default is not None:
            return Choice((*sides, ("", default)))
        return Choice(tuple(sides), f"raise KeyError({said})" if isinstance(node, ast.Subscript) else _NOT_FOUND)

    def _table(self, node: ast.expr) -> ast.Dict | None:
        if isinstance(node, ast.Dict):
            return node
        if not isinstance(node, ast.Name):
            return None
        if self.source.names.binding_scope(node.id, node) is not None:
            value = bound_once(self.source, self.method, node)
            return value if isinstance(value, ast.Dict) and is_stable(self.source, self.method, node) else None
        found = self.source.names.definitions.get(node.id)
        value = found.value if isinstance(found, ast.Assign | ast.AnnAssign) else None
        whole = f"{self.source.module}.{node.id}"
        return value if isinstance(value, ast.Dict) and is_fixed(self.project, whole) else None


def _asked(node: ast.expr) -> tuple[ast.expr, ast.expr, ast.expr | None] | None:
    """The table, the key and the default of `TABLE[key]` and `TABLE.get(key, default)`."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice, None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and not node.keywords:
        if 0 < len(node.args) < 3:
            return node.func.value, node.args[0], node.args[1] if len(node.args) > 1 else None
    return None


def _assigned(body: list[ast.stmt], binders: list[ast.AST]) -> ast.expr | None:
    """The value of a branch that does nothing but assign it."""
    only = body[0] if len(body) == 1 else None
    plain = isinstance(only, ast.Assign) and len(only.targets) == 1 and only.targets[0] in binders
    return only.value if isinstance(only, ast.Assign) and plain else None


def by_conditions(source: SourceFile, place: Place, call: ast.Call, choice: Choice) -> str:
    """The text with a call of each function, under its condition, for the call of one of them."""
    statement, indent, unit = place.statement, source.indent_of(place.statement), source.indent_unit
    if isinstance(statement, ast.AugAssign | ast.For) and not place.whole:
        raise NotInlined("one of several functions is called where its result is needed at once")
    if any(has_long_string(source, n) for n in subtree(statement)):
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
