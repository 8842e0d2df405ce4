"""A transform, or none, by a condition: `wrap = nn.remat` where `self.remat`, and else `wrap = lambda cls: cls`.

A class that it is given is the choice between the class under the transform and the class alone.
"""

from __future__ import annotations

import ast
from typing import Any

from ...frozen import frozen
from ...source import SourceFile
from ..modules.choices import FactoryChoice, Here, check_here, place_of, said_where_made
from ..modules.construction import lifted_factory
from ..values.arguments import arguments_of
from ..values.nothing_made import gives_back
from ..values.sites import Abs, Factory, Localized, PartialLift, Unmigratable
from ..values.values import Global, Value
from .lifting import LIFTED


@frozen(eq=False)
class TransformChoice(Value):
    """One of two transforms, or a transform and nothing, by a condition that the constructor can say."""

    test: ast.expr
    localized: Localized | None
    text: str
    then: Value
    orelse: Value
    home: SourceFile | None = None
    here: Here | None = None


def chosen_transform(
    run: Any, test: ast.expr, localized: Localized | None, text: str, then: Value, orelse: Value, env: Any
) -> TransformChoice | None:
    """The choice between two values, where it is one of transforms; None for anything else."""
    sides = (then, orelse)
    if not all(is_transform(s) or gives_back(s) for s in sides) or not any(is_transform(s) for s in sides):
        return None
    said = said_where_made(run, test, localized, text, env)
    if said is not None:
        return TransformChoice(said[0], said[1], said[2], then, orelse, said[3])
    here = place_of(run, test, localized, env)
    return TransformChoice(test, localized, text, then, orelse, here=here) if here is not None else None


def is_transform(value: Value) -> bool:
    """Is it `nn.remat` or the like, a partial of one, or one by a condition?"""
    lifts = isinstance(value, Global) and value.name in LIFTED
    return lifts or isinstance(value, PartialLift | TransformChoice)


def lift_by_choice(run: Any, choice: TransformChoice, node: ast.Call, env: Any) -> Abs:
    """What a class is that such a choice is given."""
    check_here(run, choice, node, env)
    arguments = arguments_of(run, node, env)
    if len(arguments.positional) != 1 or arguments.keywords or arguments.starred():
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` is a transform by a condition, given options", node)
    given = arguments.positional[0][1]
    if not isinstance(given.value, Factory) or given.value.field:
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` is a transform by a condition, of no class", node)
    sides = [_lifted(run, option, node, given, env) for option in (choice.then, choice.orelse)]
    found = FactoryChoice(choice.test, choice.localized, choice.text, sides[0], sides[1], choice.home, choice.here)
    return Abs(found, given.static, given.flags)


def _lifted(run: Any, option: Value, node: ast.Call, given: Abs, env: Any) -> Value:
    if isinstance(option, TransformChoice):
        found: Value = lift_by_choice(run, option, node, env).value
        return found
    if isinstance(option, PartialLift):
        found = lifted_factory(run, option.name, node, env, option).value
        return found
    if isinstance(option, Global):
        found = lifted_factory(run, option.name, node, env).value
        return found
    return given.value


__all__ = ["TransformChoice", "chosen_transform", "is_transform", "lift_by_choice"]
