"""A `match` statement of a function that hands out factories:

    match kind:
      case "layer":
        return nn.LayerNorm
      case _:
        raise ValueError(kind)

It is the choice that `if kind == "layer": return nn.LayerNorm` and so on would be: the caller makes the modules.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..values import caller_words
from ..values.environment import Env, Returned
from ..values.sites import Abs, InitPart, Localized, LocalizedPart
from ..values.values import Const, Int, Value
from .choices import RAISED, FactoryChoice, words_of_class
from .factory_functions import as_factory


def returned(run: Any, node: ast.Match, env: Env) -> Abs | None:
    """What a function outside of classes returns by such a statement, where every case returns a factory or raises."""
    if caller_words.in_method(env) or not is_plain(node.subject):
        return None
    patterns = [_values(case.pattern) for case in node.cases]
    if any(case.guard is not None for case in node.cases) or None in patterns:
        return None
    if patterns[-1] != () or () in patterns[:-1]:  # a value that no case has
        return None
    if not all(isinstance(_only(case.body), ast.Return | ast.Raise) for case in node.cases):
        return None
    subject = run.evaluate(node.subject, env)
    known = _in_case(run, node.subject, subject.value)
    if isinstance(known, Const | Int):
        return _known(run, node, known, patterns, env)
    inner = run.localize(node.subject, env)
    words = words_of_class(run, node.subject, env)
    if inner is None or words is None or not subject.static or subject.flags:
        return None
    own, home = words
    alone = isinstance(own, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    stem: tuple[InitPart, ...] = (LocalizedPart(inner),) if alone else ("(", LocalizedPart(inner), ")")
    choice: Value | None = None
    for case, values in zip(reversed(node.cases), reversed(patterns), strict=True):
        option = _option(run, case.body, env)
        if option is None:
            return None
        if choice is None:
            choice = option
            continue
        for value in reversed(values or ()):
            span = env.source.span(node.subject)
            said = Localized(span, env.source, ((span, (*stem, f" == {value!r}")),), inner.needs, inner.flags)
            test = ast.Compare(own, [ast.Eq()], [ast.Constant(value)])
            choice = FactoryChoice(test, said, "", option, choice, home)
    return Abs(choice, False) if isinstance(choice, FactoryChoice) else None


def _known(run: Any, node: ast.Match, value: Const | Int, patterns: Sequence[Any], env: Env) -> Abs | None:
    """The case of a subject that the caller writes out: `get_norm("rms")`."""
    plain = value.value if isinstance(value, Const) else value.dim.value
    if not isinstance(plain, str | int):
        return None
    body = next(case.body for case, values in zip(node.cases, patterns, strict=True) if plain in values or not values)
    option = _option(run, body, env)
    return Abs(option, True) if option is not None and option is not RAISED else None


def is_plain(node: ast.expr) -> bool:
    """A name or an attribute of one, also in another case: `config.kind.lower()`. It may be asked for every case."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
        return node.func.attr in ("lower", "upper", "strip") and is_plain(node.func.value)
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _in_case(run: Any, node: ast.expr, found: Value) -> Value:
    """`"RMS".lower()` of a string that the caller writes out."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        held = _in_case(run, node.func.value, run.evaluated[node.func.value].value)
        if isinstance(held, Const) and isinstance(held.value, str):
            return Const(getattr(held.value, node.func.attr)())
    return found


def _values(pattern: ast.pattern) -> tuple[str | int, ...] | None:
    """The strings or numbers that a pattern is one of, none for `_`; None for any other pattern."""
    if isinstance(pattern, ast.MatchAs) and pattern.name is None and pattern.pattern is None:
        return ()
    if isinstance(pattern, ast.MatchOr):
        inner = [_values(p) for p in pattern.patterns]
        return tuple(v for values in inner for v in values or ()) if all(inner) else None
    plain = isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant)
    value = pattern.value.value if plain else None  # type: ignore[attr-defined]
    return (value,) if isinstance(value, str | int) else None


def _only(body: Sequence[ast.stmt]) -> ast.stmt | None:
    return body[0] if len(body) == 1 else None


def _option(run: Any, body: Sequence[ast.stmt], env: Env) -> Value | None:
    statement = body[0]
    if not isinstance(statement, ast.Return):
        return RAISED
    if statement.value is None:
        return None
    found = Returned([run.evaluate(statement.value, env.copy())])
    return as_factory(run, found)


__all__ = ["is_plain", "returned"]
