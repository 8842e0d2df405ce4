"""Local names that hold one thing and then another, told apart by where they stand.

    runner_state = (train_state, env_state, key)
    runner_state, metrics = jax.lax.scan(update, (runner_state, 0), None, 10)
    train_state = runner_state[0][0]

The flow of values gives a name one value. Where what it is given does not go together, and all of it is assigned one
statement below the other in a function's own block, each assignment has a symbol of its own: uses further down mean it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...source import SourceFile
from .flow_values import ANY, Items, Method, Model, Nothing, Symbol, Tracked, Value

if TYPE_CHECKING:
    from .flow import Flow


def clash(held: Value | None, given: Value | None, joined: Value | None) -> bool:
    """Do two values of a name not go together, of which one is made from a model?"""
    if held is None or given is None or ANY in (held, given) or isinstance(held, Nothing) or isinstance(given, Nothing):
        return False
    if joined == ANY:
        return _made(held) or _made(given)
    if isinstance(held, Tracked) and isinstance(given, Tracked) and not isinstance(given, Method):
        return held.sites.isdisjoint(given.sites)  # gradients of the generator, and then those of the discriminator
    if not (isinstance(held, Items) and isinstance(given, Items) and isinstance(joined, Items)):
        return False
    return any(map(clash, held.items, given.items, joined.items))


def unknown(held: Value | None, given: Value) -> bool:
    """Is a name given a tree, and something that nobody knows?"""
    if held is None or (held == ANY) == (given == ANY):
        return False
    return any(isinstance(value, Tracked) and _made(value) for value in (held, given))


def _made(value: Value) -> bool:
    if isinstance(value, Items):
        return any(map(_made, value.items))
    return isinstance(value, Tracked) and not isinstance(value, Model | Method)


def is_later(symbol: Symbol) -> bool:
    """Is it a name as it is from its second assignment on?"""
    return "'" in symbol[2]


def bare(symbol: Symbol) -> str:
    """The name as the text says it."""
    return symbol[2].partition("'")[0]


def find(flow: Flow, symbols: Iterable[Symbol]) -> dict[ast.AST, str]:
    """What such names are called in symbols, where that is not their own: by occurrence."""
    found: dict[ast.AST, str] = {}
    for module, scope, name in symbols:
        if name.startswith("self.") or isinstance(scope, ast.ClassDef | ast.Lambda):
            continue
        if isinstance(scope, ast.FunctionDef) or (scope is None and not _is_imported(flow, module)):
            found.update(_occurrences(flow, module, scope, name))
    return found


def _is_imported(flow: Flow, module: str) -> bool:
    """Does another file say the module, or what it has?"""
    for name, source in flow.project.files.items():
        said = [*source.names.imports.values(), *source.names.star_imports]
        if name != module and any(f"{flow.project.canonical(target)}.".startswith(f"{module}.") for target in said):
            return True
    return False


def _block(source: SourceFile, scope: ast.FunctionDef | None) -> list[ast.stmt]:
    """The statements of a function, or of a script with those of its `if __name__ == "__main__":`."""
    if scope is not None:
        return scope.body
    found: list[ast.stmt] = []
    for statement in source.tree.body:
        main = isinstance(statement, ast.If) and not statement.orelse and "'__name__'" in ast.dump(statement.test)
        found += statement.body if main and isinstance(statement, ast.If) else [statement]
    return found


def _occurrences(flow: Flow, module: str, scope: ast.FunctionDef | None, name: str) -> dict[ast.AST, str]:
    source = flow.project.files[module]
    block = {statement: index for index, statement in enumerate(_block(source, scope))}
    places: list[tuple[int, ast.Name]] = []
    if name in source.names.imports:
        return {}
    for binder in source.names.binders(name):
        if source.names.bound_by(binder) is scope and not isinstance(binder, ast.Name | ast.arg):
            return {}
    for node in source.by_kind.get(ast.Name, ()):
        if not isinstance(node, ast.Name) or node.id != name or source.names.binding_scope(name, node) is not scope:
            continue
        child: ast.AST = node
        while child not in block and child in source.parents:
            child = source.parents[child]
        if source.names.scope_of(node) is not scope or child not in block:
            return {}  # another function reads it, whenever that runs
        if not isinstance(node.ctx, ast.Load) and not _assigned(child, node):
            return {}
        places.append((block[child], node))  # type: ignore[index]
    arguments = scope.args if scope is not None else ast.arguments([], [], None, [], [], None, [])
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    stores = sorted(index for index, node in places if not isinstance(node.ctx, ast.Load))
    outer = [*source.by_kind.get(ast.Global, ()), *source.by_kind.get(ast.Nonlocal, ())]
    if len(set(stores)) < len(stores) or any(name in n.names for n in outer):  # type: ignore[attr-defined]
        return {}
    starts = stores if any(a is not None and a.arg == name for a in given) else stores[1:]
    found: dict[ast.AST, str] = {}
    for index, node in places:
        later = sum(start < index or (start == index and not isinstance(node.ctx, ast.Load)) for start in starts)
        if later:
            found[node] = f"{name}'{later}"
    return found


def _assigned(statement: ast.AST, name: ast.Name) -> bool:
    """Is the name a target of the statement, by itself or in a tuple?"""
    if isinstance(statement, ast.AnnAssign):
        return statement.target is name and statement.value is not None
    todo: list[ast.AST] = list(statement.targets) if isinstance(statement, ast.Assign) else []
    while todo:
        target = todo.pop()
        if target is name:
            return True
        if isinstance(target, ast.Tuple | ast.List):
            todo += target.elts
    return False
