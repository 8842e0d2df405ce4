"""Where the values of a program are used, outside of module classes: looked up once for all of its models."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from .flow_values import READS_BACK, RESTORE_ARGS, RESTORES, Function, Items, Record, Symbol, Tracked, Value, sites_of

if TYPE_CHECKING:
    from .flow import Flow


class Uses:
    """An index of a settled `Flow`; everything it gives comes in the order of the code."""

    def __init__(self, flow: Flow) -> None:
        self._calls: dict[str, list[tuple[int, ast.Call]]] = {}  # what is called → calls
        self._tracked: dict[ast.Call, list[tuple[int, ast.AST, Value]]] = {}  # construction → what is made from it
        self._functions: dict[ast.AST, list[tuple[ast.AST, Function]]] = {}  # definition → names that mean it
        self.records: list[tuple[ast.AST, Record]] = []  # expressions whose values are records
        self._symbols: dict[ast.Call, list[tuple[int, Symbol, Value]]] = {}  # construction → what has values made from it
        self._returning: dict[ast.Call, list[tuple[int, ast.AST, Value]]] = {}  # and the functions that return them
        self.items: list[tuple[ast.AST, Items]] = []  # names, attributes, calls and items whose values are tuples or records
        self.decorated: list[ast.FunctionDef] = []
        self._flow = flow
        self._functions_and_calls: list[ast.FunctionDef | ast.Call] = []
        self._attributes: dict[str, list[tuple[int, ast.Attribute]]] = {}  # what is asked of something → where
        self.procedures: list[ast.Call] = []  # calls of the program's functions for what they do, their results dropped
        self.strings: set[str] = set()
        for position, (node, source) in enumerate(flow.source_of.items()):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.strings.add(node.value)
            if isinstance(node, ast.FunctionDef | ast.Call):
                self._functions_and_calls.append(node)
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                self.decorated.append(node)
            if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
                continue
            if isinstance(node, ast.Attribute):
                self._attributes.setdefault(node.attr, []).append((position, node))
            if isinstance(node, ast.Call):
                self._calls.setdefault(flow.name(node.func) or "", []).append((position, node))
                if isinstance(flow.value(node.func), Function) and isinstance(source.parents[node], ast.Expr):
                    self.procedures.append(node)
            value = flow.value(node)
            if isinstance(value, Items):
                self.items.append((node, value))
            if isinstance(value, Tracked):
                for site in value.sites:
                    self._tracked.setdefault(site, []).append((position, node, value))
            elif isinstance(value, Record):
                self.records.append((node, value))
            elif isinstance(value, Function) and isinstance(getattr(node, "ctx", None), ast.Load):
                for function in value.nodes:
                    self._functions.setdefault(function, []).append((node, value))

        for position, (symbol, value) in enumerate(flow.env.items()):
            for site in sites_of(value):
                self._symbols.setdefault(site, []).append((position, symbol, value))
        for position, (function, value) in enumerate(flow.returns.items()):
            for site in sites_of(value):
                self._returning.setdefault(site, []).append((position, function, value))

    def calls(self, names: Collection[str]) -> list[ast.Call]:
        """The calls of any of the canonical names."""
        return [call for _, call in sorted((p for name in names for p in self._calls.get(name, ())), key=_position)]

    def attributes(self, names: Collection[str]) -> list[ast.Attribute]:
        """Where something is asked for any of the names."""
        found = sorted((p for name in names for p in self._attributes.get(name, ())), key=lambda place: place[0])
        return [attribute for _, attribute in found]

    def calls_within(self, prefix: str) -> list[ast.Call]:
        """The calls of what a library has: `calls_within("optax.")`."""
        return self.calls([name for name in self._calls if name.startswith(prefix)])

    def tracked(self, sites: Collection[ast.Call]) -> Iterator[tuple[ast.AST, Value]]:
        """Every name, attribute, call and item whose value is made from the models of `sites`, outer before inner."""
        found = {position: (node, value) for site in sites for position, node, value in self._tracked.get(site, ())}
        for position in sorted(found):
            yield found[position]

    def symbols(self, sites: Collection[ast.Call]) -> list[tuple[Symbol, Value]]:
        """The names and attributes whose values are made from the models of `sites`, or are tuples with such values."""
        found = {position: (symbol, value) for site in sites for position, symbol, value in self._symbols.get(site, ())}
        return [found[position] for position in sorted(found)]

    def returning(self, sites: Collection[ast.Call]) -> list[tuple[ast.AST, Value]]:
        """The functions that return such values."""
        found = {position: (node, value) for site in sites for position, node, value in self._returning.get(site, ())}
        return [found[position] for position in sorted(found)]

    @functools.cached_property
    def handed_functions(self) -> list[tuple[str, ast.AST]]:
        """The functions that are given to what is no function of the program, or decorated: (its name, the function)."""
        flow = self._flow
        found: list[tuple[str, ast.AST]] = []
        for node in self._functions_and_calls:
            if isinstance(node, ast.FunctionDef):
                found += [(_decorates(flow, decorator), node) for decorator in node.decorator_list]
            elif not isinstance(flow.value(node.func), Function):
                name = flow.name(node.func) or str(getattr(node.func, "attr", ""))
                values = map(flow.value, [*node.args, *[k.value for k in node.keywords]])
                functions = (value for value in values if isinstance(value, Function) and not value.transform)
                found += [(name, function) for value in functions for function in value.nodes]
        return found

    def references(self, function: ast.AST) -> list[tuple[ast.AST, Function]]:
        """The names and attributes whose value is, or may be, a function."""
        return self._functions.get(function, [])


def _decorates(flow: Flow, decorator: ast.expr) -> str:
    """The function that a decorator is: of `@jax.jit`, `@jax.jit(...)` and `@functools.partial(jax.jit, ...)`."""
    if isinstance(decorator, ast.Call):
        name = flow.name(decorator.func) or ""
        return _decorates(flow, decorator.args[0]) if name == "functools.partial" and decorator.args else name
    return flow.name(decorator) or ""


def _position(found: tuple[int, ast.Call]) -> int:
    return found[0]


def restored_target(flow: Flow, call: ast.Call) -> ast.expr | None:
    """The tree that a call restores a checkpoint into: what it returns is like it."""
    keywords = {k.arg: k.value for k in call.keywords}
    if flow.name(call.func) in RESTORES:
        return keywords.get("target", call.args[1] if len(call.args) > 1 else None)
    if flow.name(call.func) in READS_BACK:
        return keywords.get("target", call.args[0] if call.args else None)
    method = call.func if isinstance(call.func, ast.Attribute) and call.func.attr == "restore" else None
    if method is None or isinstance(flow.value(method), Function):  # one of the project is followed like others
        return None
    given = keywords.get("args", call.args[1] if len(call.args) > 1 else None)
    if isinstance(given, ast.Call) and flow.name(given.func) in RESTORE_ARGS:
        inner = {k.arg: k.value for k in given.keywords}
        return inner.get("item", given.args[0] if given.args else None)
    return next((keywords[name] for name in ("item", "items", "target") if name in keywords), given)
