"""What code outside of modules may hand to a class by way of variables, attributes of `self` and its functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...linen.flow.function_calls import FunctionCalls, parameters
from ...linen.outside.classes_outside import may_be_class
from ...linen.outside.given_outside import GROWING
from ...source import SourceFile
from ...trees import subtree


def behind(
    functions: FunctionCalls, source: SourceFile, argument: ast.expr, holds: Callable[[SourceFile, ast.expr], bool]
) -> Iterator[tuple[SourceFile, ast.expr]]:
    """What an argument may hold through the variables in it: `block = Block()`, then `Wrapper(block)`.

    Modules (`holds`), and classes that they are made of, are followed through the variables in these, too, what the calls of
    a function give it, what functions in a function return, and what is put into `self`. Classes alone are followed through
    the variables that nothing else reads: `base = partial(MLP, 8)`, `head = partial(Head, base=base)`, `Wrapper(head)`.
    """
    far = holds(source, argument)
    seen: set[ast.AST] = {argument}
    queue = [(source, argument)]
    while queue:
        where, value = queue.pop()
        nodes = [node for node in subtree(value) if far or value is argument or _is_read_once(where, node)]
        found = [pair for node in nodes for pair in _of_variable(functions if far else None, where, node)]
        for pair in found:
            of_classes = may_be_class(functions, *pair, holds)
            if pair[1] not in seen and (not far or holds(*pair) or of_classes):
                seen.add(pair[1])
                queue += [pair] if far or of_classes else []
                yield pair


def _is_read_once(source: SourceFile, node: ast.AST) -> bool:
    """Is it the one place that reads a variable of a function?"""
    if not isinstance(node, ast.Name) or not source.names.is_hidden(node.id, node):
        return False
    scope = source.names.binding_scope(node.id, node)
    said = (n for n in source.saying(node.id) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return sum(source.names.binding_scope(n.id, n) is scope for n in said) == 1


def _of_variable(
    functions: FunctionCalls | None, source: SourceFile, node: ast.AST
) -> Iterator[tuple[SourceFile, ast.expr]]:
    names = source.names
    if functions is not None and isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
        home = next((p for p in source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
        for target in subtree(home) if home is not None else ():
            if isinstance(target, ast.Attribute) and not isinstance(target.ctx, ast.Load) and target.attr == node.attr:
                yield from _put(source, target)
    if isinstance(node, ast.Name) and functions is not None and not names.is_hidden(node.id, node):
        for said in source.saying(node.id):  # what a file puts into a list of its own; what it assigns is a definition
            if isinstance(said, ast.Name) and isinstance(source.parents[said], ast.Attribute):
                yield from _put(source, said) if not names.is_hidden(said.id, said) else ()
    if not isinstance(node, ast.Name) or not names.is_hidden(node.id, node):
        return
    scope = names.binding_scope(node.id, node)
    for part in getattr(scope, "generators", ()) if functions is not None else ():
        if any(isinstance(n, ast.Name) and n.id == node.id for n in subtree(part.target)):
            yield source, part.iter
    if not isinstance(scope, ast.FunctionDef):
        return
    if functions is not None and node.id in parameters(scope):
        yield from functions.given(source, scope, node.id)
    for inner in subtree(scope):
        if isinstance(inner, ast.Name) and inner.id == node.id and names.binding_scope(node.id, inner) is scope:
            yield from _put(source, inner)
        elif (
            functions is not None
            and isinstance(inner, ast.FunctionDef)
            and inner.name == node.id
            and names.scope_of(inner) is scope
        ):
            for returned in subtree(inner):
                if isinstance(returned, ast.Return) and returned.value is not None:
                    yield source, returned.value


def _put(source: SourceFile, place: ast.expr) -> Iterator[tuple[SourceFile, ast.expr]]:
    """What a statement gives to a variable, or puts into it: `x = v`, `x["a"] = v`, `x.append(v)`."""
    target: ast.AST = place
    while isinstance(source.parents[target], ast.Subscript | ast.Starred | ast.Tuple | ast.List):
        target = source.parents[target]
    parent = source.parents[target]
    call = source.parents[parent] if isinstance(parent, ast.Attribute) else None
    if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and parent.value not in (None, target):
        yield source, parent.value  # type: ignore[misc]
    elif isinstance(parent, ast.For) and parent.target is target:
        yield source, parent.iter
    elif isinstance(call, ast.Call) and isinstance(parent, ast.Attribute) and parent.attr in GROWING:
        yield from ((source, value) for value in [*call.args, *[k.value for k in call.keywords]])


__all__ = ["behind"]
