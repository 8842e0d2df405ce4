"""Names for variables that a program gave none, by function: no two models of a function have the same.

    g_graphdef, params, batch_stats = nnx.split(generator(...), nnx.Param, nnx.BatchStat)
    d_graphdef, *d_variables = nnx.split(discriminator(...), nnx.Param, nnx.BatchStat)
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Symbol

if TYPE_CHECKING:
    from .functional import _Functional

Scope = tuple[str, ast.AST | None]


class MadeNames:
    """The names that the functional form gives, for all the models of a project."""

    def __init__(self) -> None:
        self._kept: dict[Scope, set[str]] = {}  # names that are read further down
        self._passing: dict[Scope, set[str]] = {}  # and those that the next statement alone reads
        self.structures: set[Symbol] = set()  # those of models' structures, which a whole file sees

    def keep(self, form: _Functional, node: ast.AST, names: Collection[str]) -> bool:
        """Takes names for what is made at a place; False where one of them is taken."""
        scope = _scope(form, node)
        kept = self._kept.setdefault(scope, set())
        if not kept.isdisjoint(names) or not self._passing.get(scope, set()).isdisjoint(names):
            return False
        kept.update(names)
        return True

    def pass_on(self, form: _Functional, node: ast.AST, name: str) -> bool:
        """The same for a name that the statement below reads and nothing after it: others may have it there, too."""
        scope = _scope(form, node)
        if name in self._kept.get(scope, set()):
            return False
        self._passing.setdefault(scope, set()).add(name)
        return True


def _scope(form: _Functional, node: ast.AST) -> Scope:
    return form.source(node).module, form.function(node)
