"""Where a call stands: what is evaluated before it, and how often."""

from __future__ import annotations

import ast
import dataclasses

from ..source import SourceFile
from .bindings import is_pure
from .callees import NotInlined


@dataclasses.dataclass(frozen=True, eq=False)
class Place:
    """An expression (a call, a comprehension) of a method whose value statements ahead of its own may compute."""

    source: SourceFile
    method: ast.FunctionDef
    node: ast.expr
    statement: ast.stmt

    @property
    def whole(self) -> bool:
        """Is it all that its statement assigns, returns or evaluates?"""
        return getattr(self.statement, "value", None) is self.node

    @property
    def in_loop(self) -> bool:
        """Does it stand in a loop of the method?"""
        around = list(self.source.ancestors(self.statement))
        return any(isinstance(a, ast.For | ast.While) for a in around[: around.index(self.method)])

    def target(self) -> str:
        """The one name that its statement assigns it to."""
        statement = self.statement
        if isinstance(statement, ast.Assign) and self.whole and len(statement.targets) == 1:
            target = statement.targets[0]
            return target.id if isinstance(target, ast.Name) else ""
        return ""


def place_of(source: SourceFile, method: ast.FunctionDef, node: ast.expr) -> Place:
    """Raises NotInlined where statements before the statement of `node` would run at another time than `node` does."""
    statement = source.statement_of(node)
    functions = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)
    if next(a for a in source.ancestors(node) if isinstance(a, functions)) is not method:
        raise NotInlined("it is called in a function of the method")
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr | ast.For):
        raise NotInlined("it is called in a condition")
    line = source.text[source.line_start(source.span(statement).start) : source.span(statement).start]
    if line.strip() or not _ends_line(source, statement):
        raise NotInlined("its statement shares a line")
    inner: ast.AST = node
    for outer in source.ancestors(node):
        if outer is statement:
            break
        _check_step(outer, inner)
        inner = outer
    if isinstance(statement, ast.For) and inner is not statement.iter:
        raise NotInlined("it is called in a loop's head")
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and inner is not statement.value:
        raise NotInlined("it is called in what is assigned to")
    return Place(source, method, node, statement)


def _ends_line(source: SourceFile, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.For):
        return True
    end = source.span(statement).end
    rest = source.text[end : source.line_end(end)].strip()
    return not rest or rest.startswith("#")


def _check_step(outer: ast.AST, inner: ast.AST) -> None:
    """Is `inner` always evaluated where `outer` is, once, and after nothing that counts?"""
    if isinstance(outer, ast.Call):
        before = [outer.func, *outer.args, *[k.value for k in outer.keywords]]
        items = [outer.func, *outer.args, *outer.keywords]
        earlier = before[: items.index(inner)]  # type: ignore[arg-type]
    elif isinstance(outer, ast.Attribute | ast.Starred | ast.keyword | ast.UnaryOp):
        earlier = []
    elif isinstance(outer, ast.BinOp):
        earlier = [outer.left] if inner is outer.right else []
    elif isinstance(outer, ast.Subscript):
        earlier = [outer.value] if inner is outer.slice else []
    elif isinstance(outer, ast.Tuple | ast.List):
        earlier = outer.elts[: outer.elts.index(inner)]  # type: ignore[arg-type]
    elif isinstance(outer, ast.Dict):
        at = outer.values.index(inner) if inner in outer.values else -1  # type: ignore[arg-type]
        earlier = [n for n in [*outer.keys[: at + 1], *outer.values[:at]] if n is not None] if at >= 0 else [outer]
    else:
        earlier = [outer]  # type: ignore[list-item]
    if any(isinstance(n, ast.Starred) or not (is_pure(n) or isinstance(n, ast.Lambda)) for n in earlier):
        raise NotInlined("something else is computed before it")


__all__ = ["Place", "place_of"]
