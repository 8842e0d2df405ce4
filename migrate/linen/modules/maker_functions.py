"""Functions that make one of several modules for their caller: `norm(self.kind, epsilon=1e-5)(x)`.

    def norm(kind, *args, **kwargs):
      if kind == "rms":
        return nn.RMSNorm(*args, **kwargs)
      return nn.LayerNorm(*args, **kwargs)

A function that does nothing but choose by its arguments, and make, is the choice between partials of what it makes: the
caller makes the module where it calls the function.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ..values import rest_arguments
from ..values.arguments import Arguments
from ..values.environment import Env
from ..values.sites import Abs, Factory, Function
from ..values.values import Value
from .choices import RAISED, FactoryChoice, construct_choice, in_constructor, words_of_class

_Given = tuple[str | None, ast.expr, Abs]


@dataclasses.dataclass(frozen=True)
class _Call:
    """What the function is given beside its own parameters, and how the module is called."""

    rest: list[tuple[ast.expr, Abs]]
    others: list[_Given]
    arguments: Arguments


class _Other(Exception):
    """The function does something else."""


def made(run: Any, function: Function, node: ast.Call, env: Env, inner: Env, given: Arguments) -> Abs | None:
    """The module that a call of such a function makes; None for any other function."""
    target = function.node
    if not isinstance(target, ast.FunctionDef) or target.decorator_list or function.method is not None or run.apart:
        return None
    leaves = list(_leaves(target.body))
    if len(leaves) < 2 or None in leaves:
        return None
    spec = target.args
    names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    said = [*[n for n, _ in given.positional], *[n for _, n, _ in given.keywords]]
    if given.starred() or any(rest_arguments.place_of(n, env) is not env for n in said):
        return None
    known = {*names, *[a.arg for a in spec.kwonlyargs]}
    others: list[_Given] = [k for k in given.keywords if k[0] not in known]
    call = _Call(given.positional[len(names) :], others, given)
    try:
        block, mark, steps = run.block, len(run.sites), len(run.block.steps)
        found = _tree(run, target.body, inner, call, target, env)
        if len(run.sites) > mark:
            raise _Other  # it gives modules to what it makes: `nn.Sequential([nn.Dense(8), nn.relu])`
    except _Other:
        del run.sites[mark:], block.steps[steps:]
        return None
    run.executed[target] = inner.source
    named = [k for k in others if k[0] == "name"]
    handed = Arguments(node, [], list(named))
    if isinstance(found, FactoryChoice):
        return construct_choice(run, found, node, env, handed)
    if not isinstance(found, Factory):
        return None
    from .construction import construct

    return construct(run, found, node, env, inline=True, arguments=handed)  # type: ignore[no-any-return]


def _leaves(body: Sequence[ast.stmt]) -> Iterator[ast.Call | None]:
    """The calls that a function returns one of, by conditions; None where it does anything else but raise."""
    said = _said(body)
    if not said:
        yield None
        return
    first, rest = said[0], said[1:]
    if isinstance(first, ast.Raise):
        return
    if isinstance(first, ast.Return):
        # A call of what it makes (`nn.Dense(4)(x)`) is something else.
        makes = first.value if isinstance(first.value, ast.Call) else None
        yield None if makes is None or isinstance(makes.func, ast.Call) else makes
    elif isinstance(first, ast.If):
        yield from _leaves([*first.body, *rest])
        yield from _leaves([*first.orelse, *rest])
    else:
        yield None


def _said(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements that do something; what is asserted of the arguments, the layers themselves need."""
    said = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return [s for s in said if not isinstance(s, ast.Assert)]


def _tree(run: Any, body: Sequence[ast.stmt], inner: Env, call: _Call, target: ast.FunctionDef, env: Env) -> Value:
    said = _said(body)
    first, rest = said[0], said[1:]
    if isinstance(first, ast.Raise):
        return RAISED
    if isinstance(first, ast.Return):
        assert isinstance(first.value, ast.Call)
        return _partial(run, first.value, inner, call, target, env)
    assert isinstance(first, ast.If)
    test = run.evaluate(first.test, inner)
    certain = run.truth(test.value)
    if certain is not None:
        return _tree(run, [*(first.body if certain else first.orelse), *rest], inner, call, target, env)
    localized, text, _ = run.condition(first.test, test, inner)
    words = words_of_class(run, first.test, inner) if localized is not None or text else None
    if words is None:
        raise _Other
    localized, text = in_constructor(run, first.test, words[0], localized, text, inner)
    then = _tree(run, [*first.body, *rest], inner, call, target, env)
    orelse = _tree(run, [*first.orelse, *rest], inner, call, target, env)
    if then is RAISED and orelse is RAISED:
        return RAISED
    return FactoryChoice(words[0], localized, text, then, orelse, words[1])


def _partial(run: Any, leaf: ast.Call, inner: Env, call: _Call, target: ast.FunctionDef, env: Env) -> Factory:
    """`nn.RMSNorm(*args, epsilon=eps, **kwargs)` as a partial of the layer, which nothing is left to give."""
    from .construction import partial_of

    factory = run.evaluate(leaf.func, inner).value
    if not isinstance(factory, Factory) or not factory.target or factory.field or factory.lifted or factory.variant:
        raise _Other
    if factory.alternatives or factory.args or factory.positional:
        raise _Other
    vararg, kwarg = target.args.vararg, target.args.kwarg
    positional: list[tuple[ast.expr, Abs]] = []
    keywords: list[_Given] = []
    more: list[tuple[ast.expr, Abs]] = []
    others: list[_Given] = []
    for argument in leaf.args:
        if isinstance(argument, ast.Starred):
            if vararg is None or not _is_name(argument.value, vararg.arg) or argument is not leaf.args[-1]:
                raise _Other
            more = call.rest
        else:
            positional.append((argument, run.evaluate(argument, inner)))
    for keyword in leaf.keywords:
        if keyword.arg is None:
            if kwarg is None or not _is_name(keyword.value, kwarg.arg):
                raise _Other
            others = [k for k in call.others if k[0] != "name"]
        elif keyword.arg in ("name", "parent"):
            raise _Other
        else:
            keywords.append((keyword.arg, keyword.value, run.evaluate(keyword.value, inner)))
    if (call.rest and not more) or (call.others and not any(k.arg is None for k in leaf.keywords)):
        raise _Other  # Python itself would refuse what is left over, or the function drops it
    base = (leaf.func, Abs(factory))
    own, _, _ = partial_of(run, factory, leaf, Arguments(leaf, [base, *positional], list(keywords)), inner)
    found, _, _ = partial_of(run, own, leaf, Arguments(leaf, [base, *more], list(others)), env)
    return dataclasses.replace(found, node=None)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


__all__ = ["made"]
