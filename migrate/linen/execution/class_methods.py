"""Class methods of classes that are no modules: do they make modules for the module that calls them?

    class Ops:
      @classmethod
      def create(cls, x):
        return Bounds(name='bounds')(x)

Static methods and methods of objects are followed (`plain_objects`). Class methods are not: what they make, by themselves
and by what they call by name, keeps whoever calls them Linen, unless their text can stand there (`inlining`).
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..modules.made_by_text import kind_of, makes_modules, method_of
from ..project.index import Project
from ..values.sites import Unmigratable


@dataclasses.dataclass
class Memo:
    """What the code of a project was found to say, once."""

    makes: dict[str, bool] = dataclasses.field(default_factory=dict)  # does a function that is called make modules so?
    made: dict[str, str] | None = None  # modules → what makes them so


def check(run: Any, qualname: str, node: ast.Call) -> None:
    """Raises Unmigratable where what is called makes modules so."""
    known = run.analyser.class_methods.makes
    if qualname not in known:
        found = method_of(run.project, qualname)
        known[qualname] = False
        if found is not None and kind_of(found[1]) == "classmethod":  # static methods are followed
            known[qualname] = makes_modules(run.project, found[0], found[1], set(), owner=found[2])
    if known[qualname]:
        what = f"`{ast.unparse(node.func)}` makes submodules for the module that calls it, in a class method of what is none"
        raise Unmigratable("NNX135", what, node)


def refuse(analyser: Any, qualname: str, node: ast.AST) -> None:
    """Raises Unmigratable for a module that a class method makes so: where that is called, Linen knows the module around."""
    memo: Memo = analyser.class_methods
    if memo.made is None:
        memo.made = _made(analyser.classes.project)
    place = memo.made.get(qualname)
    if place is not None:
        what = f"`{place}`, of a class that is no module, makes it for the module that calls that"
        raise Unmigratable("NNX135", what, node)


def _made(project: Project) -> dict[str, str]:
    """The modules that class methods make and call, each with one such method."""
    found: dict[str, str] = {}
    for source in project.files.values():
        for owner in source.by_kind.get(ast.ClassDef, ()):
            assert isinstance(owner, ast.ClassDef)
            if owner in project.linen_names:
                continue
            for function in owner.body:
                if not isinstance(function, ast.FunctionDef) or kind_of(function) != "classmethod":
                    continue
                calls = [n for n in subtree(function) if isinstance(n, ast.Call)]
                names = [name for call in calls if (name := _constructed(project, source, function, call.func))]
                # Of one that is not called the text stands where it was, or nothing here calls it.
                for name in names if names and is_called(project, function, set()) else ():
                    found.setdefault(name, f"{owner.name}.{function.name}")
    return found


def is_called(project: Project, function: ast.FunctionDef, seen: set[ast.AST]) -> bool:
    """May code of the project run a function: does anything say its name but functions of which nothing does?"""
    seen.add(function)
    for other in project.files_saying(function.name):
        for node in other.nodes:
            said = isinstance(node, ast.Attribute) and node.attr == function.name
            said = said or (isinstance(node, ast.Constant) and node.value == function.name)
            said = said or (isinstance(node, ast.Name) and node.id == function.name and isinstance(node.ctx, ast.Load))
            if not said:
                continue
            around = [a for a in other.ancestors(node) if isinstance(a, ast.FunctionDef)]
            outer = around[-1] if around else None
            owner = other.parents[outer] if outer is not None else None
            if outer is None or not (isinstance(owner, ast.Module) or kind_of(outer) == "classmethod"):
                return True
            if outer not in seen and is_called(project, outer, seen):
                return True
    return False


def _constructed(project: Project, source: SourceFile, function: ast.FunctionDef, func: ast.expr) -> str:
    """The module that is called where the function has constructed it: `Bounds(8)(x)`, `bounds = Bounds(8); bounds(x)`."""
    if isinstance(func, ast.Call):
        return _module(project, source, func.func)
    if not isinstance(func, ast.Name):
        return ""
    made = [
        n.value.func
        for n in subtree(function)
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)
        and any(isinstance(t, ast.Name) and t.id == func.id for t in n.targets)
    ]  # fmt: skip
    return next(filter(None, (_module(project, source, head) for head in made)), "")


def _module(project: Project, source: SourceFile, node: ast.expr) -> str:
    name = project.qualname(source, node) or ""
    return name if name in project.linen_classes else ""


__all__ = ["Memo", "check", "is_called", "refuse"]
