"""`__post_init__` that checks fields: the written constructor calls it once the fields are stored."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..edits import Parts
from ..linen.classes import Method
from ..linen.sites import Unmigratable
from ..trees import subtree

if TYPE_CHECKING:
    from .class_write import ClassWriter

_SPEAKS = ("warnings.warn", "logging.", "absl.logging.", "print")


def lines(writer: ClassWriter) -> list[Parts]:
    """The constructor's call of it, if it is there; raises Unmigratable where it does more than to check."""
    model = writer.model
    for owner in model.mro():
        method = owner.own_methods.get("__post_init__")
        if method is not None:
            _check(writer, method, method.node.body)
    found = model.method("__post_init__")
    if found is None or all(_is_nothing(s) for s in found.node.body):
        return []
    return [("self.__post_init__()",)]


def edits(writer: ClassWriter) -> None:
    """Linen's own goes; with it the method, where it does nothing else."""
    method = writer.model.own_methods.get("__post_init__")
    if method is None or writer.model.method("__post_init__", after=writer.model) is not None:
        return
    source, body = method.source, method.node.body
    rest = [s for s in body if not _is_nothing(s)]
    for statement in body if rest else ():
        if _is_super(statement):
            writer.remove(source, source.line_span(statement))
    if rest:
        return
    if len([s for s in writer.model.node.body if s is not method.node]) == 0:
        raise Unmigratable("NNX173", "the class has nothing but a __post_init__", method.node)
    end = source.line_span(method.node).end
    after = source.text[end : source.text.find("\n", end) + 1]
    if after and not after.strip():  # the blank line below goes with it
        end += len(after)
    span = source.full_span(method.node)
    writer.remove(source, type(span)(source.line_start(span.start), end))


def _is_super(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and ast.unparse(statement.value) in (
        "super().__post_init__()",
        "nn.Module.__post_init__(self)",
    )


def _is_nothing(statement: ast.stmt) -> bool:
    plain = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return plain or isinstance(statement, ast.Pass) or _is_super(statement)


def _check(writer: ClassWriter, method: Method, body: Sequence[ast.stmt]) -> None:
    """Only questions, errors and warnings: what would change the module, or hand it on, is not followed."""
    for statement in body:
        if _is_nothing(statement):
            continue
        heads: list[ast.AST | None] = []
        if isinstance(statement, ast.If):
            heads = [statement.test]
            _check(writer, method, [*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Raise | ast.Assert):
            heads = [statement]
        elif isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
            heads = [statement.value]
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            called = ast.unparse(statement.value.func)
            name = writer.run.project.qualname(method.source, statement.value.func) or called
            root = called.partition(".")[0].partition("(")[0]
            outside = root.isidentifier() and root not in ("self", "super")  # `check(self.sizes)`: it gets no module
            checks = outside and writer.run.project.qualname(method.source, statement.value.func) is not None
            if checks or any(name == word or (word.endswith(".") and name.startswith(word)) for word in _SPEAKS):
                heads = [*statement.value.args, *statement.value.keywords]
        if not heads or not all(_asks_only(head) for head in heads if head is not None):
            raise Unmigratable("NNX173", f"its __post_init__ does more than to check (line {statement.lineno})", statement)


def _asks_only(root: ast.AST) -> bool:
    """Does code read fields, and neither hand the module on nor call its methods?"""
    read: set[ast.AST] = set()
    for node in subtree(root):
        if isinstance(node, ast.NamedExpr | ast.Lambda | ast.Await | ast.Yield):
            return False
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            read.add(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
                return False
    loose = [n for n in subtree(root) if isinstance(n, ast.Name) and n.id in ("self", "super") and n not in read]
    return not loose


__all__ = ["edits", "lines"]
