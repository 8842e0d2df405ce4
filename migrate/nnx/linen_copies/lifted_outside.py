"""Classes that functions lift for code outside of modules: `ensemblize(Critic, 2)(sizes)`, which is an `nn.vmap` of it.

What such a function returns is Linen's, so that it is given Linen copies of the classes.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from ...linen.flow.function_calls import FunctionCalls, parameters
from ...linen.lifted.lifted_aliases import lifted_kind
from ...linen.lifted.lifting import LIFTED
from ...linen.project.index import Project
from ...source import SourceFile

_WORDS = {name.rpartition(".")[2] for name in LIFTED}


@dataclasses.dataclass(frozen=True)
class Lifting:
    """An argument of a function that lifts what it is given."""

    source: SourceFile
    argument: ast.expr
    function: str
    transform: str


def find(project: Project, functions: FunctionCalls) -> Iterator[Lifting]:
    """What code outside of modules gives to functions of the project that lift it, also by way of other functions."""
    for source in project.files.values():
        for call in source.by_kind.get(ast.Call, ()) if not _WORDS.isdisjoint(source.words) else ():
            assert isinstance(call, ast.Call)
            if call in project.inside_modules or not lifted_kind(project, source, call):
                continue
            for argument in [*call.args, *[k.value for k in call.keywords]]:
                for where, given, function in _given(functions, source, argument):
                    yield Lifting(where, given, function.name, ast.unparse(call.func))


def _given(
    functions: FunctionCalls, source: SourceFile, argument: ast.expr
) -> Iterator[tuple[SourceFile, ast.expr, ast.FunctionDef]]:
    """What the calls of a function outside of modules give to the parameter that an expression is."""
    seen: set[ast.AST] = set()
    queue = [(source, argument)]
    while queue:
        where, node = queue.pop()
        scope = where.names.binding_scope(node.id, node) if isinstance(node, ast.Name) else None
        if not isinstance(scope, ast.FunctionDef) or node.id not in parameters(scope):  # type: ignore[attr-defined]
            continue
        for home, given in functions.given(where, scope, node.id):  # type: ignore[attr-defined]
            if given not in seen and not _for_modules(functions, home, given, set()):
                seen.add(given)
                queue.append((home, given))
                yield home, given, scope


def _for_modules(functions: FunctionCalls, source: SourceFile, node: ast.AST, seen: set[ast.AST]) -> bool:
    """Is it the code of a module, or of a function that one calls? Such code is followed for the module."""
    if node in functions.project.inside_modules:
        return True
    for around in source.ancestors(node):
        if isinstance(around, ast.FunctionDef) and around not in seen:
            seen.add(around)
            if any(_for_modules(functions, where, call, seen) for where, call in functions.found(source, around)):
                return True
    return False


__all__ = ["Lifting", "find"]
