"""Where functions read what they are handed: `total(self.sizes)` reads `self.sizes` wherever `total` reads its parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import said, subtree

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_DEEPEST = 3  # calls within calls that are followed
Read = tuple[ast.expr, SourceFile]


def everywhere(writer: ClassWriter, node: ast.expr, source: SourceFile, depth: int = _DEEPEST) -> Iterator[Read]:
    """A read, and the reads of the parameter that it is handed to, in functions of the project and methods of the class."""
    yield node, source
    parent = source.parents.get(node)
    keyword = parent if isinstance(parent, ast.keyword) else None
    call = source.parents.get(keyword) if keyword is not None else parent
    if not isinstance(call, ast.Call) or call.func is node or not depth:
        return
    found = _function(writer, call, source)
    if found is None:
        return
    function, there, bound = found
    name = keyword.arg if keyword is not None else _positional(function, call, node, bound)
    for one in subtree(function) if name else ():
        if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load):
            yield from everywhere(writer, one, there, depth - 1)


def items(node: ast.expr, source: SourceFile) -> Iterator[ast.expr]:
    """Where the items of what is read are read: `sizes[0]`, and `size` of `for size in sizes`."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.slice, ast.Slice):
        yield parent
    if isinstance(parent, ast.Assign) and parent.value is node:  # `height, width = self.size`
        taken = {e.id for t in parent.targets if isinstance(t, ast.Tuple) for e in t.elts if isinstance(e, ast.Name)}
        around = source.function_of(parent)
        for one in subtree(around) if taken and around is not None else ():
            if isinstance(one, ast.Name) and one.id in taken and isinstance(one.ctx, ast.Load):
                yield one
    outer = parent
    if isinstance(parent, ast.Call) and said(parent.func) in ("enumerate", "zip", "reversed"):
        outer = source.parents.get(parent)
    if isinstance(outer, ast.For | ast.AsyncFor):
        target, scope = outer.target, outer
    elif isinstance(outer, ast.comprehension):
        target, scope = outer.target, source.parents.get(outer)  # type: ignore[assignment]
    else:
        return
    if isinstance(parent, ast.Call) and isinstance(target, ast.Tuple | ast.List):
        named = said(parent.func)
        at = 1 if named == "enumerate" else parent.args.index(node) if named == "zip" and node in parent.args else 0
        target = target.elts[at] if at < len(target.elts) else target
    if isinstance(target, ast.Name):
        for one in subtree(scope):
            if isinstance(one, ast.Name) and one.id == target.id and isinstance(one.ctx, ast.Load):
                yield one


def _function(writer: ClassWriter, call: ast.Call, source: SourceFile) -> tuple[ast.FunctionDef, SourceFile, bool] | None:
    """The function that a call calls, its file, and whether it is a method of self."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        for model in writer.run.analyser.classes.lineage(writer.model.qualname):
            method = model.own_methods.get(func.attr)
            if method is not None:
                return method.node, method.source, "staticmethod" not in method.decorators
        return None
    name = writer.run.project.qualname(source, func)
    found = writer.run.project.definition(name) if name else None
    if found is not None and isinstance(found[1], ast.FunctionDef):
        return found[1], found[0], False
    inner = [f for f in source.by_kind.get(ast.FunctionDef, ()) if isinstance(func, ast.Name) and f.name == func.id]  # type: ignore[attr-defined]
    return (inner[0], source, False) if len(inner) == 1 and isinstance(inner[0], ast.FunctionDef) else None


def _positional(function: ast.FunctionDef, call: ast.Call, node: ast.expr, bound: bool) -> str | None:
    parameters = [*function.args.posonlyargs, *function.args.args][bound:]
    for argument, parameter in zip(call.args, parameters):
        if argument is node:
            return parameter.arg
        if isinstance(argument, ast.Starred):
            return None
    return None
