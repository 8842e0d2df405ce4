"""Functions chosen by a condition: `if self.norm: normalize = lambda x: nn.LayerNorm()(x)`, `else: normalize = lambda x: x`.

Calling it is the condition around the call of one function or the other: what they make is made under it in the
constructor, and the sizes that they give are either's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...frozen import frozen
from ...trees import subtree
from ..values.arguments import Arguments, arguments_of
from ..values.presence import Step
from ..values.sites import Abs, Block, Branch, Function, Localized, Unmigratable
from ..values.values import Value
from .functions import follow


@frozen(eq=False)
class FunctionChoice(Value):
    """One of two functions (or further choices), by a condition that the constructor can say."""

    node: ast.If
    localized: Localized | None
    text: str
    sides: tuple[Step, Step] | None
    then: Value
    orelse: Value


def chosen_function(
    node: ast.If,
    localized: Localized | None,
    text: str,
    sides: tuple[Step, Step] | None,
    then: Value,
    orelse: Value,
    env: Any,
) -> FunctionChoice | None:
    """The choice between two functions; None where the condition cannot be repeated where they are called."""
    if not all(isinstance(o, Function | FunctionChoice) for o in (then, orelse)) or (localized is None and not text):
        return None
    for name in subtree(node.test):
        if isinstance(name, ast.Name) and name.id != "self" and env.get(name.id) is not None:
            return None
    return FunctionChoice(node, localized, text, sides, then, orelse)


def call_choice(run: Any, choice: FunctionChoice, node: ast.Call, env: Any, arguments: Arguments | None = None) -> Abs:
    """One of several functions is called; each is followed, its arguments evaluated once."""
    if arguments is None:
        arguments = arguments_of(run, node, env)
    outer = run.block
    then, orelse = Block(), Block()
    outer.steps.append(Branch(choice.localized, then, orelse, env.source, choice.text))
    mark = len(run.sites)
    results: list[Abs] = []
    for block, option, holds in ((then, choice.then, True), (orelse, choice.orelse, False)):
        run.block = block
        with run.under(choice.sides, holds):
            if isinstance(option, FunctionChoice):
                results.append(call_choice(run, option, node, env, arguments))
            else:
                results.append(follow(run, option, node, env, arguments))  # type: ignore[arg-type]
    run.block = outer
    for site in run.sites[mark:]:
        site.conditions = (*site.conditions, (choice.node, False))
    handed = {frozenset(run.analyser.slots.get(option.node, ())) for option in _options(choice)}
    if len(handed) > 1:  # layers that only some of them have parameters for
        what = f"`{ast.unparse(node.func)}` is one of several functions, which make different submodules for their caller"
        raise Unmigratable("NNX135", what, node)
    a, b = results
    if a == b:
        return a
    merged: Abs = run.merge_tracked(a, b, then, orelse, choice.sides) or run.merge_pair(a, b)
    return merged


def _options(value: Value) -> Iterator[Function]:
    """Every function that it may be."""
    if isinstance(value, FunctionChoice):
        yield from _options(value.then)
        yield from _options(value.orelse)
    elif isinstance(value, Function):
        yield value


__all__ = ["FunctionChoice", "call_choice", "chosen_function"]
