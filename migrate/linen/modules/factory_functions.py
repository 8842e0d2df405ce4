"""Functions that hand out factories: `norm(self.kind)(name="n")`, where `norm` returns a layer, a partial of one, or a
lambda that makes one.

What such a function returns by a condition on its arguments is the choice between factories that it would be if the
caller had written the condition itself. A lambda that does nothing but make a layer of what it is given is a partial of
that layer with arguments under other names, of which some may be dropped:

    lambda use_bias, *args, **kwargs: nn.RMSNorm(*args, **kwargs)
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...frozen import frozen
from ...trees import subtree
from ..values.arguments import Arguments, arguments_of, defaults_of, parameters_of
from ..values.environment import Env, Returned
from ..values.nothing_made import makes_nothing
from ..values.sites import Abs, BoundArg, Factory, Function, Localized, Unmigratable
from ..values.values import Value
from .choices import RAISED, FactoryChoice, in_constructor, words_of_class


@frozen(eq=False)
class FactoryFunction(Value):
    """A lambda outside of classes that makes one module by `call`; `factory` has bound what the lambda itself says."""

    function: Function
    factory: Factory
    call: ast.Call


def maker(run: Any, value: Value) -> FactoryFunction | None:
    """The lambda as a factory, where it is one: its body makes a module of its own arguments, each handed on once."""
    if not isinstance(value, Function) or not isinstance(value.node, ast.Lambda) or value.method is not None:
        return None
    call, names = value.node.body, parameters_of(value.node)
    if not _is_outside(value.env):
        return None  # a lambda of a method is followed where it is called
    if not isinstance(call, ast.Call) or defaults_of(value.node) or value.node.args.posonlyargs:
        return None
    inner = Env({}, value.source, parent=value.env)
    bound: dict[str, BoundArg] = {}
    for node in [*call.args, *[k.value for k in call.keywords]]:
        said = node.value if isinstance(node, ast.Starred) else node
        if isinstance(said, ast.Name) and said.id in names:
            continue
        keyword = next((k.arg for k in call.keywords if k.value is node), None)
        if keyword in (None, "name", "parent") or any(isinstance(n, ast.Name) and n.id in names for n in subtree(node)):
            return None
        found = run.evaluate(node, inner)
        localized = run.localize(node, inner)
        if localized is None or localized.needs or not found.static:
            return None
        assert keyword is not None
        bound[keyword] = BoundArg(node, found, localized, given=False)
    factory = run.evaluate(call.func, inner).value
    if not isinstance(factory, Factory) or factory.alternatives or factory.lifted or not factory.target:
        return None
    if any(isinstance(n, ast.Name) and n.id in names for n in subtree(call.func)):
        return None
    held = dataclasses.replace(factory, args={**factory.args, **bound})
    return FactoryFunction(value, held, call)


def _is_outside(env: Any) -> bool:
    """Is it the environment of a function outside of classes?"""
    while env is not None:
        if env.method is not None:
            return False
        env = env.parent
    return True


def handed_on(
    run: Any, made: FactoryFunction, node: ast.Call, env: Any, arguments: Arguments | None = None
) -> Arguments | None:
    """What the layer is given when the lambda is called with `arguments`; None where that is not seen."""
    arguments = arguments or arguments_of(run, node, env)
    spec = made.function.node.args
    names = [a.arg for a in spec.args]
    if any(isinstance(a, ast.Starred) for a, _ in arguments.positional) or any(k is None for k, _, _ in arguments.keywords):
        return None
    if len(arguments.positional) > len(names) and spec.vararg is None:
        return None
    given = dict(zip(names, arguments.positional))
    rest = arguments.positional[len(names) :]
    others: list[tuple[str | None, ast.expr, Abs]] = []
    for key, value_node, value in arguments.keywords:
        assert key is not None
        if key in names or key in {a.arg for a in spec.kwonlyargs}:
            if key in given:
                return None
            given[key] = (value_node, value)
        elif spec.kwarg is not None:
            others.append((key, value_node, value))
        else:
            return None
    if set(given) != {*names, *[a.arg for a in spec.kwonlyargs]}:
        return None
    positional: list[tuple[ast.expr, Abs]] = []
    keywords: list[tuple[str | None, ast.expr, Abs]] = []
    for argument in made.call.args:
        if isinstance(argument, ast.Starred):
            if spec.vararg is None or not _is_name(argument.value, spec.vararg.arg):
                return None
            positional += rest
        elif isinstance(argument, ast.Name) and argument.id in given:
            positional.append(given[argument.id])
        else:
            return None
    for keyword in made.call.keywords:
        if keyword.arg is None:
            if spec.kwarg is None or not _is_name(keyword.value, spec.kwarg.arg):
                return None
            keywords += others
        elif isinstance(keyword.value, ast.Name) and keyword.value.id in given:
            keywords.append((keyword.arg, *given[keyword.value.id]))
    return Arguments(node, positional, keywords)


def construct_by(run: Any, made: FactoryFunction, node: ast.Call, env: Any, arguments: Arguments | None = None) -> Abs:
    """The lambda is called: it makes its module."""
    from .construction import construct

    given = handed_on(run, made, node, env, arguments)
    if given is None:
        raise Unmigratable("NNX132", f"what the lambda that `{ast.unparse(node.func)}` is hands on is not seen", node)
    return construct(run, made.factory, node, env, inline=True, arguments=given)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def returned_choice(
    run: Any,
    test: ast.expr,
    localized: Localized | None,
    text: str,
    sides: tuple[Returned, Returned],
    env: Env,
    returned: Returned,
) -> Abs | None:
    """What a function returns on the two sides of a condition, where each is a factory: a choice whose condition is said
    in the terms of the class that calls the function. None for anything else, with `returned.guarded` where one side is a
    factory and the other returns nothing: it raises, or gives None, and whoever calls that raises.
    """
    if localized is None and not text:
        return None
    options: list[Value] = []
    for side in sides:
        option = as_factory(run, side) if len(side.values) == 1 else RAISED if not side.values else None
        if option is None:
            return None
        options.append(option)
    said = words_of_class(run, test, env)
    if said is None or options == [RAISED, RAISED]:
        return None
    own, home = said
    localized, text = in_constructor(run, test, own, localized, text, env)
    choice = FactoryChoice(own, localized, text, options[0], options[1], home)
    if RAISED in options:  # a function that returns one kind or nothing makes that kind
        returned.guarded = choice
        return None
    flags = frozenset().union(*[found.flags for side in sides for found in side.values])
    return Abs(choice, False, flags)


def of_outside(
    run: Any, test: ast.expr, localized: Localized | None, text: str, sides: tuple[Abs, Abs], env: Env
) -> Abs | None:
    """As `returned_choice`, for `a if test else b` in a function outside of classes."""
    if not _is_outside(env) or not any(isinstance(s.value, Factory | FactoryChoice) for s in sides):
        return None
    given = (Returned([sides[0]]), Returned([sides[1]]))
    return returned_choice(run, test, localized, text, given, env, Returned())


def as_factory(run: Any, side: Returned) -> Value | None:
    """The one thing that a function returns, where it makes modules, or gives its input back."""
    value = side.values[0].value
    if side.guarded is not None:
        return side.guarded
    if isinstance(value, FactoryChoice) or (isinstance(value, Factory) and not value.field):
        return value
    return maker(run, value) or makes_nothing(value)
