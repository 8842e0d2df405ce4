"""Layers of flax.linen that are whole models outside of module classes: `nn.Sequential([Block(4), nn.relu]).init(key, x)`.

Such a layer has no class of its own that could become an NNX module: it stays Linen's, and so does what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source import SourceFile
from ..flow.function_calls import FunctionCalls

_USES = {"init", "apply", "init_with_output", "lazy_init", "bind", "tabulate"}


def layers(functions: FunctionCalls) -> Iterator[tuple[SourceFile, ast.Call, str]]:
    """The calls that make such a layer, with its dotted name."""
    project = functions.project
    for source in project.files.values():
        for call in source.by_kind.get(ast.Call, ()) if "linen" in source.words else ():
            name = project.qualname(source, call.func) or ""  # type: ignore[attr-defined]
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
    if isinstance(parent, ast.Return):
        home = next((p for p in source.ancestors(parent) if isinstance(p, ast.FunctionDef)), None)
        return home is not None and any(_whole(functions, *found, seen) for found in functions.found(source, home))
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if isinstance(target, ast.Name):
        scope = source.names.binding_scope(target.id, target)
        loads = (n for n in source.saying(target.id) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        return any(_whole(functions, source, n, seen) for n in loads if source.names.binding_scope(target.id, n) is scope)
    if not isinstance(target, ast.Attribute):
        return False
    files = [file for file in functions.project.files.values() if target.attr in file.words]
    asked = ((file, n) for file in files for n in file.saying(target.attr) if isinstance(n, ast.Attribute))
    return any(_whole(functions, file, n, seen) for file, n in asked if isinstance(file.parents[n], ast.Attribute))


__all__ = ["layers"]
