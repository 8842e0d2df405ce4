"""A factory chosen by a condition: `nn.LayerNorm if self.ln else nn.RMSNorm`, `nn.remat(Block) if self.remat else Block`.

What it makes is made under the same condition in the constructor, and asked for under it in the method.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...frozen import frozen
from ...source import SourceFile
from ...trees import subtree
from ..values import caller_words, name_tests
from ..values.arguments import Arguments, arguments_of
from ..values.environment import holds_same
from ..values.merging import Several, decided, either
from ..values.nothing_made import IDENTITY, MakesNothing, makes_nothing
from ..values.sites import Abs, AnyFactory, Block, Branch, Factory, Localized, Site, Static, Unmigratable
from ..values.values import Const, Value

_BUILTINS = frozenset(dir(builtins))
_NO_QUESTION = (
    ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip


@frozen(eq=False)
class Here:
    """A place in a method: what its names hold there, and the loops around it."""

    names: Mapping[str, Abs | None]
    loops: tuple[ast.AST, ...]

    def holds(self, run: Any, env: Any) -> bool:
        """Is this that place, or one where the names hold the same?"""
        same = all(holds_same(run, held, env.get(name)) for name, held in self.names.items())
        return same and self.loops == tuple(run.running_loops)


@frozen(eq=False)
class FactoryChoice(AnyFactory):
    """One of two factories (or further choices), by a condition that the constructor can say."""

    test: ast.expr
    localized: Localized | None
    text: str
    then: Value
    orelse: Value
    home: SourceFile | None = None  # the file whose names the condition means, where it is not the text that stands there
    here: Here | None = None  # where the condition asks for names of the method: it is the same only there


@frozen(eq=False)
class _Raised(Value):
    """No factory: where the condition is not met the program raises."""


RAISED = _Raised()


def chosen(run: Any, test: ast.expr, localized: Localized | None, text: str, then: Value, orelse: Value, env: Any) -> Value:
    """The choice between two factories; `Several` where the condition cannot be repeated elsewhere in the method."""
    then, orelse = makes_nothing(then) or then, makes_nothing(orelse) or orelse
    options = (then, orelse)
    if not all(isinstance(o, Factory | FactoryChoice | MakesNothing) for o in options) or (localized is None and not text):
        return Several(options)
    if all(isinstance(o, Factory) and o.field for o in options) and not _of_one_field(then, orelse) and _of_kinds(options):
        return Several(options)
    said = said_where_made(run, test, localized, text, env)
    here = place_of(run, test, localized, env) if said is None else None
    if said is None and here is None:
        return Several(options)
    own, localized, text, home = said or (test, localized, text, None)
    made = FactoryChoice(own, localized, text, then, orelse, home, here)
    return _by_kind(made) or made


def place_of(run: Any, test: ast.expr, localized: Localized | None, env: Any) -> Here | None:
    """The place of a method whose names a condition asks for: `kind == "conv"` in a loop over kinds."""
    if localized is None or run.apart or not caller_words.in_method(env):
        return None
    if run.in_setup and not isinstance(env.source.parents.get(test), ast.IfExp):
        return None  # a statement may leave the name what an earlier pass of a loop has given it
    if any(isinstance(n, _NO_QUESTION) for n in subtree(test)):
        return None
    names = {n.id for n in subtree(test) if isinstance(n, ast.Name) and n.id != "self"}
    return Here({name: env.get(name) for name in names}, tuple(run.running_loops))


def check_here(run: Any, choice: Any, node: ast.Call, env: Any) -> None:
    """Refuse a choice by names of a method where these hold something else."""
    if choice.here is not None and not choice.here.holds(run, env):
        what = f"`{ast.unparse(node.func)}` is chosen by `{ast.unparse(choice.test)}`, which may have changed by then"
        raise Unmigratable("NNX132", what, node)


def said_where_made(
    run: Any, test: ast.expr, localized: Localized | None, text: str, env: Any
) -> tuple[ast.expr, Localized | None, str, SourceFile | None] | None:
    """A condition that chooses a factory, as it is asked where the module is made: in the method, in the constructor, and
    the file whose names it means; None where it cannot be."""
    if localized is None and not text:
        return None
    if not any(isinstance(n, ast.Name) and n.id != "self" and env.get(n.id) is not None for n in subtree(test)):
        return test, localized, text, None
    in_method = caller_words.in_method(env)
    said = in_fields_of(run, test, env) if in_method else words_of_class(run, test, env)
    if said is None:
        return None
    own, home = said
    if not in_method:
        localized, text = in_constructor(run, test, own, localized, text, env)
    return own, localized, text, home


def _of_one_field(a: Value, b: Value) -> bool:
    """`nn.remat(self.block) if self.remat else self.block`"""
    pair = [o for o in (a, b) if isinstance(o, Factory) and o.field and not o.alternatives]
    return len(pair) == 2 and pair[0].field == pair[1].field and abs(len(pair[0].lifted) - len(pair[1].lifted)) == 1


def _of_kinds(options: Iterable[Value]) -> bool:
    """Does a field hold one of several kinds, of which not each has the names and arguments of the others?"""
    return any(isinstance(o, Factory) and o.alternatives for o in options)


def words_of_class(run: Any, test: ast.expr, env: Any) -> tuple[ast.expr, SourceFile | None] | None:
    """A condition on the arguments of a function, in the terms of the class that calls it, and the file whose names it
    means besides; None where it needs what only the function has.
    """
    asked, needs = run.self_text(test, env)
    if needs:
        return _by_arguments(run, test, env)
    own = ast.parse(asked, mode="eval").body
    names = {n.id for n in subtree(own) if isinstance(n, ast.Name)} - {"self"}
    return own, None if names <= _everywhere(run, env.source) else env.source


def in_constructor(
    run: Any, test: ast.expr, own: ast.expr, localized: Localized | None, text: str, env: Any
) -> tuple[Localized | None, str]:
    """A condition of a function as the constructor says it: in terms of the fields (`own`) where it asks for names of the
    function, which may be others by the time that the module is made.
    """
    if localized is None or not caller_words.asks_own_names(test, env):
        return localized, text
    return None, ast.unparse(own)


def _everywhere(run: Any, *sources: SourceFile) -> frozenset[str]:
    """The names that mean the same in all of these files and in that of the class: builtins that none of them binds."""
    return _BUILTINS.difference(
        *(table for s in (run.model.source, *sources) for table in (s.names.imports, s.names.definitions))
    )


def in_fields_of(run: Any, test: ast.expr, env: Any) -> tuple[ast.expr, SourceFile | None] | None:
    """As `by_fields`, also through names that hold more than that: `kind = cfg.norm.lower()` of `cfg`."""

    def read(name: ast.Name) -> ast.expr | None:
        place = env.place_of(name.id)
        given = place.words.get(name.id) if place is not None else None
        if given is None or given[2] is not place.names[name.id]:
            return None
        found = in_fields_of(run, given[0], given[1])
        return found[0] if found is not None and found[1] is None else None

    return by_fields(run, test, lambda n: env.get(n.id), read)


def by_fields(
    run: Any,
    test: ast.expr,
    bound: Callable[[ast.Name], Abs | None],
    read: Callable[[ast.Name], ast.expr | None] = lambda _: None,
) -> tuple[ast.expr, SourceFile | None] | None:
    """A condition of a method in terms of the fields: `self.config.norm` where it asks for `cfg.norm`, and that is it;
    `bound`: what a name holds there; `read`: the expression in terms of fields that it was given.
    """
    said: dict[str, ast.expr] = {}
    for name in [n for n in subtree(test) if isinstance(n, ast.Name) and n.id != "self"]:
        held = bound(name)
        if held is None:
            continue
        value = held.value
        if not isinstance(value, Static) or not (type(value) is Static or value.of_fields):
            return None
        if value.deps:
            again = read(name)
            if again is None:
                return None
            said[name.id] = again
            continue
        root = re.match(r"self\.(\w+)", value.text)
        if root is None or root[1] not in run.fields:
            return None
        said[name.id] = ast.parse(value.text, mode="eval").body
    own = _Said(said).visit(copy.deepcopy(test))
    names = {n.id for n in subtree(own) if isinstance(n, ast.Name)} - {"self"}
    return (own, None) if names <= _everywhere(run) else None


class _Said(ast.NodeTransformer):
    """Other expressions in the place of names."""

    def __init__(self, said: Mapping[str, ast.expr]) -> None:
        self.said = said

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.said.get(node.id, node)


def _by_arguments(run: Any, test: ast.expr, env: Any) -> tuple[ast.expr, SourceFile | None] | None:
    """The condition with the arguments of the function as its caller says them: `find(self.weights, "a") is None`."""
    made, source = caller_words.said(run, test, env)
    names = {n.id for n in subtree(made) if isinstance(n, ast.Name)} - {"self"}
    if made is test:
        return None
    if names - set(source.names.imports) - set(source.names.definitions) - _everywhere(run, source):
        home = caller_words.home_of(env)  # names of the method may mean something else by then: in terms of the fields
        return in_fields_of(run, made, home) if home is not None else None
    return made, None if names <= _everywhere(run, source) else source


def or_raises(
    run: Any, test: ast.expr, localized: Localized | None, text: str, option: Value, holds: bool, env: Any
) -> Value:
    """A factory of a function outside of classes that raises on the other side of a condition."""
    said = words_of_class(run, test, env) if (localized is not None or text) and not caller_words.in_method(env) else None
    if said is None:
        return option
    then, orelse = (option, RAISED) if holds else (RAISED, option)
    localized, text = in_constructor(run, test, said[0], localized, text, env)
    return FactoryChoice(said[0], localized, text, then, orelse, said[1])


def _by_kind(choice: FactoryChoice) -> FactoryChoice | None:
    """`block = A if test else B`, then `if remat: block = nn.remat(block)`: first which class, then whether it is lifted."""
    a, b = choice.then, choice.orelse
    if not (isinstance(a, FactoryChoice) and isinstance(b, FactoryChoice)) or (a.test, a.home) != (b.test, b.home):
        return None
    first = dataclasses.replace(choice, then=a.then, orelse=b.then)
    second = dataclasses.replace(choice, then=a.orelse, orelse=b.orelse)
    if lifted_or_not(first) is None or lifted_or_not(second) is None:
        return None
    return dataclasses.replace(a, then=first, orelse=second)


def construct_choice(
    run: Any,
    choice: FactoryChoice,
    node: ast.Call,
    env: Any,
    arguments: Arguments | None = None,
    known: tuple[tuple[str, bool], ...] = (),
) -> Abs:
    """A module is made by one of several factories; `known`: the conditions that led to this choice."""
    from .construction import construct
    from .factory_functions import FactoryFunction, construct_by

    if arguments is None:
        arguments = arguments_of(run, node, env)
    if choice.home is not None and choice.home is not env.source:
        what = f"`{ast.unparse(node.func)}` is chosen by `{ast.unparse(choice.test)}`, which means something else here"
        raise Unmigratable("NNX132", what, node)
    check_here(run, choice, node, env)
    lifted = lifted_or_not(choice)
    named = any(k.arg == "name" for k in node.keywords)
    if lifted is not None and (run.in_setup or named):
        return construct(run, lifted, node, env, arguments=arguments)
    outer = run.block
    then, orelse = Block(), Block()
    localized, text = _as_made(choice, env)
    outer.steps.append(Branch(localized, then, orelse, env.source, text, ast.unparse(choice.test)))
    results: list[Abs] = []
    nothing = run.nothing.setdefault(node, [])
    if not known:
        nothing.clear()
    for block, side, holds in ((then, choice.then, True), (orelse, choice.orelse, False)):
        led = (*known, (ast.unparse(choice.test), holds))
        option = _possible(side, led)
        run.block = block
        mark, empty = len(run.sites), len(nothing)
        if option is RAISED:
            continue  # nothing is made, so that the use of it raises here too
        if isinstance(option, MakesNothing):
            if not option.takes(len(arguments.positional), [k for k, _, _ in arguments.keywords]) or arguments.starred():
                what = f"`{ast.unparse(node.func)}` may be a function that makes nothing, and is given what it does not take"
                raise Unmigratable("NNX132", what, node)
            nothing.append(Site("nothing", node, env.source))
            results.append(Abs(IDENTITY))
        elif isinstance(option, FactoryChoice):
            results.append(construct_choice(run, option, node, env, arguments, led))
        elif isinstance(option, FactoryFunction):
            results.append(construct_by(run, option, node, env, arguments))
        else:
            assert isinstance(option, Factory)
            check_unchanged(run, option, node, env)
            results.append(construct(run, option, node, env, inline=not option.field, arguments=arguments))
        for site in run.sites[mark:]:
            if site.node is not node:
                raise Unmigratable("NNX132", "one of several factories is given modules", node)
            site.conditions = ((choice.test, False), *site.conditions)
            site.choice = ((choice.test, holds), *site.choice)
        for site in nothing[empty:]:
            site.choice = ((choice.test, holds), *site.choice)
    run.block = outer
    if len(results) == 1:
        return results[0]
    a, b = results[0].value, results[1].value
    text, deps = run.self_text(choice.test, env)
    return Abs(decided(either(run, a, b, node), text, deps, a, b), False)


def _as_made(choice: FactoryChoice, env: Any) -> tuple[Localized | None, str]:
    """The condition as the constructor asks it where the module is made: in terms of the fields where a name that it was
    asked by is bound again."""
    at: Any = env if caller_words.in_method(env) else caller_words.home_of(env)
    while at is not None and at.method is None:
        at = at.parent
    if choice.localized is None or choice.here is not None or at is None:
        return choice.localized, choice.text
    bound = [n.id for n in subtree(at.method.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    own = any(isinstance(n, ast.Name) and n.id != "self" and at.get(n.id) is not None for n in subtree(choice.test))
    if own or not any(bound.count(name) > 1 for name in choice.localized.needs):
        return choice.localized, choice.text
    return None, ast.unparse(choice.test)


def _possible(option: Value, known: tuple[tuple[str, bool], ...]) -> Value:
    """What is left of a choice under conditions that decide it."""
    while isinstance(option, FactoryChoice):
        holds = name_tests.decided(ast.unparse(option.test), known)
        if holds is None:
            break
        option = option.then if holds else option.orelse
    return option


def left_where(option: Value, asked: str, holds: bool, run: Any, env: Any) -> Value:
    """What is left of a choice on one side of a condition, as this is asked of the fields."""
    if not isinstance(option, FactoryChoice) or option.home is not None:
        return option
    then, orelse = (left_where(side, asked, holds, run, env) for side in (option.then, option.orelse))
    known = name_tests.decided(ast.unparse(option.test), ((asked, holds),))
    left = then if known else orelse
    same = option.here is None or option.here.holds(run, env)
    if known is not None and same and isinstance(left, Factory | FactoryChoice):
        return left
    changed = then is not option.then or orelse is not option.orelse
    return dataclasses.replace(option, then=then, orelse=orelse) if changed else option


def check_unchanged(run: Any, option: Factory, node: ast.Call, env: Any) -> None:
    """The constructor says what the factory holds where it makes the module: the names must still mean the same there."""
    for held in (*option.args.values(), *option.positional):
        if held.node is None or held.localized is None:
            continue
        for name in subtree(held.node):
            if not isinstance(name, ast.Name) or name.id not in held.localized.needs:
                continue
            before, now = run.evaluated.get(name), env.get(name.id)
            same_constant = before == now and isinstance(now.value, Const)
            if not same_constant and not holds_same(run, before, now):
                what = f"`{ast.unparse(node.func)}` is a factory that holds `{name.id}`, which has changed"
                raise Unmigratable("NNX132", what, node)


def map_choice(choice: FactoryChoice, change: Callable[[Factory], Factory]) -> FactoryChoice | None:
    """Every option changed alike; None where one is no factory, or where one is a field's and the other is not."""
    if len({bool(o.field) for o in (choice.then, choice.orelse) if isinstance(o, Factory)}) > 1:
        return None
    options: list[Value] = []
    for option in (choice.then, choice.orelse):
        new: Value | None = RAISED if option is RAISED else None
        if isinstance(option, FactoryChoice):
            new = map_choice(option, change)
        elif isinstance(option, Factory):
            new = change(option)
        if new is None:
            return None
        options.append(new)
    return dataclasses.replace(choice, then=options[0], orelse=options[1])


def lifted_or_not(choice: FactoryChoice) -> Factory | None:
    """`nn.remat(Block) if test else Block`: one factory whose transform has a condition."""
    a, b = choice.then, choice.orelse
    if choice.here is not None or not isinstance(a, Factory) or not isinstance(b, Factory) or bool(a.field) != bool(b.field):
        return None
    more, less, holds = (a, b, True) if len(a.lifted) > len(b.lifted) else (b, a, False)
    around = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] is pair[1], zip(more.lifted, less.lifted)))
    extra, inner = more.lifted[around : around + 1], more.lifted[around + 1 :]
    if len(extra) != 1 or extra[0].kind != "remat" or inner != less.lifted[around:]:
        return None
    if more.target != less.target or dict(more.args) != dict(less.args) or more.positional != less.positional:
        return None
    one = extra[0]
    conditional = dataclasses.replace(one, condition=(choice.test, holds), said={})
    return dataclasses.replace(more, lifted=(*more.lifted[:around], conditional, *inner))


__all__ = [
    "RAISED", "FactoryChoice", "Here", "by_fields", "check_here", "check_unchanged", "chosen", "construct_choice",
    "in_constructor", "lifted_or_not", "map_choice", "or_raises", "place_of", "said_where_made", "words_of_class",
]  # fmt: skip
