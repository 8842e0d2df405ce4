"""Tables of code outside of modules: `CONFIGS = {"small": {"block": Block, "width": 8}}`, and `ResNet(**CONFIGS[name])`.

What a table holds is everything that a display, `dict(...)`, an update or an assignment to an item puts into it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...source import SourceFile
from ...trees import subtree

Entry = tuple[object, ast.expr, SourceFile]  # the key, None where it is computed
_COPYING = frozenset({"copy.copy", "copy.deepcopy", "flax.core.freeze", "flax.core.FrozenDict", "ml_collections.ConfigDict"})
_MAX_DEPTH = 8


class Tables:
    """`assigned`: what a local name of a function may be given; `calls`: where functions are called."""

    def __init__(
        self,
        project: Any,
        scope: Callable[[ast.Name, SourceFile], ast.FunctionDef | None],
        assigned: Callable[[ast.Name, ast.FunctionDef, SourceFile], list[tuple[ast.expr, SourceFile]]],
        calls: Mapping[str, Sequence[tuple[SourceFile, ast.Call]]],
    ) -> None:
        self.project = project
        self.scope = scope
        self.assigned = assigned
        self.calls = calls

    def looked_up(self, node: ast.expr, source: SourceFile, depth: int = 0) -> Iterator[tuple[ast.expr, SourceFile]]:
        """What `TABLE[key]` and `TABLE.get(key, default)` may be."""
        table, key, more = _look_up(node)
        if table is None or depth > _MAX_DEPTH:
            return
        wanted = key.value if isinstance(key, ast.Constant) else None
        for name, value, home in self.entries(table, source, depth + 1):
            if wanted is None or name is None or name == wanted:
                yield value, home
        yield from ((value, source) for value in more)

    def entries(self, node: ast.expr, source: SourceFile, depth: int = 0) -> Iterator[Entry]:
        """The items of a table."""
        if depth > _MAX_DEPTH:
            return
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if key is None:
                    yield from self.entries(value, source, depth + 1)
                else:
                    yield _constant(key), value, source
        elif isinstance(node, ast.DictComp):
            yield _constant(node.key), node.value, source
        elif isinstance(node, ast.Tuple | ast.List):
            yield from ((place, item, source) for place, item in enumerate(node.elts))
        elif isinstance(node, ast.IfExp | ast.BinOp):
            for side in (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node.left, node.right):
                yield from self.entries(side, source, depth + 1)
        elif isinstance(node, ast.Name | ast.Attribute):
            yield from self._named(node, source, depth)
        elif _look_up(node)[0] is not None:
            for value, home in self.looked_up(node, source, depth):
                yield from self.entries(value, home, depth + 1)
        elif isinstance(node, ast.Call):
            yield from self._called(node, source, depth)

    def _called(self, node: ast.Call, source: SourceFile, depth: int) -> Iterator[Entry]:
        name = self.project.qualname(source, node.func)
        copied = isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args
        if copied and isinstance(node.func, ast.Attribute):
            yield from self.entries(node.func.value, source, depth + 1)
        elif name in _COPYING or (isinstance(node.func, ast.Name) and node.func.id == "dict"):
            yield from self._put(node, source, depth)
        found = self.project.definition(name) if name is not None else None
        if found is not None and isinstance(found[1], ast.FunctionDef):
            home, function = found
            for statement in subtree(function):
                if isinstance(statement, ast.Return) and statement.value and home.names.scope_of(statement) is function:
                    yield from self.entries(statement.value, home, depth + 1)

    def _put(self, call: ast.Call, source: SourceFile, depth: int) -> Iterator[Entry]:
        """What a call of `dict` or `update` is given."""
        for argument in call.args:
            yield from self.entries(argument, source, depth + 1)
        for keyword in call.keywords:
            if keyword.arg is None:
                yield from self.entries(keyword.value, source, depth + 1)
            else:
                yield keyword.arg, keyword.value, source

    def _named(self, node: ast.Name | ast.Attribute, source: SourceFile, depth: int) -> Iterator[Entry]:
        scope = self.scope(node, source) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and scope is not None:
            for value, home in self.assigned(node, scope, source):
                yield from self.entries(value, home, depth + 1)
            if scope.args.kwarg is not None and scope.args.kwarg.arg == node.id:
                yield from self._rest(scope, source, depth)
            yield from self._filled(node.id, scope, source, depth)
            return
        found = self.project.definition(self.project.qualname(source, node) or "")
        if found is not None and isinstance(found[1], ast.Assign | ast.AnnAssign) and found[1].value is not None:
            home, statement = found
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from self.entries(statement.value, home, depth + 1)
            for target in targets:
                if isinstance(target, ast.Name):
                    yield from self._filled(target.id, None, home, depth)

    def _rest(self, function: ast.FunctionDef, source: SourceFile, depth: int) -> Iterator[Entry]:
        """What calls give a function for its `**rest`."""
        spec = function.args
        named = {a.arg for a in [*spec.args, *spec.kwonlyargs]}
        for home, call in self.calls.get(f"{source.module}.{function.name}", ()):
            for keyword in call.keywords:
                if keyword.arg is None:
                    yield from (e for e in self.entries(keyword.value, home, depth + 1) if e[0] not in named)
                elif keyword.arg not in named:
                    yield keyword.arg, keyword.value, home

    def _filled(self, name: str, scope: ast.FunctionDef | None, source: SourceFile, depth: int) -> Iterator[Entry]:
        """What statements put into a table under its name: `table[key] = value`, `table.update(other)`."""
        for node in subtree(scope or source.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and self._is(target.value, name, scope, source):
                        yield _constant(target.slice), node.value, source
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
                if self._is(node.func.value, name, scope, source):
                    yield from self._put(node, source, depth)

    def _is(self, node: ast.expr, name: str, scope: ast.FunctionDef | None, source: SourceFile) -> bool:
        return isinstance(node, ast.Name) and node.id == name and source.names.binding_scope(name, node) is scope


def _look_up(node: ast.expr) -> tuple[ast.expr | None, ast.expr | None, list[ast.expr]]:
    """The table, the key and the default of a look-up; no table for any other expression."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice, []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr in ("get", "pop"):
            return node.func.value, node.args[0], node.args[1:]
    return None, None, []


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


__all__ = ["Tables"]
