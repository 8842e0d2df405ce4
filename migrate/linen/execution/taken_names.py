"""Names of a function that is followed which its caller has, too: the constructor has one variable for both.

Where the caller does not read its own any more, the function's may take the place:

    def __call__(self, x):                      axes = (-1,)
        axes = (-1,)                            axes = canonical(len(in_shape), axes)
        return self.scaled(x, axes)

    def scaled(self, x, axes):
        axes = canonical(x.ndim, axes)
"""

from __future__ import annotations

import ast

from ...source import SourceFile
from ...trees import subtree
from ..values.environment import Env
from ..values.merging import dependencies_of
from ..values.values import Int

_LATER = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def is_taken(env: Env, name: str) -> bool:
    """Does the constructor have another variable of this name, which it needs?"""
    if not env.is_taken(name):
        return False
    inner: Env | None = env
    while inner is not None:
        if inner.parent is not None and (inner.parent.is_local(name) or inner.parent.is_taken(name)):
            return True
        if inner.caller is not None and inner.caller.is_local(name) and not _is_over(inner, name):
            return True
        if any(name in said.needs for key, said in inner.substituted.items() if key != name):
            return True
        inner = inner.caller
        if inner is not None and any(_says(held.value, name) for key, held in inner.names.items() if key != name):
            return True
    return False


def _says(value: object, name: str) -> bool:
    """Is a value said in the words of a name, other than as a size, which is saved before the name changes?"""
    return not isinstance(value, Int) and name in dependencies_of(value)  # type: ignore[arg-type]


def _is_over(inner: Env, name: str) -> bool:
    """Does the caller not read the name behind the call?"""
    call, source = inner.call, inner.caller.source if inner.caller is not None else None
    function = source.function_of(call) if source is not None and call is not None and call in source.parents else None
    if function is None or call is None or source is None:
        return False
    end = source.span(call).end
    for above in source.ancestors(call):
        if above is function:
            break
        if isinstance(above, (*_LATER, ast.FunctionDef)):
            return False
    return not any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and (source.span(node).start >= end or _is_kept(source, node, function))
        for node in subtree(function)
    )


def _is_kept(source: SourceFile, node: ast.AST, function: ast.AST) -> bool:
    """Does it stand in a function within the function, which may be called later?"""
    for above in source.ancestors(node):
        if above is function:
            return False
        if isinstance(above, ast.FunctionDef | ast.Lambda):
            return True
    return False


__all__ = ["is_taken"]
