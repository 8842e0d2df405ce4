"""Functions that make modules and that another one hands on: `return BLOCKS[kind]`, `def apply(x): ...`, `return apply`.

Where what such a function gives is lost on the way, its modules are, too.
"""

from __future__ import annotations

import ast
import weakref
from typing import TYPE_CHECKING

from ...linen.modules.made_by_text import makes_modules
from ...linen.project.index import Project
from ...linen.values.sites import Unmigratable
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import short
from . import tables_of_makers

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

_Found = tuple[list[ast.FunctionDef], list[tuple[ast.Name, ast.AST]]]
_known: weakref.WeakKeyDictionary[Project, dict[ast.AST, _Found]] = weakref.WeakKeyDictionary()


def refuse(text: ClassText) -> None:
    """Raises Unmigratable where a function that was followed has others that make modules, and none of them was."""
    project, executed = text.run.project, text.run.executed
    known = _known.setdefault(project, {})
    for function, source in list(executed.items()):
        if not isinstance(function, ast.FunctionDef) or any(isinstance(a, ast.ClassDef) for a in source.ancestors(function)):
            continue
        if function not in known:
            known[function] = _found(project, source, function)
        inner, held = known[function]
        if inner and not any(maker in executed for maker in inner):
            raise Unmigratable("NNX135", f"`{inner[0].name}` makes submodules where it is not followed", inner[0])
        for read, maker in held:
            if maker not in executed:
                what = f"`{short(read)}` holds functions that make modules, and which of them is called is not known"
                raise Unmigratable("NNX138", what, read)


def _found(project: Project, source: SourceFile, function: ast.FunctionDef) -> _Found:
    """The functions within one that make modules, and those in tables that it reads."""
    nodes = [n for n in subtree(function) if n is not function]
    inner = [n for n in nodes if isinstance(n, ast.FunctionDef) and makes_modules(project, source, n, set())]
    held: list[tuple[ast.Name, ast.AST]] = []
    for read in nodes:
        if not isinstance(read, ast.Name) or not isinstance(read.ctx, ast.Load):
            continue
        makers = tables_of_makers.functions(project, source, read) if tables_of_makers.is_called(source, read) else ()
        held += [(read, maker) for home, maker in makers if makes_modules(project, home, maker, set())]
    return inner, held


__all__ = ["refuse"]
