"""Uses within f-strings: `print(f"{sum(p.size for p in jax.tree.leaves(state.params))} params")`.

Before Python 3.12 the tree does not always say where such an expression stands (in strings of several lines): only those are
rewritten that are found there. What is written keeps clear of what an f-string of that time may not hold.
"""

from __future__ import annotations

import ast
import re

from ...source import SourceFile
from ...trees import subtree

_OWN = re.compile(r"SelfName\(id='self\.(\w+)', ctx=(\w+\(\))\)")  # see `self_names`
_REFUSED = frozenset("'\"\\#{}:!\n\r")


def around(source: SourceFile, node: ast.AST) -> ast.JoinedStr | None:
    """The whole f-string that an expression stands in."""
    return next((p for p in reversed(list(source.ancestors(node))) if isinstance(p, ast.JoinedStr)), None)


def is_placed(source: SourceFile, node: ast.AST) -> bool:
    """Does an expression, if within an f-string, stand where the tree says?"""
    whole = around(source, node)
    if whole is None:
        return True
    above = [node, *source.ancestors(node)]
    inner = above[: above.index(whole)]
    holders = [n for n in inner if isinstance(n, ast.FormattedValue)]
    if len(holders) != 1 or any(isinstance(n, ast.JoinedStr) for n in inner):
        return False
    formatted, strings = holders[0].value, subtree(whole)
    places = [source.span(n.value).start for n in strings if isinstance(n, ast.FormattedValue)]
    own = source.span(formatted)
    opened = source.text[: own.start].rstrip().endswith("{") and source.span(whole).start < own.start
    alone = places.count(own.start) == 1
    return opened and alone and _is_said(source.text_of(formatted), formatted) and _is_said(source.text_of(node), node)


def may_stand(text: str) -> bool:
    """May a text stand in a replacement field of any f-string?"""
    return _REFUSED.isdisjoint(text)


def _is_said(text: str, node: ast.AST) -> bool:
    try:
        said = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    own = _OWN.sub(r"Attribute(value=Name(id='self', ctx=Load()), attr='\1', ctx=\2)", ast.dump(node))
    return ast.dump(said) == own
