"""What a field and an optional array decide together.

`if self.cross and memory is not None:` becomes two conditions, one within the other: the constructor asks each by itself.
Where the other side has statements too, or the condition is no statement, it asks all of it at once.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..values.arguments import is_self
from ..values.presence import GIVEN, Mixed, Presence, asked, condition_text
from ..values.sites import Abs
from ..values.values import Unknown, Value

_LEAVES_LOOPS = (ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_LEAVES = (ast.Return, ast.Raise, *_LEAVES_LOOPS)
_ASKS = frozenset({"len", "isinstance", "hasattr", "getattr", "bool", "any", "all"})


def nested(run: Any, node: ast.If, env: Any) -> ast.If | None:
    """The condition with each part of its `and` in a statement of its own, where one part is whether an array is given.

    None where its parts cannot all be said, or where the other side has statements too.
    """
    test = node.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And) or node.orelse or env.method is None:
        return None
    known: ast.If | None = run.analyser.nested.get(node)
    if known is not None:
        return known
    if any(isinstance(n, _LEAVES) for n in subtree(node)) or any(not _is_plain(n) for n in subtree(test)):
        return None
    found = [run.evaluate(part, env) for part in test.values]
    said = [run.condition(part, value, env)[:2] for part, value in zip(test.values, found)]
    if not any(isinstance(value.value, Presence) for value in found) or all(s == (None, "") for s in said):
        return None
    body = node.body
    for part in reversed(test.values):
        body = [ast.copy_location(ast.If(part, body, []), node)]
    run.analyser.nested[node] = body[0]
    return body[0] if isinstance(body[0], ast.If) else None


def apart(run: Any, node: ast.If, rest: Sequence[ast.stmt], env: Any) -> ast.If | None:
    """A condition on the call with what fields and sizes decide asked once more inside, so that the constructor can ask it.

    if self.head and train:            if self.head and train:
      x = nn.Dense(4)(x)                 if self.head:
                                           x = nn.Dense(4)(x)

    Of `or` it is the other side that asks: neither holds there. `rest`, what stands behind the condition, is that side where
    the first one returns. None where nothing can be asked by itself.
    """
    test = node.test
    if not isinstance(test, ast.BoolOp) or run.in_setup or run.apart:
        return None
    both = isinstance(test.op, ast.And)
    behind = not both and not node.orelse and isinstance(node.body[-1], ast.Return)
    side = node.body if both else list(rest) if behind else node.orelse
    inside = [n for statement in (node, *(side if behind else ())) for n in subtree(statement)]
    if not side or any(isinstance(n, _LEAVES_LOOPS) for n in inside) or any(not _is_plain(n) for n in subtree(test)):
        return None
    known: ast.If | None = run.analyser.nested.get(node)
    if known is not None:
        return known
    said = [run.condition(part, run.evaluated[part], env)[:2] for part in test.values if part in run.evaluated]
    if len(said) != len(test.values):
        return None
    open_parts = [part for part, (own, text) in zip(test.values, said) if own is None and not text]
    if not open_parts or len(open_parts) == len(test.values):
        return None
    for plain, group in itertools.groupby(reversed(list(zip(test.values, said))), lambda item: item[1][0] is not None):
        parts = [part for part, _ in reversed(list(group)) if part not in open_parts]
        # Whether an array is given is asked by itself, and before its sizes are.
        for question in _joined(parts, test, env.source) if plain else reversed(parts):
            inner = ast.If(question, side, []) if both else ast.If(question, [ast.Pass()], side)
            run.analyser.settled_sides[inner] = both
            side = [ast.copy_location(inner, node)]
    body, orelse = (side, node.orelse) if both else (node.body, side)
    found = ast.copy_location(ast.If(test, body, orelse), node)
    run.analyser.nested[node] = found
    run.analyser.split[found] = open_parts
    return found


def _joined(parts: Sequence[ast.expr], test: ast.BoolOp, source: SourceFile) -> Sequence[ast.expr]:
    """Parts that follow one another as one question, where the file has them so: `a and b` of `a and b and flag`."""
    if len(parts) < 2:
        return parts
    whole = ast.BoolOp(test.op, list(parts))
    whole.lineno, whole.col_offset = parts[0].lineno, parts[0].col_offset
    whole.end_lineno, whole.end_col_offset = parts[-1].end_lineno, parts[-1].end_col_offset
    try:
        as_it_stands = ast.dump(ast.parse(source.text_of(whole), mode="eval").body)
    except SyntaxError:  # the first stands in brackets, or they take several lines
        return [*reversed(parts)]
    return [whole] if as_it_stands == ast.dump(whole) else [*reversed(parts)]


def together(run: Any, node: ast.BoolOp, values: Sequence[Abs], env: Any) -> Unknown:
    """What `and` or `or` of fields and of whether arrays are given is."""
    why = run.project.said(node)
    if not any(_asks_presence(v.value) for v in values):
        return Unknown(why)
    open_ones = [(part, v) for part, v in zip(node.values, values) if run.truth(v.value) is None]
    parts = [_part(run, part, v, env) for part, v in open_ones]
    both = isinstance(node.op, ast.And)
    if not all(parts) or run.in_setup or run.apart:
        return Mixed(why, "", both)
    return Mixed(why, f"({(' and ' if both else ' or ').join(parts)})")


def _asks_presence(value: Value) -> bool:
    return isinstance(value, Presence) or (isinstance(value, Mixed) and value.optional) or bool(condition_text(value))


def _part(run: Any, node: ast.expr, value: Abs, env: Any) -> str:
    """One part as the constructor asks it; "" where it cannot."""
    if isinstance(value.value, Mixed):
        return value.value.text
    said = value.value.text if isinstance(value.value, Presence) else condition_text(value.value)
    question = asked(said)
    if question is not None:
        return f"{'' if question[1] else 'not '}{GIVEN}.{question[0]}"
    if said or not value.static or value.flags or run.localize(node, env) is None:
        return f"({said})" if said else ""
    own, deps = run.self_text(node, env)
    fields = {n.attr for n in ast.walk(ast.parse(own)) if isinstance(n, ast.Attribute) and is_self(n.value, env)}
    return "" if deps or not fields <= set(run.fields) else f"({own})" if isinstance(node, ast.IfExp) else str(own)


def _is_plain(node: ast.AST) -> bool:
    """Does it make nothing, however often it is asked?"""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _ASKS
    return not isinstance(node, ast.NamedExpr | ast.Await)


__all__ = ["apart", "nested", "together"]
