"""Modules that call in turn what code outside of modules gives them: `Sequential([Stem(), pool, Head()])`.

    class Sequential(nn.Module):
        layers: Sequence[Any]

        @nn.compact
        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

In Linen each item is a description, for which the chain makes parameters when it is first called. The sizes of an item are
those of what the item before it gives, so that the native chain can make its items in turn (see
`nnx/factories/outside_chains.py`).
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..project.classes import ClassModel


@dataclasses.dataclass
class OutsideChain:
    """A chain class, and what the project's code outside of modules does with it."""

    target: str
    field: str
    argument: str  # of `__call__`
    layers: list[tuple[SourceFile, ast.Call]] = dataclasses.field(default_factory=list)  # Linen's own, among the items
    calls: list[tuple[SourceFile, ast.Call]] = dataclasses.field(default_factory=list)  # other calls, perhaps of classes


def chain_of(model: ClassModel) -> tuple[str, str] | None:
    """(field, argument) of a class that does nothing but call the items of its only field in turn."""
    method = model.method("__call__")
    names = [n for n in model.methods() if n != "__call__"]
    if method is None or names or len(model.fields()) != 1 or len(method.parameters) != 1:
        return None
    body = [s for s in method.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    field, argument = model.fields()[0].name, method.parameters[0].arg
    if len(body) != 2 or not isinstance(body[0], ast.For) or not isinstance(body[0].target, ast.Name):
        return None
    loop, item = body[0], body[0].target.id
    said = [ast.unparse(s) for s in (loop.iter, *loop.body, *loop.orelse, body[1])]
    if said != [f"self.{field}", f"{argument} = {item}({argument})", f"return {argument}"]:
        return None
    return field, argument


def find(project: Any, classes: Any, given_outside: Any) -> dict[str, OutsideChain]:
    """The chain classes all of whose constructions, outside of modules, show their items."""
    found: dict[str, OutsideChain] = {}
    for target in given_outside:
        model = classes.get(target)
        parts = chain_of(model) if model is not None else None
        if parts is None or model.source.marked(model.source.line_span(model.node).start, "NNX1"):
            continue  # an earlier run has left it, or it is none
        chain = OutsideChain(target, *parts)
        constructions = list(_constructions(project, target))
        if constructions and all(_read(project, source, call, chain) for source, call in constructions):
            found[target] = chain
    return found


def _constructions(project: Any, target: str) -> Iterator[tuple[SourceFile, ast.Call | None]]:
    """Every call of the class; None where its name goes elsewhere."""
    name = target.rpartition(".")[2]
    for source in project.files.values():
        if name not in source.words:
            continue
        for node in source.nodes:
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if project.qualname(source, node) != target:
                continue
            parent = source.parents.get(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                yield source, parent
            elif not isinstance(parent, ast.arg | ast.FunctionDef | ast.AnnAssign):  # no annotation
                yield source, None


def _read(project: Any, source: SourceFile, call: ast.Call | None, chain: OutsideChain) -> bool:
    """Are the items of a construction seen? Linen's own layers among them are noted."""
    if call is None or call in project.inside_modules or len(call.args) + len(call.keywords) != 1:
        return False
    given = call.args[0] if call.args else call.keywords[0].value
    items = _items(source, call, given)
    if items is None:
        return False
    for item in items:
        if isinstance(item, ast.Call):
            name = project.qualname(source, item.func) or ""
            is_layer = name.startswith("flax.linen.") and name.rpartition(".")[2][:1].isupper()
            (chain.layers if is_layer else chain.calls).append((source, item))
        elif isinstance(item, ast.Starred):
            return False
    return True


def _items(source: SourceFile, call: ast.Call, given: ast.expr) -> list[ast.expr] | None:
    """The items of a list display, or of a local list that is only filled and then handed to the chain."""
    if isinstance(given, ast.List | ast.Tuple):
        return list(given.elts)
    scope = source.function_of(call)
    if not isinstance(given, ast.Name) or scope is None:
        return None
    items: list[ast.expr] = []
    for node in subtree(scope):
        if not isinstance(node, ast.Name) or node.id != given.id or node is given:
            continue
        parent = source.parents.get(node)
        above = source.parents.get(parent) if parent is not None else None
        assigned = isinstance(parent, ast.Assign) and node in parent.targets
        grown = isinstance(parent, ast.AugAssign) and parent.target is node
        if (assigned or grown) and isinstance(parent.value, ast.List):  # type: ignore[union-attr]
            items += parent.value.elts  # type: ignore[union-attr]
        elif isinstance(parent, ast.Attribute) and parent.attr == "append" and isinstance(above, ast.Call):
            items += above.args
        else:
            return None
    return items


__all__ = ["OutsideChain", "chain_of", "find"]
