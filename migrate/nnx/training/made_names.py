"""Names for variables that a program gave none, by function: no two models of a function have the same.

g_graphdef, params, batch_stats = nnx.split(generator(...), nnx.Param, nnx.BatchStat)
d_graphdef, *d_variables = nnx.split(discriminator(...), nnx.Param, nnx.BatchStat)
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Symbol
from .places import nested

if TYPE_CHECKING:
    from .functional import _Functional

Scope = tuple[str, ast.AST | None]


class MadeNames:
    """The names that the functional form gives, for all the models of a project."""

    def __init__(self) -> None:
        self._kept: dict[Scope, set[str]] = {}  # names that are read further down
        self._passing: dict[Scope, set[str]] = {}  # and those that the next statement alone reads
        self.structures: set[Symbol] = set()  # those of models' structures, which a whole file sees
        self._of: dict[Symbol, tuple[_Functional, Symbol | None]] = {}  # the same, with whose they are and what they were

    def reserve(self, form: _Functional, place: Symbol, origin: Symbol | None = None) -> bool:
        """Takes a name for a structure, where the program has `origin`; False where it means another one there."""
        for known in [symbol for symbol in self._of if symbol[0] == place[0] and symbol[2] == place[2]]:
            if self._clash(form, known, place, origin):
                return False
        self._of[place] = form, origin
        return True

    def _clash(self, form: _Functional, known: Symbol, place: Symbol, origin: Symbol | None) -> bool:
        owner, other = self._of[known]
        source = form.flow.project.files[place[0]]
        if not nested(source, known[1], place[1]) or (owner is form and other == origin):
            return False
        if owner is not form or known[1] is place[1]:
            return True
        deeper = place[1] is not None and (known[1] is None or known[1] in source.ancestors(place[1]))
        inner, outer = (place[1], other) if deeper else (known[1], origin)
        if outer is None:
            return len(form.kinds) > 1
        names = form.flow.occurrences(outer)
        return any(parent is inner for name in names for parent in source.ancestors(name))

    def keep(self, form: _Functional, node: ast.AST, names: Collection[str]) -> bool:
        """Takes names for what is made at a place; False where one of them is taken."""
        scope = _scope(form, node)
        kept = self._kept.setdefault(scope, set())
        if not kept.isdisjoint(names) or not self._passing.get(scope, set()).isdisjoint(names):
            return False
        kept.update(names)
        return True

    def passed_on(self, form: _Functional, node: ast.AST, names: Sequence[str]) -> str:
        """The first of the names that is free for what the statement below reads and nothing after it, else "".

        Others may have it there, too. All but the first are names that the file does not say.
        """
        source, scope = form.source(node), _scope(form, node)
        bound = source.names.bound_in(form.function(node) or source.tree)
        said = {n.id for n in source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name)}
        kept = self._kept.get(scope, set())
        free = (name for name in names if name not in (bound if name == names[0] else said) and name not in kept)
        found = next(free, "")
        if found:
            self._passing.setdefault(scope, set()).add(found)
        return found


def _scope(form: _Functional, node: ast.AST) -> Scope:
    return form.source(node).module, form.function(node)
