"""Layers of flax.linen that are whole models outside of module classes: `nn.Sequential([Block(4), nn.relu]).init(key, x)`.

Such a layer has no class of its own that could become an NNX module: it stays Linen's, and so does what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source import SourceFile
from ..flow.function_calls import FunctionCalls, parameter

_USES = {"init", "apply", "init_with_output", "lazy_init", "bind", "tabulate"}


def layers(functions: FunctionCalls) -> Iterator[tuple[SourceFile, ast.Call, str]]:
    """The calls that make such a layer, with its dotted name."""
    project = functions.project
    for source in project.files.values():
        for call in source.by_kind.get(ast.Call, ()) if "linen" in source.words else ():
            made: ast.expr = call.func  # type: ignore[attr-defined]
            if project.qualname(source, made) == "functools.partial" and call.args:  # type: ignore[attr-defined]
                made = call.args[0]  # type: ignore[attr-defined]
            name = project.qualname(source, made) or ""
            layer = name.startswith("flax.linen.") and name.rpartition(".")[2][:1].isupper()
            if layer and call not in project.inside_modules and _whole(functions, source, call, set()):
                yield source, call, name


def _whole(functions: FunctionCalls, source: SourceFile, node: ast.expr, seen: set[ast.AST]) -> bool:
    """Is `init` or `apply` asked of a value: at once, under its name, as an attribute, or where a function returns it?"""
    if node in seen:
        return False
    seen.add(node)
    parent = source.parents[node]
    if isinstance(parent, ast.Attribute):
        return parent.attr in _USES
    if isinstance(parent, ast.Call) and parent.func is node:  # of a partial
        return _whole(functions, source, parent, seen)
    call = source.parents[parent] if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call):
        taker = functions.called(source, call)
        name = parameter(taker[1], call, parent if call is not parent else node) if taker is not None else None
        return taker is not None and name is not None and _is_asked(functions, taker[0], name, taker[1], seen)
    if isinstance(parent, ast.Return):
        home = next((p for p in source.ancestors(parent) if isinstance(p, ast.FunctionDef)), None)
        return home is not None and any(_whole(functions, *found, seen) for found in functions.found(source, home))
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if isinstance(target, ast.Name):
        return _is_asked(functions, source, target.id, source.names.binding_scope(target.id, target), seen)
    if not isinstance(target, ast.Attribute):
        return False
    files = [file for file in functions.project.files.values() if target.attr in file.words]
    asked = ((file, n) for file in files for n in file.saying(target.attr) if isinstance(n, ast.Attribute))
    return any(_whole(functions, file, n, seen) for file, n in asked if isinstance(file.parents[n], ast.Attribute))


def _is_asked(functions: FunctionCalls, source: SourceFile, name: str, scope: ast.AST | None, seen: set[ast.AST]) -> bool:
    """The same of a name of a function, or of the module."""
    loads = (n for n in source.saying(name) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return any(_whole(functions, source, n, seen) for n in loads if source.names.binding_scope(name, n) is scope)


__all__ = ["layers"]
