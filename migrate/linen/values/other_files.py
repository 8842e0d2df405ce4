"""Names of another file in the text of a size: `WIDTHS[self.size]`, where `WIDTHS` is a table of the base's file.

Such text says where they are defined, behind a name that nothing has: `__of__.base.WIDTHS[self.size]`. The constructor that
it ends up in says what its own file calls that. Names of the function around a class mean nothing outside of it, and
nothing can say them there.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Set
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree
from .dims import Atom, Dim

if TYPE_CHECKING:
    from ..project.index import Project

OF = "__of__"
LIBRARIES = ("jax", "numpy", "math", "functools", "operator", "typing", "collections", "itertools", "einops")
SAID = re.compile(rf"\b{OF}((?:\.\w+)+)")


#: Where text stands, or is to stand: a file, and the class or expression there.
Place = tuple[SourceFile, ast.AST]


def marked(project: Project, where: Place, own: Place, tree: ast.expr, is_local: Callable[[str], bool]) -> ast.expr:
    """An expression that stands at `where`, of which the text is parsed anew, for a class at `own`."""
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            if node.id in bound or is_local(node.id):
                return node
            dotted, mine = _dotted(project, where, node.id), _dotted(project, own, node.id)
            if dotted == mine:
                return node
            return ast.parse(f"{OF}.{dotted}", mode="eval").body

    changed: ast.expr = Names().visit(tree)
    return changed


def marking(project: Project, where: Place, own: Place) -> Callable[[Atom], Dim | None]:
    """What `Dim.substitute` makes of the sizes of a class at `where`, for one at `own`."""

    def change(atom: Atom) -> Dim | None:
        if atom.kind not in ("opaque", "cond") or atom.args[0].startswith("\0"):
            return None
        tree = ast.parse(str(atom.args[0]), mode="eval").body
        said = ast.unparse(marked(project, where, own, tree, lambda name: name == "self" or name in atom.deps))
        return Dim((((Atom(atom.kind, (said, *atom.args[1:]), atom.deps),), 1),)) if said != atom.args[0] else None

    return change


def _dotted(project: Project, where: Place, name: str) -> str:
    """Where what a place calls `name` is defined: `builtins.max`, too. Of what methods import for themselves, or a
    function around a class has, that says nothing that another place has.
    """
    source, node = where
    names = source.names
    around = names.binding_scope(name, node)
    if around is not None:
        return f"__function__.{source.module.replace('.', '_')}_{getattr(around, 'lineno', 0)}.{name}"
    if names.imported_inside(name):
        return f"__method__.{name}"
    imported = names.module_imports.get(name) or names.star_names.get(name)
    if imported is not None and name not in names.definitions:
        return project.canonical(imported)
    known = any(names.bound_by(binder) is None for binder in names.binders(name))
    return f"{source.module or '__main__'}.{name}" if known else f"builtins.{name}"


def of_functions_around(source: SourceFile, node: ast.expr, own: ast.ClassDef) -> bool:
    """Does an expression of another class say a name that the function around that class has, and this class does not?"""
    names = source.names
    for name in subtree(node):
        if not isinstance(name, ast.Name) or name.id not in names.local_names:
            continue
        scope = names.binding_scope(name.id, name)
        if scope is None or scope is names.binding_scope(name.id, own):
            continue
        inner = next(outer for outer in source.ancestors(name) if outer is scope or isinstance(outer, ast.ClassDef))
        if inner is not scope:
            return True
    return False


def is_builtin(project: Project, own: SourceFile, name: str) -> bool:
    """Does a file call by this name what Python itself calls so?"""
    return hasattr(builtins, name) and _dotted(project, (own, own.tree), name) == f"builtins.{name}"


def name_in(project: Project, own: SourceFile, dotted: str) -> str | None:
    """What a file calls what is defined at `dotted`, in the project; None where nothing does that is sure to be there."""
    names, rest = own.names, list[str]()
    while dotted and not (rest and _is_hidden(project, dotted)):
        module, _, last = dotted.rpartition(".")
        if module == own.module and last in names.definitions:
            return ".".join([last, *rest])
        for local, target in (*names.module_imports.items(), *names.star_names.items()):
            if local not in names.definitions and project.canonical(target) == dotted and not names.imported_inside(local):
                return ".".join([local, *rest])
        through = _through(project, own, dotted)
        if through is not None:
            return ".".join([through, *rest])
        dotted = module
        rest.insert(0, last)
    return None


def all_named(project: Project, own: SourceFile, tree: ast.expr, hidden: Set[str]) -> bool:
    """Has the file a name for all that marked text says, which a class there does not have for something else (`hidden`)?"""
    said = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {"self"}
    if not said.isdisjoint(hidden) or any(own.names.imported_inside(name) for name in said):
        return False
    found = [match[1][1:] for match in SAID.finditer(ast.unparse(tree))]
    names = [name_in(project, own, name) for name in found if name.partition(".")[0] not in LIBRARIES]
    return all(name is not None and name.partition(".")[0] not in hidden for name in names)


def _is_hidden(project: Project, module: str) -> bool:
    """Does a package have something else by the name of one of its modules: `from .block import block`?"""
    return module in project.files and project.canonical(module) != module


def _through(project: Project, own: SourceFile, name: str) -> str | None:
    """A module, or a function of one, that the file does not import, by way of a module that it does: `attention.layers`."""
    names = own.names
    for local, target in names.module_imports.items():
        between = project.files.get(project.canonical(target))
        if local in names.definitions or between is None or between is own:
            continue
        for inner, found in between.names.module_imports.items():
            if inner in between.names.definitions or project.canonical(found) != name:
                continue
            if name in project.files or project.definition(name) is not None:
                return f"{local}.{inner}"
    return None


__all__ = [
    "LIBRARIES",
    "OF",
    "SAID",
    "Place",
    "all_named",
    "is_builtin",
    "marked",
    "marking",
    "name_in",
    "of_functions_around",
]
