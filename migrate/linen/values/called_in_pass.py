"""Functions under a name of which a pass of a loop makes no more than layers that it calls at once.

    for i, width in enumerate(self.widths):
        bound = 1 / x.shape[-1] if i == 0 else self.scale
        init = lambda key, shape, dtype: jax.random.uniform(key, shape, dtype, -bound, bound)
        x = nn.Dense(width, kernel_init=init)(x)

The next pass gives `bound` another value, and `init`, too: no layer is made with a function of another pass.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ..project.index import Project

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def last_use(project: Project, source: SourceFile, method: ast.FunctionDef, function: ast.AST) -> ast.AST | None:
    """The last call of a layer that is given the function; None where something else may have it, or another pass."""
    statement = function if isinstance(function, ast.FunctionDef) else source.parents.get(function)
    if isinstance(statement, ast.FunctionDef):
        name = statement.name if not statement.decorator_list else ""
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
    block = source.parents.get(statement) if statement is not None else None
    if not name or not isinstance(block, _LOOPS) or statement not in block.body:
        return None
    uses: list[ast.AST] = []
    for node in subtree(method):
        if isinstance(node, ast.FunctionDef) and node is not statement and node.name == name:
            return None
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        if not isinstance(node.ctx, ast.Load):
            if source.parents.get(node) is not statement:
                return None
            continue
        if not is_given_to_call(project, source, node) or _innermost(source, node, method) is not block:
            return None
        uses.append(node)
    if not uses or any(_position(use) < _position(statement) for use in uses):
        return None
    return max((source.statement_of(use) for use in uses), key=_position)


def _innermost(source: SourceFile, node: ast.AST, method: ast.AST) -> ast.AST | None:
    """The loop around a node, with no function or comprehension in between."""
    for above in source.ancestors(node):
        if isinstance(above, _LOOPS):
            return above
        if above is method or isinstance(above, _INNER):
            return None
    return None


def _position(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def is_given_to_call(project: Project, source: SourceFile, given: ast.AST) -> bool:
    """Is it an argument of what a variable starts from, or of a layer that is called where it is made?"""
    around = source.parents.get(given)
    call = source.parents.get(around) if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call) or call.func is given:
        return False
    asked, outer = call.func, source.parents.get(call)
    own = isinstance(asked, ast.Attribute) and isinstance(asked.value, ast.Name) and asked.value.id == "self"
    of_self = isinstance(asked, ast.Attribute) and own and asked.attr in ("param", "variable")
    name = project.qualname(source, asked) or ast.unparse(asked)
    layer = name.rpartition(".")[2][:1].isupper()  # and no function that keeps it
    return of_self or (layer and isinstance(outer, ast.Call) and outer.func is call)


__all__ = ["is_given_to_call", "last_use"]
