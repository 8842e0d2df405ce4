"""Is the model that is initialized the one that is applied? The NNX idiom has one object for both.

In Linen a model is only what it was constructed with, so that programs construct it again wherever they need it. Where
one construction is reached in several ways, with arguments that may differ (`make_model(train=True)`,
`make_model(train=False)`), the variables of one are applied in another.
"""

from __future__ import annotations

import ast
import dataclasses

from ...linen.flow.flow_values import Items, Model, Value
from ...plan import ClassPlan
from ...trees import subtree
from . import same_arguments
from .components import Component
from .places import exclusive
from .rewrite import Rewrite, Unsupported


def merged(form: Rewrite) -> ClassPlan:
    """One plan for classes of which a construction may make any, as `getattr(models, name)(10)` does.

    Unsupported where they ask for unlike sizes, or one of them stays Linen.
    """
    for site in form.component.sites:
        if site in form.component.mixed:
            raise Unsupported(site, "a class chosen at run time, which may be one that stays Linen")
    plans = list({plan.qualname: plan for plans in form.component.plans for plan in plans}.values())
    first, *others = plans
    names = {n.id for a in first.added_arguments for n in subtree(ast.parse(a.origin)) if isinstance(n, ast.Name)}
    for plan in others:
        same = set(plan.added_arguments) == set(first.added_arguments) and plan.needs_rngs == first.needs_rngs
        if not same or any(_place(plan, name) != _place(first, name) for name in names):
            raise Unsupported(form.component.sites[0], "classes chosen at run time that ask for unlike sizes")
    if not others:
        return first
    return dataclasses.replace(
        first,
        collections=first.collections.union(*(plan.collections for plan in others)),
        rng_streams=first.rng_streams.union(*(plan.rng_streams for plan in others)),
        shared_streams=first.shared_streams.union(*(plan.shared_streams for plan in others)),
        unnamed_streams=any(plan.unnamed_streams for plan in plans),
        sown=first.sown.union(*(plan.sown for plan in others)),
        transforms=any(plan.transforms for plan in plans),
        methods=tuple(name for name in first.methods if all(name in plan.methods for plan in others)),
    )


def _place(plan: ClassPlan, name: str) -> int:
    return plan.call_arguments.index(name) if name in plan.call_arguments else -1


def alternatives(form: Rewrite, component: Component | None = None) -> bool:
    """Are the constructions alternatives of which a program makes one, each time it comes to them?

    `model = CNN() if small else ResNet()`, the same as an `if` statement, and a function that returns either.
    """
    sites = (component or form.component).sites
    places: set[object] = set()
    for index, site in enumerate(sites):
        statement, value = form.statement(site), form.parent(site)
        while isinstance(value, ast.IfExp):
            value = form.parent(value)
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if value is not statement:
            return False
        if isinstance(target, ast.Name):
            places.add(form.flow.symbol(form.source(target), target))
        elif isinstance(statement, ast.Return):
            places.add(form.function(site))
        else:
            return False
        for other in sites[:index]:
            same = form.statement(other) is statement or isinstance(statement, ast.Return)
            if not same and not exclusive(form, site, other):
                return False
    return len(places) == 1


def check_sites(form: Rewrite, component: Component | None = None, *, followed: bool = False) -> None:
    """Several constructions are one model where they are spelled alike: `CNN(10).init(...)`, `CNN(10).apply(...)`.

    `followed`: or where names in their arguments are followed to the same values.
    """
    component = component or form.component
    if alternatives(form, component):
        return
    if followed and len(component.sites) > 1 and same_arguments.alike(form, component.sites):
        return
    if len(set(map(_spelled, component.sites))) > 1 or len({tuple(p.qualname for p in ps) for ps in component.plans}) > 1:
        raise Unsupported(component.sites[0], "several models of one kind")
    if len(component.sites) > 1:
        for site in component.sites:
            if _local(form, site):
                raise Unsupported(site, "several models of one kind")


def check_calls(
    form: Rewrite,
    homes: set[ast.AST | None],
    component: Component | None = None,
    *,
    by_states: bool = False,
    followed: bool = False,
) -> None:
    """Unsupported where the function around a construction is called in unlike ways, and its model leaves it.

    `homes` are the functions that call init: a state that one of them makes has its own model. `by_states`: nothing is
    applied but by a state, which has the model that its params are of.
    """
    if by_states:
        return
    component = component or form.component
    for site in component.sites:
        function = form.function(site)
        chosen = len(component.sites) > 1 and alternatives(form, component)  # by what the function is given
        if function is None or not (chosen or _local(form, site)):
            continue
        if not called_in_unlike_ways(form, function, set()):
            continue
        if followed and not chosen and same_arguments.alike(form, component.sites):
            continue
        if function not in homes or _has_model(form.flow.returns.get(function)):
            raise Unsupported(site, "several models of one kind")


def _spelled(call: ast.Call) -> tuple[tuple[str, ...], tuple[str, ...]]:
    made = [call.func, *call.args] if isinstance(call.func, ast.Call) else call.args
    return tuple(map(ast.dump, made)), tuple(sorted(map(ast.dump, call.keywords)))


def _local(form: Rewrite, call: ast.Call) -> bool:
    """Do the arguments say names of a function?"""
    names = [n for a in [call.func, *call.args, *[k.value for k in call.keywords]] for n in subtree(a)]
    source = form.source(call)
    return any(isinstance(n, ast.Name) and source.names.binding_scope(n.id, n) is not None for n in names)


def called_in_unlike_ways(form: Rewrite, function: ast.AST, seen: set[ast.AST]) -> bool:
    """May two calls of a function give it different arguments?"""
    if function in seen:
        return True
    seen.add(function)
    calls = [*form.flow.callers.get(function, {}), *form.flow.partials.get(function, {})]
    local = [call for call in calls if _local(form, call)]
    if len(calls) > 1 and (local or len({_spelled(call) for call in calls}) > 1):
        return True
    around = [outer for outer in map(form.function, local) if outer is not None]
    return any(called_in_unlike_ways(form, outer, seen) for outer in around)


def _has_model(value: Value | None) -> bool:
    if isinstance(value, Items):
        return any(map(_has_model, value.items))
    return isinstance(value, Model)
