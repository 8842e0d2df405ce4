"""Class methods of classes that are no modules: do they make modules for the module that calls them?

    class Ops:
      @classmethod
      def create(cls, x):
        return Bounds(name='bounds')(x)

Static methods and methods of objects are followed (`plain_objects`). Class methods are not: what is looked for is a module
that is called where it was constructed, in them and in what they call by name.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...source import SourceFile
from ...trees import subtree
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
        known[qualname] = _makes(run, qualname, set())
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
                if not isinstance(function, ast.FunctionDef) or not _is_class_method(function):
                    continue
                for call in subtree(function):
                    name = _constructed(project, source, function, call.func) if isinstance(call, ast.Call) else ""
                    if name:
                        found.setdefault(name, f"{owner.name}.{function.name}")
    return found


def _is_class_method(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(d) == "classmethod" for d in function.decorator_list)


def _makes(run: Any, qualname: str, seen: set[str]) -> bool:
    found = _function(run, qualname)
    if found is None or qualname in seen or len(seen) > 200:
        return False
    seen.add(qualname)
    source, function, owner = found
    calls = [n for n in subtree(function) if isinstance(n, ast.Call)]
    if owner and any(_constructed(run.project, source, function, call.func) for call in calls):
        return True
    return any(_makes(run, name, seen) for call in calls if (name := _called(run, source, call.func, owner)) is not None)


def _function(run: Any, qualname: str) -> tuple[SourceFile, ast.FunctionDef, str] | None:
    """A function of the project, or a class method with the class that has it."""
    known = run.project.definition(qualname)
    if known is not None:
        return (known[0], known[1], "") if isinstance(known[1], ast.FunctionDef) else None
    owner, _, name = qualname.rpartition(".")
    known = run.project.definition(owner) if owner and owner not in run.project.linen_classes else None
    if known is None or not isinstance(known[1], ast.ClassDef):
        return None
    for statement in known[1].body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return (known[0], statement, owner) if _is_class_method(statement) else None
    return None


def _called(run: Any, source: SourceFile, func: ast.expr, owner: str) -> str | None:
    if owner and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "cls":
        return f"{owner}.{func.attr}"
    return run.project.qualname(source, func)  # type: ignore[no-any-return]


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


__all__ = ["Memo", "check", "refuse"]
