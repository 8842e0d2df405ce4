"""Parameters of `setup` that start from what it computes of other parameters: the constructor computes that, too.

    def setup(self):                                        def __init__(self, ..., *, rngs):
        w = self.param("w", init, (4, 4))                       self.w = nnx.Param(...)
        scale = jnp.linalg.norm(w)                              w = self.w[...]
        a = self.param("a", constant(scale), (1,))    →         scale = jnp.linalg.norm(w)
        self.record = Record(w, a)                              self.a = nnx.Param(constant(scale)(...))

Linen asks for such a value where it makes the variables, of those that were made before: this is what a constructor does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...trees import subtree

if TYPE_CHECKING:
    from .setup_values import Reader


def keep(reader: Reader) -> None:
    """Note which statements the constructor needs as well, and which it alone needs.

    Raises the refusal where a first value needs what a loop computes that makes the parameter.
    """
    found = reader.found
    wanted: set[str] = set()
    for site in reader.made.values():
        for argument in reader.arguments(site) if site.kind in ("param", "variable") else ():
            wanted |= {*_names(reader, argument)}
            found.starts.update(subtree(argument))
    while True:
        before = len(found.kept)
        for statement in (*found.moved, *found.both):
            if statement not in found.kept and _stored(statement) & wanted:
                _may_stay(reader, statement)
                found.kept.add(statement)
                wanted |= {*_names(reader, statement)}
        if len(found.kept) == before:
            break
    while True:
        alone = [s for s in found.kept if s in found.moved and not _stored(s) & {*_needed(reader, s)} and _is_local(s)]
        if not alone:
            return
        found.moved.difference_update(alone)


def _may_stay(reader: Reader, statement: ast.stmt) -> None:
    """Raises the refusal where a constructor cannot compute what a statement does."""
    around = [a for a in reader.above(statement, reader.setup.node) if a is not statement]
    looped = any(isinstance(a, ast.For | ast.While | ast.Try) for a in around)
    if looped or getattr(statement, "value", None) in reader.run.setup_helpers:
        raise reader.refusal


def _is_local(statement: ast.stmt) -> bool:
    """Does a statement give nothing to attributes, which methods may ask for?"""
    return not any(isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) for n in subtree(statement))


def _stored(statement: ast.stmt) -> set[str]:
    """The names, and `.attributes`, that a statement gives something, or takes it from."""
    named = {statement.name} if isinstance(statement, ast.FunctionDef) else set()
    given = [n for n in subtree(statement) if isinstance(n, ast.Name | ast.Attribute) and not isinstance(n.ctx, ast.Load)]
    return named | {n.id if isinstance(n, ast.Name) else f".{n.attr}" for n in given}


def _names(reader: Reader, node: ast.AST) -> Iterator[str]:
    """The names, and `.attributes`, of what follows parameters, as far as a node reads them."""
    for inner in subtree(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in reader.found.names:
            yield inner.id
        elif reader.is_computed(inner) and isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load):
            yield f".{inner.attr}"


def _needed(reader: Reader, own: ast.stmt) -> Iterator[str]:
    """The names that the rest of what every call computes reads."""
    for statement in (*reader.found.moved, *reader.found.both):
        if statement is not own:
            yield from reader.names_read(statement)


__all__ = ["keep"]
