"""Attributes of `self` as names: `self.state` of a trainer's methods is one variable that they share.

While training code is written, such an attribute is a `SelfName` in the tree, at the same place of the text, so that
whatever is said of names holds for it. The trees are put back afterwards.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from ...source import SourceFile
from ...trees import forget
from ..project.index import Project
from .flow_values import Collection, Model, OptState, State, Symbol, Value, Variables


class SelfName(ast.Name):
    """`self.state`, with the class that it is an attribute of."""

    __slots__ = ("owner",)  # no attribute of the node's own dictionary, in which a tree has what is below a node
    owner: ast.ClassDef


def wanted(env: dict[Symbol, Value]) -> set[Symbol]:
    """The attributes that hold models, variables or states of training."""
    kinds = (Model, State, Variables, Collection, OptState)
    return {symbol for symbol, value in env.items() if symbol[2].startswith("self.") and isinstance(value, kinds)}


@contextlib.contextmanager
def in_trees(project: Project, symbols: set[Symbol]) -> Iterator[None]:
    """The attributes as names, for a while."""
    swaps: list[tuple[SourceFile, ast.Attribute, SelfName]] = []
    for source in project.files.values():
        names = {(symbol[1], symbol[2]) for symbol in symbols if symbol[0] == source.module}
        for node in list(source.by_kind.get(ast.Attribute, ())) if names else []:
            assert isinstance(node, ast.Attribute)
            if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                continue
            owner = next((parent for parent in source.ancestors(node) if isinstance(parent, ast.ClassDef)), None)
            if owner is not None and (owner, f"self.{node.attr}") in names:
                name = SelfName(id=f"self.{node.attr}", ctx=node.ctx)
                name.owner = owner
                swaps.append((source, node, ast.copy_location(name, node)))
    touched = {source.path: source for source, _, _ in swaps}.values()
    before = [
        (source, list(source.nodes), {kind: list(nodes) for kind, nodes in source.by_kind.items()}) for source in touched
    ]
    for source, node, name in swaps:
        _put(source, node, name)
        source.nodes[source.nodes.index(node)] = name
        source.by_kind.setdefault(ast.Name, []).append(name)
        source.by_kind[ast.Attribute].remove(node)
    for source in touched:
        source.forget_words()
    try:
        yield
    finally:
        for source, node, name in swaps:
            _put(source, name, node)
        for source, nodes, kinds in before:
            source.nodes[:] = nodes
            source.by_kind.clear()
            source.by_kind.update(kinds)
            source.forget_words()


def _put(source: SourceFile, old: ast.expr, new: ast.expr) -> None:
    parent = source.parents[new] = source.parents[old]
    for above in source.ancestors(old):
        forget(above)
    for field, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, field, new)
        elif isinstance(value, list) and any(item is old for item in value):
            value[:] = [new if item is old else item for item in value]
