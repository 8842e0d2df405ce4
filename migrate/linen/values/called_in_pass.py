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

from ...catalog import layers
from ...source import SourceFile
from ...trees import subtree
from .drawn_names import is_first_value

if TYPE_CHECKING:
    from ..project.index import Project

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def last_use(project: Project, source: SourceFile, method: ast.FunctionDef, function: ast.AST) -> ast.AST | None:
    """The last call of a layer that is given the function; None where something else may have it, or another pass."""
    statement, name = _named(source, function)
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


def _named(source: SourceFile, function: ast.AST) -> tuple[ast.AST | None, str]:
    """The statement that gives a function a name, and the name; "" where it has none of its own."""
    statement = function if isinstance(function, ast.FunctionDef) else source.parents.get(function)
    if isinstance(statement, ast.FunctionDef):
        return statement, statement.name if not statement.decorator_list else ""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return statement, targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def starts_by_name(project: Project, source: SourceFile, function: ast.AST) -> bool:
    """The same of a function that has a name: is it given to nothing else?"""
    if starts(project, source, function):
        return True
    statement, name = _named(source, function)
    scope = source.function_of(statement) if statement is not None and name else None
    nodes = [n for n in subtree(scope) if isinstance(n, ast.Name) and n.id == name] if scope is not None else []
    reads = [n for n in nodes if isinstance(n.ctx, ast.Load)]
    stored = 0 if isinstance(statement, ast.FunctionDef) else 1
    return bool(reads) and len(nodes) - len(reads) == stored and all(starts(project, source, n) for n in reads)


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
    """Is it what a variable starts from, or an argument that says this of a layer which is called where it is made?

    Anything else that a module is given it may keep, and call when it is called: in NNX behind the loop that made it.
    """
    call = _call_of(source, given)
    if call is None:
        return False
    outer = source.parents.get(call)
    called = isinstance(outer, ast.Call) and outer.func is call
    return starts(project, source, given) and (called or _is_variable(call.func))


def _call_of(source: SourceFile, given: ast.AST) -> ast.Call | None:
    """The call that something is an argument of."""
    around = source.parents.get(given)
    call = source.parents.get(around) if isinstance(around, ast.keyword) else around
    return call if isinstance(call, ast.Call) and call.func is not given else None


def _is_variable(asked: ast.expr) -> bool:
    own = isinstance(asked, ast.Attribute) and isinstance(asked.value, ast.Name) and asked.value.id == "self"
    return own and isinstance(asked, ast.Attribute) and asked.attr in ("param", "variable")


def starts(project: Project, source: SourceFile, given: ast.AST) -> bool:
    """Is it what a variable starts from, or an argument of a layer that says this and nothing else?"""
    call, around = _call_of(source, given), source.parents.get(given)
    if call is None:
        return False
    asked = call.func
    if _is_variable(asked):
        return True
    while isinstance(asked, ast.Call) and asked.args:  # `nn.remat(nn.Dense)`
        asked = asked.args[0]
    target = project.qualname(source, asked) or ""
    layer, info = layers.lookup(target), project.linen_classes.get(target)
    if info is not None:
        names = [s.target.id for s in info.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    else:
        names = [p.name for p in layer.parameters] if layer is not None else []
    if isinstance(around, ast.keyword):
        name = around.arg or ""
    else:
        place = next(i for i, a in enumerate(call.args) if a is given)
        starred = any(isinstance(a, ast.Starred) for a in call.args[: place + 1])
        name = names[place] if place < len(names) and not starred else ""
    if info is not None:
        return bool(name) and _only_starts(project, info.source, info.node, name)
    return layer is not None and is_first_value(target, name)


def _only_starts(project: Project, source: SourceFile, node: ast.ClassDef, name: str) -> bool:
    """Does a class give a field to layers, to start from, or to parameters of its own, and do nothing else with it?"""
    if any(isinstance(n, ast.Constant) and n.value == name for n in subtree(node)):
        return False
    reads = [n for n in subtree(node) if isinstance(n, ast.Attribute) and n.attr == name]
    for read in reads:
        around = source.parents.get(read)
        call = source.parents.get(around) if isinstance(around, ast.keyword) else around
        if not isinstance(call, ast.Call) or not isinstance(read.value, ast.Name) or read.value.id != "self":
            return False
        if isinstance(around, ast.keyword):
            target = project.qualname(source, call.func) or ""
            starts = layers.lookup(target) is not None and is_first_value(target, around.arg or "")
        else:
            starts = ast.unparse(call.func) == "self.param" and read in call.args[1:]
        if not starts:
            return False
    return bool(reads)


__all__ = ["is_given_to_call", "last_use", "starts_by_name"]
