"""Does the call of a class decide about a condition, or its fields? By the names that it says, and what these are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.values.sites import Site
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def decides(run: Execution, site: Site, condition: ast.AST) -> bool:
    """`condition`: around a site; an `if`, a conditional expression, or the test of one."""
    test = getattr(condition, "test", condition)
    found = run.evaluated.get(test)
    if found is not None and found.static and not found.flags:
        return False
    return _Reading(run, site).is_given(test, _home(run, site, test))


def _home(run: Execution, site: Site, test: ast.AST) -> SourceFile | None:
    """The file that a test stands in; None for one that was put together from others."""
    files = [site.source, *(passage.source for passage in site.through), *(passage.home for passage in site.through)]
    return next((source for source in files if test in source.parents), None)


class _Reading:
    def __init__(self, run: Execution, site: Site) -> None:
        self.methods = {method.node for method in run.model.methods().values()}
        self.site = site
        self.arguments = {p.arg for method in run.model.methods().values() for p in method.parameters}
        self.seen: set[tuple[ast.AST, str]] = set()

    def is_given(self, node: ast.AST, source: SourceFile | None) -> bool:
        """Does an expression read what a method is given?"""
        names = (n for n in subtree(node) if isinstance(n, ast.Name) and n.id != "self")
        if source is None:
            return any(name.id in self.arguments for name in names)
        return any(self._name(name, source) for name in names)

    def _name(self, name: ast.Name, source: SourceFile) -> bool:
        for scope in source.ancestors(name):
            if not isinstance(scope, _Function):
                continue
            if name.id in _parameters(scope):
                return self._parameter(name.id, scope)
            values = list(_values(source, scope, name.id))
            if values:
                if (scope, name.id) in self.seen:
                    return False
                self.seen.add((scope, name.id))
                return any(self.is_given(value, source) for value in values)
        return False

    def _parameter(self, name: str, scope: _Function) -> bool:
        if scope in self.methods or isinstance(scope, ast.Lambda):
            return True
        passage = next((passage for passage in self.site.through if passage.function is scope), None)
        if passage is None or any(isinstance(a, ast.Starred) for a in passage.call.args):
            return True
        names = [a.arg for a in (*scope.args.posonlyargs, *scope.args.args)]
        given = dict(zip(names, passage.call.args)) | {str(k.arg): k.value for k in passage.call.keywords}
        return self.is_given(given[name], passage.source) if name in given else "None" in given  # `**options`


def _parameters(scope: _Function) -> set[str]:
    given = scope.args
    rest = [a for a in (given.vararg, given.kwarg) if a is not None]
    return {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs, *rest)}


def _values(source: SourceFile, scope: _Function, name: str) -> Iterator[ast.AST]:
    """What a local name may be given, and the conditions around that."""
    for node in subtree(scope):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            for above in source.ancestors(node):
                if above is scope:
                    break
                if isinstance(above, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and above.value is not None:
                    yield above.value
                elif isinstance(above, ast.For | ast.comprehension):
                    yield above.iter
                elif isinstance(above, ast.If | ast.While):
                    yield above.test
                elif isinstance(above, ast.With):
                    yield from (item.context_expr for item in above.items)


__all__ = ["decides"]
