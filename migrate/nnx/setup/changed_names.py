"""Which names a statement of `setup` gives something, and of what it changes in place: what reads them needs it, too."""

from __future__ import annotations

import ast
from typing import Any

from ...linen.lists.chains import Chain
from ...linen.project.classes import Method
from ...linen.values import mutation
from ...linen.values.sites import Repeated, Table
from ...linen.values.values import Tup
from ...trees import subtree

_ITERATORS = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})
_MAKERS = ("itertools.", "random.Random", "numpy.random.RandomState", "numpy.random.default_rng", "numpy.random.Generator")


class ChangedNames:
    """What the statements of one `setup` change."""

    def __init__(self, run: Any, setup: Method) -> None:
        self.run, self.setup = run, setup
        self.functions: dict[str, ast.AST] = {n.name: n for n in setup.nodes if isinstance(n, ast.FunctionDef)}
        self.used_up: set[str] = set()  # names of iterators and generators: whoever asks them for something changes them
        for node in setup.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda | ast.Call):
                named = {t.id for t in node.targets if isinstance(t, ast.Name)}
                if isinstance(node.value, ast.Lambda):
                    self.functions |= dict.fromkeys(named, node.value)
                elif self._is_used_up(node.value):
                    self.used_up |= named
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.GeneratorExp):
                self.used_up |= {t.id for t in node.targets if isinstance(t, ast.Name)}

    def _is_used_up(self, made: ast.Call) -> bool:
        name = self.run.project.qualname(self.setup.source, made.func) or ast.unparse(made.func)
        return name in _ITERATORS or name.startswith(_MAKERS)

    def by(self, node: ast.stmt) -> set[str]:
        """The names that a statement gives something, and those of what it changes in place."""
        if isinstance(node, ast.FunctionDef):
            return {node.name}
        found: set[str] = set()
        for inner in subtree(node):
            if isinstance(inner, ast.Name) and (not isinstance(inner.ctx, ast.Load) or inner.id in self.used_up):
                found.add(inner.id)
            elif isinstance(inner, ast.stmt):
                found |= mutation.changed_names(inner)
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in self.functions:
                found |= self._by_function(self.functions[inner.func.id])
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):  # `fill(sizes)`
                given = [*inner.value.args, *[k.value for k in inner.value.keywords]]
                found |= {n.id for n in given if isinstance(n, ast.Name) and self._may_change(n)}
        return found

    def _by_function(self, function: ast.AST) -> set[str]:
        """The names of what a function of setup changes: `def add(n): sizes.append(n)`."""
        if isinstance(function, ast.Lambda):
            return {*mutation.changed_names(ast.Expr(function.body))}
        outer = {n for s in subtree(function) if isinstance(s, ast.Nonlocal) for n in s.names}
        read = {n.id for n in subtree(function) if isinstance(n, ast.Name)}
        return outer | {*mutation.changed_anywhere(function)} | (read & self.used_up)

    def _may_change(self, node: ast.Name) -> bool:
        held = self.run.evaluated.get(node)
        value = held.value if held is not None else None
        return isinstance(value, Repeated | Table | Chain) or (isinstance(value, Tup) and value.kind == "list")


__all__ = ["ChangedNames"]
