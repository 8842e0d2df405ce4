"""Where a call stands: what is evaluated before it, and how often."""

from __future__ import annotations

import ast
import dataclasses
import itertools

from ..source import SourceFile
from .callees import NotInlined
from .pure import is_pure


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
        before = _earlier(outer, inner)
        if before is None or any(_counts(one) for one in before):
            raise NotInlined("something else is computed before it")
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


def _earlier(outer: ast.AST, inner: ast.AST) -> list[ast.expr] | None:
    """What `outer` evaluates before `inner`, which it always does, once; None where that is not so."""
    if isinstance(outer, ast.Call):
        items = [outer.func, *outer.args, *outer.keywords]
        before = [outer.func, *outer.args, *[k.value for k in outer.keywords]]
        return before[: items.index(inner)]  # type: ignore[arg-type]
    if isinstance(outer, ast.Attribute | ast.Starred | ast.keyword | ast.UnaryOp):
        return []
    if isinstance(outer, ast.BinOp):
        return [outer.left] if inner is outer.right else []
    if isinstance(outer, ast.Subscript):
        return [outer.value] if inner is outer.slice else []
    if isinstance(outer, ast.Tuple | ast.List):
        return outer.elts[: outer.elts.index(inner)]  # type: ignore[arg-type]
    if isinstance(outer, ast.Dict) and inner in outer.values:
        at = outer.values.index(inner)  # type: ignore[arg-type]
        return [n for n in [*outer.keys[: at + 1], *outer.values[:at]] if n is not None]
    return None


def _counts(node: ast.expr) -> bool:
    """Is it more than a name or a number, so that it matters when it is computed?"""
    return isinstance(node, ast.Starred) or not (is_pure(node) or isinstance(node, ast.Lambda))


def first_before(source: SourceFile, node: ast.expr) -> ast.expr | None:
    """The first thing that counts which the statement of `node` computes before it, where nothing is in its way."""
    statement = source.statement_of(node)
    path = [node, *itertools.takewhile(lambda outer: outer is not statement, source.ancestors(node))]
    for inner, outer in reversed(list(itertools.pairwise(path))):
        found = _earlier(outer, inner)
        if found is None:
            return None
        for one in found:
            if _counts(one):
                return one if isinstance(one, ast.Call) else None
    return None


__all__ = ["Place", "first_before", "place_of"]
