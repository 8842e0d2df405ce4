"""Symbolic execution of conditions: both sides are followed, and what they leave becomes one value.

Sizes that differ between the sides are followed by a variable that the constructor assigns in each.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...trees import subtree
from ..lifted.transform_choices import chosen_transform
from ..lists import chains, conditional_items, last_pass, size_lists
from ..modules import alternatives, by_sizes, fallback_factories, reentry, settled_sides
from ..modules.choices import FactoryChoice, chosen, or_raises
from ..modules.factory_functions import returned_choice
from ..modules.given_functions import ChosenFunction
from ..shapes import one_or_more
from ..values import unpacking
from ..values.dims import Dim
from ..values.environment import Env, Returned
from ..values.merging import (
    OF_BRANCHES,
    Choice,
    Either,
    chosen_apart,
    decided,
    dependencies_of,
    last_of_both,
    question,
    same_width,
    under_step,
)
from ..values.nothing_made import makes_nothing
from ..values.presence import Step, asked, either_result, step_of, untold
from ..values.replacing import sayable
from ..values.sites import (
    Abs,
    Block,
    Branch,
    Factory,
    Function,
    Local,
    Localized,
    Module,
    Repeated,
    Static,
    Track,
    Unmigratable,
    steps_of,
)
from ..values.values import OPAQUE, Array, Const, Int, Lead, Shape, Tup, Unknown, Value, size_stem
from . import (
    correlated,
    early_returns,
    equal_sizes,
    joined_branches,
    left_by_passes,
    nested_conditions,
    open_constants,
    side_ranks,
    stand_ins,
)
from .function_choices import FunctionChoice, chosen_function

if TYPE_CHECKING:
    from .execute import Execution


def run_if(run: Execution, node: ast.If, rest: Sequence[ast.stmt], env: Env, returned: Returned) -> tuple[bool, bool]:
    """Follow a condition and, where one side returns early, the statements after it as part of the other side.

    Returns whether every path has returned, and whether `rest` was executed.
    """
    run.mark = (run.block, len(run.block.steps))
    test = open_constants.left_open(run, node, rest, env, question(run.evaluate(node.test, env)))
    certain = run.truth(test.value)
    if certain is not False and reentry.enters_again(run, node, env):
        reentry.follow(run, node, env)
        return False, False
    if certain is None:
        certain = last_pass.answer(run, node.test, env)
    if certain is not None:
        return run.run_block(node.body if certain else node.orelse, env, returned), False
    localized, text, _ = run.condition(node.test, test, env)
    inner = nested_conditions.nested(run, node, env) if localized is None and asked(text) is None else None
    if inner is not None:
        return run_if(run, inner, rest, env, returned)
    left_open = run.analyser.split.get(node)
    inside = nested_conditions.apart(run, node, rest, env) if localized is None and not text and left_open is None else None
    if inside is not None and inside.orelse and not node.orelse:  # with what stands behind it
        return run_if(run, inside, (), env, returned)[0], True
    if inside is not None:
        return run_if(run, inside, rest, env, returned)
    asks_sizes = localized is None and any(_asks_sizes(part, env) for part in left_open or [node.test])
    lost = localized is None and not text and _is_lost(node.test, test, env) and not _is_of_loop(node, env)
    asks_sizes |= lost and run.model.qualname not in run.analyser.given_outside.handed  # the first call has its answer
    outer = run.block
    then, orelse = Block(), Block()
    branch = Branch(localized, then, orelse, env.source, text)
    outer.steps.append(branch)
    mark = len(run.sites)
    attributes_before = dict(run.attributes)
    before = [bound.value for bound in env.names.values()]
    given = (Returned(), Returned())  # what the two sides return
    env_then, env_else = env.copy(), env.copy()
    run.narrow(node.test, env_then, True)
    run.narrow(node.test, env_else, False)
    on_one_side = joined_branches.none_on_one_side(env, env_then, env_else)
    sides = step_of(run, node.test, test, text, env)
    if sides is not None and sides[0].deps and localized is not None:
        sides = (dataclasses.replace(sides[0], test=localized), dataclasses.replace(sides[1], test=localized))
    branch.step = sides[0] if sides is not None and not sides[0].deps else None
    way = sides or untold(run, test.value)
    asked_before = correlated.sides_of(run, node.test, (localized, text), env, (env_then, env_else), sides)

    run.block = then
    with side_ranks.of_side(run, node, True, env_then), run.under(way, True, localized), run.knowing(test.value):
        done_then = run.run_block(node.body, env_then, given[0])
    of_then = len(run.sites)
    attributes_then = run.attributes
    run.attributes = dict(attributes_before)
    run.block = orelse
    with side_ranks.of_side(run, node, False, env_else), run.under(way, False, localized):
        done_else = run.run_block(node.orelse, env_else, given[1])
    of_both, rest_holds = len(run.sites), done_else
    ways = ((True, done_then, given[0]), (False, done_else, given[1]))
    ended = [side for side, done, found in ways if done and not found.values]
    branch.raises = ended[0] if len(ended) == 1 else None
    only = run.analyser.settled_sides.get(node)
    done_then, done_else = done_then or only is False, done_else or only is True
    took_rest = False
    if done_then != done_else and rest:
        # An early return: what follows belongs to the other branch only.
        run.block = then if done_else else orelse
        survivor = env_then if done_else else env_else
        if done_else:
            run.attributes, attributes_then = attributes_then, run.attributes
        alone = branch.raises is not None  # the other side raises
        apart = side_ranks.of_side(run, node, not done_then, survivor) if not alone else contextlib.nullcontext()
        with apart, run.under(way, not done_then, localized):
            on = given[0 if done_else else 1]
            finished = early_returns.follow(run, rest, list(on.exits), survivor, on)
        if done_else:
            run.attributes, attributes_then = attributes_then, run.attributes
        took_rest = True
        done_then, done_else = (finished, True) if done_else else (True, finished)
    side_ranks.tell(run, node, branch.raises)
    run.block = outer
    calltime = localized is None and not text
    equal_sizes.one_name(run, node, (env_then, env_else), given)
    factories = returned_choice(run, node.test, localized, text, given, env, returned)
    whole = None if calltime else branch
    returned.values += [factories] if factories is not None else _of_both(run, given, whole, sides, before)
    if calltime:
        size_lists.broken(run, size_lists.changed_in([branch]))
    # A call on shapes, with the defaults of the flags, may raise where no call of the program does.
    by_flags = run.model.qualname in run.analyser.later and asks_sizes and bool(test.flags - run.optional_arguments)
    for place, site in enumerate(run.sites[mark:], mark):
        holds = rest_holds if place >= of_both else place < of_then
        unless_raised = branch.raises is (not holds) and not by_flags
        if calltime and unless_raised and not _is_caught(run):
            continue  # every call that comes to its end makes it: `if mode == "decode": raise`
        if calltime and settled_sides.is_settled(run, node, site, holds):
            continue
        site.conditions = (*site.conditions, (node, calltime))
        site.renders["sides"] = {**site.renders.get("sides", {}), node: holds}
        plain = not took_rest and not (done_then or done_else)
        if plain and calltime and not site.in_setup and by_sizes.leave(run, node, site, env):
            continue
        if calltime and site.kind != "rng" and not site.in_setup and asks_sizes:
            reason = f"it makes modules or not by sizes that are not known: `{ast.unparse(node.test)}`"
            raise Unmigratable("NNX110", reason, node)
    run.attributes = {**attributes_then, **run.attributes}
    for name, value in attributes_then.items():
        other = run.attributes.get(name)
        if other is not value and other is not None:
            factory = _held_choice(run, node.test, localized, text, value, other, env) if run.in_setup else None
            if factory is not None:
                run.attributes[name] = factory
                continue
            listed = chains.merged(run, value.value, other.value, sides) if run.in_setup else None
            if listed is not None:
                run.attributes[name] = Abs(listed, False, value.flags | other.flags)
                continue
            sized = _either_size(run, node.test, test, value, other, env) if localized is not None else None
            if sized is not None:
                run.attributes[name] = sized
                continue
            merged = run.merge_pair(value, other)
            run.attributes[name] = dataclasses.replace(
                merged, value=under_step(merged.value, value.value, other.value, sides)
            )
    for side, changed in zip((env_then, env_else), asked_before):
        correlated.put_back(side, changed)
    if done_then and done_else:
        return True, took_rest
    returned.exits += early_returns.exits(branch, node, ways)
    if done_then or done_else:
        kept = env_else if done_then else env_then
        if branch.raises is done_then:
            _or_raises(run, branch, node, env, kept, localized, text)
        env.restore(kept)
    else:
        for name, (was, left, right) in on_one_side.items():
            if env_then.names.get(name) is left and env_else.names.get(name) is right:
                env_then.names[name] = env_else.names[name] = was
        equal_sizes.one_rank(node, env_then, env_else)
        asked_in = env.copy()  # a side may know more of what was asked for: `elif kind is None`, `else: raise`
        merge_envs(run, env, env_then, env_else, then, orelse, calltime, sides)
        _choose(run, node, env, asked_in, env_then, env_else, localized, text, sides)
        joined_branches.widen(node, (env_then, env_else), env)
        by_sizes.open_values(node, run.sites[mark:], env, (env_then, env_else))
    if calltime:  # both sides would be in the constructor, one after the other
        for step in [*steps_of(then), *steps_of(orelse)]:
            if isinstance(step, Local) and step.changes:
                for name in step.names:
                    env.names[name] = Abs(Unknown(name))
                    env.local.discard(name)
    return False, took_rest


def _is_caught(run: Execution) -> bool:
    """May what a method raises end with a `with` around it: `contextlib.suppress`? (In a `try` no modules are made.)"""
    managers = [
        (method.source, item.context_expr)
        for method in run.model.methods().values()
        for node in method.nodes
        if isinstance(node, ast.With)
        for item in node.items
    ]
    known = [run.project.qualname(source, m.func) if isinstance(m, ast.Call) else None for source, m in managers]
    return not all(name is not None and name.startswith("jax.") for name in known)


def _asks_sizes(test: ast.expr, env: Env) -> bool:
    """Is a condition one of sizes, so that what it says is the same at every call: `h.shape[1] in self.resolutions`?

    Numbers of fields and counters of loops (`train and i > 0`) are none.
    """
    for node in subtree(test):
        asked = isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size")
        bound = env.get(node.id) if isinstance(node, ast.Name) else None
        if asked or (bound is not None and isinstance(bound.value, Int) and not bound.static):
            return True
    return False


def _is_lost(node: ast.expr, test: Abs, env: Env) -> bool:
    """Does a condition ask what the constructor cannot say, as a list that items are taken from, and no input or flag?"""
    if type(test.value) is not Unknown or test.flags:
        return False
    held = [env.get(n.id) for n in subtree(node) if isinstance(n, ast.Name)]
    whys = [h.value.why for h in held if h is not None and type(h.value) is Unknown and not h.flags]
    return any(why and not why.startswith(("argument", OF_BRANCHES)) for why in whys)


def _is_of_loop(node: ast.If, env: Env) -> bool:
    """NNX157 has the conditions of passes."""
    return any(isinstance(around, ast.For | ast.While) for around in env.source.ancestors(node))


def _of_both(
    run: Execution,
    given: tuple[Returned, Returned],
    branch: Branch | None,
    sides: tuple[Step, Step] | None,
    before: Sequence[Value],
) -> list[Abs]:
    """What a function returns on the sides of a condition: one array, where the constructor knows the condition.

    `before`: the values that were there before the condition.

    The size that it chooses is assigned before the statement that calls the function: `nn.Dense(4)(scaled(x))` makes
    its layer first.
    """
    values = [*given[0].values, *given[1].values]
    if branch is None or not given[0].values or not given[1].values:
        return values
    own = [run.merge_values(side.values) for side in given]
    a, b = alternatives.saying(own[0], own[1], before)
    if a is not own[0]:
        return [a]
    either = either_returned(run, a, b, sides) or _module_or_none(run, a, b, sides)
    if either is not None:
        return [either]
    if len(run.marks) < 2 or run.marks[1][0] is not run.block:
        return values
    if not (isinstance(a.value, Array) and isinstance(b.value, Array)) or a.value == b.value:
        return values
    needed = dependencies_of(a.value) | dependencies_of(b.value) | (branch.test.needs if branch.test else set())
    late = steps_of(Block(run.block.steps[run.marks[1][1] :]))
    if any(needed & (s.names if isinstance(s, Local) else {getattr(s, "name", "")}) for s in late):
        return values
    chosen = dataclasses.replace(branch, then=Block(), orelse=Block())
    merged = _merge_tracked(run, "", a, b, chosen.then, chosen.orelse, False, sides)
    if chosen.then.steps:
        here, run.mark = run.mark, run.marks[1]
        size_lists.before_statement(run, chosen, "")
        run.marks[1], run.mark = run.mark, (here[0], here[1] + (here[0] is run.block))
    return [merged]


def either_returned(run: Execution, a: Abs, b: Abs, sides: tuple[Step, Step] | None) -> Abs | None:
    """What a class's own method returns where its fields decide which of two arrays, or tuples of arrays, it is."""
    if a.value == b.value or sides is None or sides[0].deps or dependencies_of(a.value) | dependencies_of(b.value):
        return None
    if type(a.value) is Tup and type(b.value) is Tup and len(a.value.items) == len(b.value.items):
        pairs = list(zip(a.value.items, b.value.items))
        if not all(type(x) is Array and type(y) is Array for x, y in pairs):
            return None
        items = tuple(x if x == y else _either_array(x, y, sides) for x, y in pairs)
        return Abs(dataclasses.replace(a.value, items=items), False, a.flags | b.flags)
    if type(a.value) is not Array or type(b.value) is not Array or len(run.marks) >= 2:
        return None
    return Abs(_either_array(a.value, b.value, sides), False, a.flags | b.flags)


def _either_array(a: Value, b: Value, sides: tuple[Step, Step]) -> Value:
    return chosen_apart(either_result(sides[0], a, b), a, b, sides)


def _module_or_none(run: Execution, a: Abs, b: Abs, sides: tuple[Step, Step] | None) -> Abs | None:
    """What a helper function of `setup` makes, or None, by its fields: `if width is None: return None`."""
    kinds = (type(a.value), type(b.value))
    none = any(isinstance(v.value, Const) and v.value.value is None for v in (a, b))
    if not (run.in_setup and none and Module in kinds and sides is not None and not sides[0].deps):
        return None
    merged = run.merge_pair(a, b)
    return dataclasses.replace(merged, value=under_step(merged.value, a.value, b.value, sides))


def _choose(
    run: Execution,
    node: ast.If,
    env: Env,
    asked_in: Env,
    then: Env,
    orelse: Env,
    localized: Localized | None,
    text: str,
    sides: tuple[Step, Step] | None,
) -> None:
    """Names that hold one factory, function or module or another, by the condition."""
    for name, bound in env.names.items():
        left, right = then.names.get(name), orelse.names.get(name)
        if left is None or right is None or left.value is right.value:
            continue
        fallback_factories.note(run, node.test, left.value, right.value, env)
        made = any(isinstance(side.value, Factory | FactoryChoice) for side in (left, right))
        if made and _is_factory(left.value) and _is_factory(right.value):
            if left_by_passes.may_be(env.source, node, name):
                reason = f"`{name}` is one of several kinds of modules, or what an earlier pass of the loop had"
                raise Unmigratable("NNX132", reason, node)
            value = chosen(run, node.test, localized, text, left.value, right.value, asked_in)
            env.names[name] = dataclasses.replace(bound, value=value, static=left.static and right.static)
            continue
        transform = chosen_transform(run, node.test, localized, text, left.value, right.value, asked_in)
        if transform is not None:
            env.names[name] = dataclasses.replace(bound, value=transform, static=left.static and right.static)
        elif isinstance(left.value, Function | FunctionChoice) and isinstance(right.value, Function | FunctionChoice):
            function = chosen_function(node, localized, text, sides, left.value, right.value, env)
            if function is not None:
                env.names[name] = Abs(function, False, left.flags | right.flags)
        elif isinstance(bound.value, Either) and localized is not None:
            value = decided(bound.value, *run.self_text(node.test, asked_in), left.value, right.value)
            env.names[name] = dataclasses.replace(bound, value=value)


def _held_choice(
    run: Execution, test: ast.expr, localized: Localized | None, text: str, then: Abs, orelse: Abs, env: Env
) -> Abs | None:
    """What an attribute of `setup` makes, by its condition: `self.norm = nn.LayerNorm`, else `self.norm = nn.RMSNorm`."""
    made = any(isinstance(side.value, Factory | FactoryChoice) for side in (then, orelse))
    if not (made and _is_factory(then.value) and _is_factory(orelse.value)):
        return None
    value = chosen(run, test, localized, text, then.value, orelse.value, env)
    if isinstance(value, FactoryChoice) and value.localized is not None and value.localized.needs:
        value = dataclasses.replace(value, localized=None, text=ast.unparse(value.test))  # setup's names, elsewhere
    return Abs(value, then.static and orelse.static)


def _or_raises(
    run: Execution, branch: Branch, node: ast.If, before: Env, kept: Env, localized: Localized | None, text: str
) -> None:
    """`if kind == "a": norm = A`, `else: raise`: a function outside of classes picks it under that condition only."""
    for name, found in list(kept.names.items()):
        old = before.names.get(name)
        if isinstance(found.value, Factory | FactoryChoice) and (old is None or old.value is not found.value):
            value = or_raises(run, node.test, localized, text, found.value, branch.raises is False, kept)
            kept.names[name] = dataclasses.replace(found, value=value)


def _is_factory(value: Value) -> bool:
    return isinstance(value, Factory | FactoryChoice) or makes_nothing(value) is not None


def _either_size(run: Execution, test: ast.expr, asked: Abs, a: Abs, b: Abs, env: Env) -> Abs | None:
    """A size that both sides of a condition of `setup` set: `self.hidden = 4 * self.width`, else `self.given`."""
    one, other = (run.plain(v.value) if isinstance(v.value, Static) else v.value for v in (a, b))
    sizes = isinstance(one, Int) and isinstance(other, Int) and (isinstance(a.value, Int) or isinstance(b.value, Int))
    if not (run.in_setup and sizes and asked.static and a.static and b.static):
        return None
    assert isinstance(one, Int) and isinstance(other, Int)
    if one == other:
        return a
    text, deps = run.self_text(test, env)
    if conditional_items.asks_what_changes(run, text):
        return None
    return Abs(Int(Dim.cond(text, one.dim, other.dim, deps)), True, asked.flags | a.flags | b.flags)


def merge_envs(
    run: Execution, env: Env, a: Env, b: Env, then: Block, orelse: Block, calltime: bool, sides: tuple[Step, Step] | None
) -> None:
    for name in {**a.names, **b.names}:  # in the order of the code, which numbers the variables that are made here
        left, right = a.names.get(name), b.names.get(name)
        if left is None or right is None:
            env.names[name] = left or right or Abs(OPAQUE)
            env.local.discard(name)
            if name in (a.local if left is not None else b.local):
                env.local.add(name)
            continue
        if left == right:
            env.names[name] = left
        else:
            held = env.names.get(name)
            own = () if calltime or held is None else tuple(v for v in (left.value, right.value) if v == held.value)
            a_side, b_side = alternatives.saying(left, right, own)
            found = stand_ins.of_argument(left, right, sides) or _merge_tracked(
                run, name, a_side, b_side, then, orelse, calltime, sides
            )
            found = stand_ins.without_absent(found, left, right, sides)
            if found.static and name in dependencies_of(found.value) and env.is_taken(name):
                found = Abs(Unknown(name), False, found.flags)  # the constructor has another variable of that name
            known = under_step(found.value, left.value, right.value, sides)
            env.names[name] = found if known is found.value else dataclasses.replace(found, value=known)
            if not calltime:
                correlated.note(env, name, left, right, sides)
        if name in a.local and name in b.local and not calltime:
            env.local.add(name)
        else:
            if left != right or not (name in a.local or name in b.local):
                env.local.discard(name)


def _merge_tracked(
    run: Execution,
    name: str,
    a: Abs,
    b: Abs,
    then: Block,
    orelse: Block,
    calltime: bool,
    sides: tuple[Step, Step] | None,
) -> Abs:
    """One value for both branches: sizes that differ are followed by a variable assigned in each.

    Layers made in setup cannot see such a variable: for them the size says the condition itself.
    """
    if sides is not None and not sides[0].deps and "setup" in run.blocks:
        if isinstance(a.value, Array) and isinstance(b.value, Array):
            return Abs(either_result(sides[0], a.value, b.value), False, a.flags | b.flags)
    static = a.static and b.static and not calltime
    flags = a.flags | b.flags
    listed = chains.merged(run, a.value, b.value, sides) if not calltime else None
    if listed is None and run.in_setup and not calltime:
        listed = unpacking.of_either(a.value, b.value)
    if listed is not None:
        return Abs(listed, False, flags)
    variable = size_lists.variable_of(a.value)
    if variable and variable == size_lists.variable_of(b.value) and not calltime:
        return Abs(size_lists.SizeList(variable), False, flags)
    if isinstance(a.value, Array) and isinstance(b.value, Array) and not calltime:
        count = max(len(a.value.shape.dims), len(b.value.shape.dims))
        left, right = a.value.shape.expand(count), b.value.shape.expand(count)
        there: tuple[None, ...] = ()  # dimensions that are there on both sides, and no more is known of them
        if len(left.dims) != len(right.dims) or left.lead != right.lead:
            there = (None,) * (min(len(left.dims), len(right.dims)) - 1)
            one, other = last_of_both(left, right)
            if one is not None and other is not None:
                left, right = one, other
        if len(left.dims) == len(right.dims) and left.lead == right.lead:
            pairs = list(zip(left.dims, right.dims))
            if left.told_by_ranks(right):  # each side has a width of its own
                rest = Lead.unknown(*left.needs(), *right.needs())
                return Abs(Array(Shape((*there, *(None for _ in pairs)), rest)), False, flags)
            dims = [_tracked_dim(run, x, y, then, orelse, i - len(pairs), left, sides) for i, (x, y) in enumerate(pairs)]
            whole = (
                _tracked_shape(run, a.value.shape, b.value.shape, then, orelse) if dims and dims[-1] is not None else None
            )
            if whole is not None and left.lead is not None and not left.lead.known:
                return Abs(Array(Shape((dims[-1],), whole)), False, flags)
            return Abs(Array(Shape((*there, *dims), left.lead)), False, flags)
    if not calltime:
        sizes = _tracked_sizes(run, a.value, b.value, then, orelse, sides) if not static else None
        if sizes is not None:
            return Abs(sizes, False, flags)
        a, b = _as_size(run, a, b), _as_size(run, b, a)
    if isinstance(a.value, Int) and isinstance(b.value, Int) and not calltime:
        if static:
            conditional_items.note_count(run, name, a.value, b.value, sides)
            return Abs(Int(Dim.local(name)), True, flags)
        dim = _tracked_dim(run, a.value.dim, b.value.dim, then, orelse, 0, None, sides, stem=name)
        return Abs(Int(dim) if dim is not None else OPAQUE, False, flags)
    if run.in_setup and run.repeating and sides is not None and not sides[0].deps:
        # A list that is filled or stays empty, by a condition that is the same in all passes of the loop.
        for filled, empty in ((a, b), (b, a)):
            if isinstance(filled.value, Repeated) and isinstance(empty.value, Tup) and not empty.value.items:
                return filled
    if calltime:  # one layer takes what either side gives, however the module is called
        a, b = alternatives.filled_in([a, b], ())
    merged = run.merge_pair(a, b)
    if static and isinstance(merged.value, Unknown):
        conditional_items.note_count(run, name, a.value, b.value, sides)
    if static and isinstance(merged.value, Choice):  # what they make is asked where it is called
        return Abs(ChosenFunction(name, frozenset({name}), choice=merged.value), True, flags)
    if static and isinstance(merged.value, Unknown):
        return Abs(Static(name, frozenset({name})), True, flags)
    return Abs(merged.value, static, flags)


def _tracked_sizes(
    run: Execution, a: Value, b: Value, then: Block, orelse: Block, sides: tuple[Step, Step] | None
) -> Tup | None:
    """As many sizes on either side: `shape = (1, width)`, else `shape = (1, 1)`."""
    if type(a) is not Tup or type(b) is not Tup or a.kind != b.kind or len(a.items) != len(b.items) or a == b:
        return None
    pairs = list(zip(a.items, b.items))
    if not all(type(x) is Int and type(y) is Int for x, y in pairs):
        return None
    dims = [_tracked_dim(run, x.dim, y.dim, then, orelse, 0, None, sides) for x, y in pairs if type(x) is type(y) is Int]
    return Tup(tuple(Int(dim) for dim in dims if dim is not None), a.kind)


def _as_size(run: Execution, value: Abs, other: Abs) -> Abs:
    """`head_dim = self.head_dim` beside `head_dim = width // self.num_heads`: what a field says is a size, too."""
    if type(value.value) is Static and isinstance(other.value, Int) and not value.value.sequence:
        return dataclasses.replace(value, value=Int(run.dim_of(value.value)))
    return value


def merge_tracked(run: Execution, a: Abs, b: Abs, then: Block, orelse: Block, sides: tuple[Step, Step] | None) -> Abs | None:
    """Two arrays, or displays of arrays, of which a condition of the constructor decides; None for anything else."""
    one, other = a.value, b.value
    if isinstance(one, Tup) and isinstance(other, Tup) and len(one.items) == len(other.items):
        if not all(type(item) is Array for item in (*one.items, *other.items)):
            return None
        pairs = [(Abs(x), Abs(y)) for x, y in zip(one.items, other.items)]
        items = [_merge_tracked(run, "", x, y, then, orelse, False, sides).value for x, y in pairs]
        return Abs(Tup(tuple(items), one.kind), False, a.flags | b.flags)
    if not (isinstance(a.value, Array) and isinstance(b.value, Array)):
        return None
    return stand_ins.without_absent(_merge_tracked(run, "", a, b, then, orelse, False, sides), a, b, sides)


def _tracked_shape(run: Execution, a: Shape, b: Shape, then: Block, orelse: Block) -> Lead | None:
    """All but the last dimension of an array that has more of them on one side, under a name of the constructor."""
    if run.loops or a == b or not (sayable(a) and sayable(b)):
        return None
    run.analyser.trackable.add(run.model.qualname)
    if run.model.qualname not in run.analyser.tracking:
        return None
    name = run.tracker("shape")
    then.steps.append(Track(name, Dim.of(0), shape=a))
    orelse.steps.append(Track(name, Dim.of(0), shape=b))
    return Lead(f"={name}", 1)


def _tracked_dim(
    run: Execution,
    a: Dim | None,
    b: Dim | None,
    then: Block,
    orelse: Block,
    index: int,
    shape: Shape | None = None,
    sides: tuple[Step, Step] | None = None,
    stem: str = "",
) -> Dim | None:
    """A size that a condition decides; `index`: its place in a shape, from the end, or 0; `stem`: its name in the method."""
    if a is None or b is None or a == b:
        return same_width(a, b) if index == -1 else a if a == b else None
    name = run.tracker(stem or size_stem(index or -1, shape))
    then.steps.append(Track(name, a))
    orelse.steps.append(Track(name, b))
    ways = {*one_or_more.ways(run, a), *one_or_more.ways(run, b)}
    if Dim.of(1) in ways:
        run.one_or[name] = frozenset(ways)
    if sides is not None and not sides[0].deps and asked(sides[0].text) is None:
        one, other = (a, b) if sides[0].holds else (b, a)
        run.closed[name] = Dim.cond(sides[0].text, run.settled(one), run.settled(other))
    return Dim.local(name)
