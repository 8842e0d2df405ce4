"""A dict of factories, of which one is looked up: `{"layer": nn.LayerNorm, "rms": nn.RMSNorm}[self.norm]`.

It is the choice between them by comparisons of the key, one after the other: what equals none of them raises in Linen, and
where NNX asks for a module that was not made.
"""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from ..values import caller_words
from ..values.nothing_made import makes_nothing
from ..values.sites import Abs, Factory, Localized, LocalizedPart, Table
from ..values.values import Value
from .choices import RAISED, FactoryChoice, in_fields_of, words_of_class

_MOST = 12  # of factories


def looked_up(run: Any, table: Table, node: ast.Subscript, key: Abs, env: Any) -> Value | None:
    """The choice that an item of a table is; None for tables of anything else, and keys that the constructor has not."""
    options = {k: makes_nothing(v) or v for k, v in table.items.items() if isinstance(k, str | int)}
    plain = len(options) == len(table.items) and len(set(map(type, options))) == 1
    if not plain or not 0 < len(options) <= _MOST or not key.static or key.flags:
        return None
    made = [v for v in options.values() if isinstance(v, Factory)]
    if not made or any(v.field or v.alternatives or v.lifted for v in made):
        return None
    if any(not isinstance(v, Factory) and makes_nothing(v) is None for v in options.values()):
        return None
    said = run.localize(node.slice, env)
    if said is None:
        return None
    words = _words(run, node, env)
    if words is None:
        return None
    if set(options) == {True, False}:
        return FactoryChoice(words, said, "", options[True], options[False])
    span = env.source.span(node.slice)
    bare = isinstance(node.slice, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    choice: Value = RAISED
    for constant, option in reversed(options.items()):
        inner = LocalizedPart(said)
        parts = (inner, f" == {constant!r}") if bare else ("(", inner, f") == {constant!r}")
        localized = Localized(span, env.source, ((span, parts),), said.needs, said.flags)
        test = ast.Compare(words, [ast.Eq()], [ast.Constant(constant)])
        choice = FactoryChoice(test, localized, "", option, choice)
    return choice


def _words(run: Any, node: ast.Subscript, env: Any) -> ast.expr | None:
    """The key as the method says it where the factory is called: at once, or later in the terms of the class."""
    parent = env.source.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node and caller_words.in_method(env):
        return node.slice
    own = any(isinstance(n, ast.Name) and n.id != "self" and env.get(n.id) is not None for n in subtree(node.slice))
    if not own:
        return node.slice
    if caller_words.asks_own_names(node.slice, env) and not caller_words.in_method(env):
        return None
    said = words_of_class(run, node.slice, env) or in_fields_of(run, node.slice, env)
    return said[0] if said is not None and said[1] is None else None


__all__ = ["looked_up"]
