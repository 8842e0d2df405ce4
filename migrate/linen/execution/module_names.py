"""Names of a file that several of its statements bind: `if BIG: Norm = nn.BatchNorm`, `else: Norm = nn.LayerNorm`.

What such a name means depends on the code that ran. Sizes of that name are said by the name; what makes modules is not
followed, as one class would be written for all that it may be.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any

from ...catalog import layers
from ...names import value_given
from ...source import SourceFile
from ..modules import made_by_text
from ..values.sites import Unmigratable


def values(source: SourceFile, name: str) -> Iterator[ast.expr | None]:
    """The values that the file's own statements give to one of its names, in their order."""
    return (value_given(statement, name) for statement in source.binding(name))


def is_one_function(run: Any, source: SourceFile, function: ast.FunctionDef, node: ast.AST) -> bool:
    """Is a name always this function? Of several in a row, as types are overloaded, it is the last one.

    Raises Unmigratable where it may be others, too, and one of them makes modules.
    """
    binding = source.binding(function.name)
    if len(binding) == 1 or all(isinstance(source.parents[statement], ast.Module) for statement in binding):
        return True
    if any(made_by_text.makes_modules(run.project, source, f, set()) for f in binding if isinstance(f, ast.FunctionDef)):
        raise depends(function.name, node)
    return False


def is_one_import(run: Any, source: SourceFile, node: ast.expr) -> bool:
    """Is what a name was imported as always the same, as far as the project has it?

    Raises Unmigratable where it may be several things, and one of them makes modules.
    """
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or not source.names.alternatives:
        return True
    meant = run.project.alternatives(source, root, ast.unparse(node).removeprefix(root.id))
    found = [defined for name in meant if (defined := run.project.definition(name)) is not None]
    if len(found) < 2:
        return True
    functions = [(home, f) for home, f in found if isinstance(f, ast.FunctionDef)]
    makers = (made_by_text.makes_modules(run.project, home, f, set()) for home, f in functions)
    if any(is_maker(run, name) for name in meant) or any(makers):
        raise depends(ast.unparse(node), node)
    return False


def is_maker(run: Any, name: str) -> bool:
    """Is it, by its dotted name, a layer of Linen or a class of modules of the project?"""
    name = run.project.canonical(name)
    return name in run.project.linen_classes or (name.startswith("flax.linen.") and layers.lookup(name) is not None)


_BINDING = frozenset({"exec", "globals", "vars", "locals", "__dict__", "builtins", "__builtins__"})  # by no statement


def refuse_unbound(source: SourceFile, node: ast.Name) -> None:
    """Raises Unmigratable for the name of a function that nothing in the file binds, but for its `exec` or `globals()`."""
    names, name = source.names, node.id
    if source.words.isdisjoint(_BINDING):
        return  # calling it raises NameError, before and after
    known = name in names.imports or name in names.star_names or hasattr(builtins, name) or names.binders(name)
    if not known and not names.star_imports:
        raise Unmigratable("NNX138", f"`{name}` is called, which no code here binds: it may make modules", node)


def depends(name: str, node: ast.AST) -> Unmigratable:
    """The stop for a name of which only running the file tells what it makes."""
    reason = f"`{name}` is given what makes modules, and more than that: which it is depends on the code that ran"
    return Unmigratable("NNX138", reason, node)


__all__ = ["depends", "is_maker", "is_one_function", "is_one_import", "refuse_unbound", "values"]
