"""Classes that decorators and statements put into tables from which a class that stays Linen takes them.

    @register("dense")                       class Net(nn.Module):          # stays Linen
    class Dense(nn.Module): ...                  ... REGISTRY[self.kind](8)(x)

A copy of the class would have to be registered, too, and the table has one entry of that name: the class stays Linen with
those that take it from there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from ...linen.outside.given_outside import GROWING
from ...linen.project.classes import Classes, ClassModel
from ...linen.values.mutation import root_name
from ...source import SourceFile
from ...trees import subtree
from .references import References

_GROWING = frozenset({*GROWING, "setdefault", "add"})
_DEPTH = 5  # functions that call functions


class Tables:
    """The tables of a project's files, and the classes that may be put into each."""

    def __init__(self, classes: Classes, references: References) -> None:
        self._classes, self._references = classes, references
        self._put: dict[str, set[str]] = {}
        for key, cls in _put(classes, references):
            self._put.setdefault(key, set()).add(cls)

    def taken(self, reasons: Mapping[str, object]) -> list[tuple[str, str, str]]:
        """(a class, the table that it is put into, a class that stays Linen and may take it from there)."""
        found: list[tuple[str, str, str]] = []
        for model in self._classes if self._put else ():
            if model.qualname in reasons:
                for table in self._asked(model):
                    put = sorted(self._put.get(table, set()) - reasons.keys())
                    found += [(cls, table, model.name) for cls in put]
        return found

    def _asked(self, model: ClassModel) -> Iterable[str]:
        """What a class refers to in its body: not its decorators, which put it there itself."""
        reached = (_reached(self._references, model.source, s, _DEPTH) for s in model.node.body)
        return dict.fromkeys(key for keys in reached for key in keys)


def _put(classes: Classes, references: References) -> Iterator[tuple[str, str]]:
    """(a table of a file, a class that a decorator, or a call at the top of a file, may put there)."""
    known: dict[ast.AST, list[str]] = {}
    for model in classes:
        for decorator in model.node.decorator_list:
            for key in _filled(references, model.source, decorator, known):
                yield key, model.qualname
    for source in classes.project.files.values():
        for statement in source.tree.body:
            if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.Import | ast.ImportFrom):
                continue
            tables: list[str] = []
            for node in subtree(statement):  # `for cls in (Dense, Deep): TABLE[cls.__name__] = cls`, too
                tables += [key for place in _filled_by(node) for key in _keys(references, source, place)]
                tables += _filled(references, source, node.func, known) if isinstance(node, ast.Call) else []
            put = [r.key for r in references.within(source, statement)] if tables else []
            yield from ((key, cls) for key in tables for cls in put if classes.get(cls) is not None)


def _filled(references: References, source: SourceFile, func: ast.expr, known: dict[ast.AST, list[str]]) -> list[str]:
    """The tables that a function which is called, perhaps by a call of it, stores something into."""
    called = func.func if isinstance(func, ast.Call) else func
    name = references.project.qualname(source, called) or ""
    found = references.project.definition(name)
    if found is None and isinstance(called, ast.Attribute):  # `@BLOCKS.register("dense")`: an object of a file
        return _keys(references, source, called.value)
    if found is None or not isinstance(found[1], ast.FunctionDef):
        return []
    home, function = found
    if function not in known:
        stored = {root_name(place) for node in subtree(function) for place in _filled_by(node)}
        known[function] = [r.key for r in references.within(home, function) if r.root.id in stored and r.key]
    return known[function]


def _keys(references: References, source: SourceFile, table: ast.expr) -> list[str]:
    return [r.key for r in references.within(source, table) if r.key]


def _filled_by(node: ast.AST) -> Iterator[ast.expr]:
    """`TABLE[kind]` of `TABLE[kind][name] = cls`, `TABLE` of `TABLE.append(cls)`."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
        yield node.func.value


def _reached(references: References, source: SourceFile, root: ast.AST, depth: int) -> Iterator[str]:
    """What code refers to, by itself and by the functions that it calls."""
    for reference in references.within(source, root):
        yield reference.key
        found = references.project.definition(reference.key) if depth else None
        if found is not None and isinstance(found[1], ast.FunctionDef):
            yield from _reached(references, *found, depth - 1)


__all__ = ["Tables"]
