"""Which names of a program stand for one model: an update gives its result the name of what it started from, or another.

Two states of one scope that are no such pair are two models, and get two names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Model, Symbol
from ...trees import subtree
from . import old_values
from .places import loops_around
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native


class Namesakes:
    """Groups of symbols, and the names that they have got."""

    def __init__(self, form: _Native) -> None:
        self._form = form
        self._next: dict[Symbol, Symbol] = {}
        self._given: dict[tuple[object, object, str], Symbol] = {}
        for call in old_values.updates(form):
            scopes: dict[object, list[Symbol]] = {}
            for symbol in old_values.targets(form, call) | old_values.given(form, call):
                scopes.setdefault(symbol[:2], []).append(symbol)
            for symbols in scopes.values():
                for other in symbols[1:]:
                    self.join(symbols[0], other)

    def _root(self, symbol: Symbol) -> Symbol:
        while symbol in self._next:
            symbol = self._next[symbol]
        return symbol

    def join(self, one: Symbol, other: Symbol) -> None:
        """Two names for one model."""
        first, second = self._root(one), self._root(other)
        if first != second:
            self._next[second] = first

    def free(self, symbol: Symbol, candidates: list[str]) -> str:
        """The first of the names that nothing else of the scope has, other models included."""
        module, scope, name = symbol
        source = self._form.flow.project.files[module]
        mine = self._root(symbol)
        others = {given for (m, s, given), root in self._given.items() if (m, s) == (module, scope) and root != mine}
        kind = candidates[-1].rpartition("_")[2].removeprefix("self.")
        open_names = [c for c in [*candidates, f"{name}_{kind}"] if c not in others and not self._still_read(symbol, c)]
        return self.take(symbol, self._form.free(source, scope, open_names))

    def _still_read(self, symbol: Symbol, name: str) -> bool:
        """Has the scope a Linen model of a name, which something is given once the name stands for the module?"""
        form = self._form
        model = (*symbol[:2], name)
        base = form.init_model  # what makes the module, which is read as often as that is made
        made = base if isinstance(base, ast.Name) and not form.direct else None
        if made is not None and made.id == name and any(symbol[1] is around for around in form.source(made).ancestors(made)):
            if form.flow.symbol(form.source(made), made)[1] is not symbol[1]:
                return True  # it is of a scope around this one, and would be hidden
        if not isinstance(form.flow.env.get(model), Model):
            return False
        scope = symbol[1]
        if isinstance(scope, ast.FunctionDef | ast.Lambda):
            arguments = {a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]}
            if {name, symbol[2]} <= arguments:
                return True  # both are given
            if symbol[2] in arguments and any(self._stores(model)):
                return True  # and would be overwritten
        stores = [n for n, _ in form.uses if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        stores = [n for n in stores if self._root(form.flow.symbol(form.source(n), n)) == self._root(symbol)]
        if made is not None and form.flow.symbol(form.source(made), made) == model:
            if any(_made_after(form, made, store, symbol[1]) for store in stores):
                return True
        for node, value in form.uses:
            if not (isinstance(value, Model) and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
                continue
            if node in form.dropped:
                continue
            if form.flow.symbol(form.source(node), node) == model and not isinstance(form.parent(node), ast.Attribute):
                if any(_after(form, node, store, symbol[1]) for store in stores):
                    return True
        return False

    def _stores(self, symbol: Symbol) -> Iterator[ast.Name]:
        """Where a name is given something, in text that stays."""
        for node, _ in self._form.uses:
            stores = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node not in self._form.dropped
            if stores and self._form.flow.symbol(self._form.source(node), node) == symbol:  # type: ignore[arg-type]
                yield node  # type: ignore[misc]

    def take(self, symbol: Symbol, name: str) -> str:
        """Note that a symbol has a name. Unsupported where another model of its scope has it."""
        mine = self._root(symbol)
        if self._given.setdefault((*symbol[:2], name), mine) != mine:
            raise Unsupported(self._form.site, f"{symbol[2]} and another model would both be called {name}")
        return name


def _made_after(form: _Native, node: ast.Name, store: ast.Name, scope: ast.AST | None) -> bool:
    """May a module be made by a name after another is stored, in the functions that are called there too?"""
    for moment in old_values.moments(form, node, scope, set()):
        if moment is None or form.source(moment) is not form.source(store):
            return True
        statement = form.statement(store)
        if any(node is moment for node in subtree(statement)):
            if loops_around(form, statement, scope):
                return True
        elif form.function(store) is not scope or _after(form, moment, store, scope):
            return True
    return False


def _after(form: _Native, node: ast.AST, store: ast.Name, scope: ast.AST | None) -> bool:
    """May a name be read after another is stored?"""
    if form.function(node) is not scope or form.function(store) is not scope:
        return True
    if loops_around(form, node, scope) & loops_around(form, store, scope):
        return True
    statement = form.statement(store)
    return form.statement(node).lineno > (statement.end_lineno or statement.lineno)
