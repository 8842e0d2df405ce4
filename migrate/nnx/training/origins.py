"""Where the flow of values lost sight of a tree: what a person is told beside the use that cannot be followed.

updates, opt_state = self.update(grads, opt_state)       # update: out of a table, nobody knows what it gives
params = optax.apply_updates(params, updates)            # so that params may be anything from here on
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import ANY, SAME_TREE, Function, Items, Value
from ..text.text_parts import short

if TYPE_CHECKING:
    from .rewrite import Rewrite

# Reasons that speak of where a value ended up.
_UNFOLLOWED = (
    "a value under a name that also holds other things",
    "a parameter that also holds other things",
    "a result that is not followed",
    "a state that is not followed",
    "variables from elsewhere",
    "params from elsewhere",
    "batch_stats from elsewhere",
    "gradients that are taken apart",
    "a tree that is taken apart",
    "a state that is used as something else than a tree",
    "a state that is kept or handed to something unknown",
)


def to(form: Rewrite, node: ast.AST, reason: str) -> str:
    """What was lost first, as the end of a reason; "" where that is the use itself, or not known."""
    if not reason.startswith(_UNFOLLOWED) or node not in form.flow.source_of:
        return ""
    search = _Search(form)
    for suspect, path in _suspects(form, node):
        found = search.first(suspect, path)
        if found is not None and found is not node:
            source = form.flow.source_of[found]
            place = f"line {found.lineno}"  # type: ignore[attr-defined]
            if source is not form.flow.source_of[node]:
                place = f"{source.path.name}, {place}"
            return f", as `{short(found)}` is not known ({place})"
    return ""


def _suspects(form: Rewrite, node: ast.AST) -> Iterator[tuple[ast.AST, tuple[int, ...]]]:
    """What may be lost at a use: the value, what it is of, or the name that it is given."""
    if form.flow.value(node) == ANY:
        yield (node.value if isinstance(node, ast.Attribute) else node), ()
    given: list[ast.expr] = [node] if isinstance(node, ast.Dict) else []
    if isinstance(node, ast.Call):
        given = [*node.args[:1], *[k.value for k in node.keywords if k.arg in ("params", "batch_stats")]]
    for variables in given:
        for part in variables.values if isinstance(variables, ast.Dict) else [variables]:
            if form.flow.value(part) == ANY:
                yield part, ()
    path: tuple[int, ...] = ()
    child, parent = node, form.source(node).parents.get(node)
    while isinstance(parent, ast.Tuple):
        path = (parent.elts.index(child), *path)  # type: ignore[arg-type]
        child, parent = parent, form.source(node).parents.get(parent)
    for target in parent.targets if isinstance(parent, ast.Assign) and parent.value is child else ():
        yield _element(target, path), ()
    name = parent.arg if isinstance(parent, ast.keyword) else None
    call = form.source(node).parents.get(parent) if isinstance(parent, ast.keyword) else parent
    function = form.flow.value(call.func) if isinstance(call, ast.Call) else None
    for definition in function.nodes if isinstance(function, Function) and isinstance(call, ast.Call) else ():
        arguments = definition.args  # type: ignore[attr-defined]
        names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        place = call.args.index(node) + function.bound if node in call.args else len(names)  # type: ignore[union-attr, arg-type]
        name = name or (names[place] if place < len(names) else "")
        for other in form.flow.callers.get(definition, {}):
            argument = _argument(form, other, definition, name)
            if argument is not None:
                yield argument, ()


def _element(node: ast.AST, path: tuple[int, ...]) -> ast.AST:
    for index in path:
        if not isinstance(node, ast.Tuple) or index >= len(node.elts):
            return node
        node = node.elts[index]
    return node


def _argument(form: Rewrite, call: ast.Call, function: ast.AST | None, name: str) -> ast.expr | None:
    """What a call gives a parameter."""
    arguments = function.args  # type: ignore[union-attr]
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    value = form.flow.value(call.func)
    bound = value.bound if isinstance(value, Function) else 0
    place = names.index(name) - bound if name in names else -1
    if 0 <= place < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args):
        return call.args[place]
    return next((k.value for k in call.keywords if k.arg == name), None)


class _Search:
    def __init__(self, form: Rewrite) -> None:
        self.form, self.flow = form, form.flow
        self.seen: set[tuple[ast.AST, tuple[int, ...]]] = set()

    def first(self, node: ast.AST, path: tuple[int, ...]) -> ast.AST | None:
        """The innermost expression that may be anything, of those that an item of an expression comes from."""
        if (node, path) in self.seen or node not in self.flow.source_of:
            return None
        self.seen.add((node, path))
        if isinstance(node, ast.Tuple) and path:
            return self.first(node.elts[path[0]], path[1:]) if path[0] < len(node.elts) else None
        if isinstance(node, ast.Name):
            return self._name(node)
        if self._known(node, path):
            return None
        if isinstance(node, ast.Attribute) and (found := self._attribute(node)) is not None:
            return found
        if isinstance(node, ast.Attribute | ast.Subscript):
            return (self.first(node.value, ()) if self.flow.value(node.value) == ANY else None) or node
        if isinstance(node, ast.Call):
            return self._call(node, path)
        if isinstance(node, ast.IfExp):
            return self.first(node.body, path) or self.first(node.orelse, path) or node
        return node if isinstance(node, ast.expr) else None

    def _known(self, node: ast.AST, path: tuple[int, ...]) -> bool:
        value: Value = self.flow.value(node)
        for index in path:
            if not isinstance(value, Items) or index >= len(value.items):
                break
            value = value.items[index]
        return value != ANY

    def _name(self, node: ast.Name) -> ast.AST | None:
        source = self.flow.source_of[node]
        symbol = self.flow.symbol(source, node)
        if symbol[0] not in self.flow.project.files:
            return None
        for store in self.flow.occurrences(symbol):
            if isinstance(store.ctx, ast.Store) and (given := _given(self.flow.source_of[store].parents, store)) is not None:
                found = self.first(*given)
                if found is not None:
                    return found
        scope = symbol[1]
        for call, name in [(call, symbol[2]) for call in self.flow.callers.get(scope, {})] if scope is not None else ():
            argument = _argument(self.form, call, scope, name)
            found = self.first(argument, ()) if argument is not None else None
            if found is not None:
                return found
        return None

    def _attribute(self, node: ast.Attribute) -> ast.AST | None:
        """What `self.state` is given."""
        source = self.flow.source_of[node]
        symbol = self.flow.held_by(source, node)
        for other in source.by_kind.get(ast.Attribute, ()) if symbol is not None else ():
            assert isinstance(other, ast.Attribute)
            if other.attr == node.attr and isinstance(other.ctx, ast.Store) and self.flow.held_by(source, other) == symbol:
                given = _given(source.parents, other)
                found = self.first(*given) if given is not None else None
                if found is not None:
                    return found
        return None

    def _call(self, node: ast.Call, path: tuple[int, ...]) -> ast.AST | None:
        function, name = self.flow.value(node.func), self.flow.name(node.func) or ""
        if isinstance(function, Function) and not function.transform:
            for definition in function.nodes:
                for value in self._returned(definition):
                    found = self.first(value, path)
                    if found is not None:
                        return found
            return node
        if name == "optax.apply_updates" and len(node.args) == 2:
            return self.first(node.args[1], ()) or self.first(node.args[0], ()) or node
        if name in SAME_TREE and len(node.args) > SAME_TREE[name]:
            return self.first(node.args[SAME_TREE[name]], path) or node
        return node

    def _returned(self, function: ast.AST) -> Iterator[ast.expr]:
        if isinstance(function, ast.Lambda):
            yield function.body
            return
        source = self.flow.source_of[function]
        for node in source.by_kind.get(ast.Return, ()):
            if isinstance(node, ast.Return) and node.value is not None and self.flow.function_of(source, node) is function:
                yield node.value


def _given(parents: dict[ast.AST, ast.AST], store: ast.AST) -> tuple[ast.AST, tuple[int, ...]] | None:
    """What an assignment gives a name, and at which place of that."""
    path: tuple[int, ...] = ()
    child, parent = store, parents[store]
    while isinstance(parent, ast.Tuple | ast.List):
        path = (parent.elts.index(child), *path)  # type: ignore[arg-type]
        child, parent = parent, parents[parent]
    if isinstance(parent, ast.Assign):
        return parent.value, path
    return (parent.value, path) if isinstance(parent, ast.AnnAssign | ast.NamedExpr) and parent.value is not None else None
