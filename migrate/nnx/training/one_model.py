"""Is the model that is initialized the one that is applied? The NNX idiom has one object for both.

In Linen a model is only what it was constructed with, so that programs construct it again wherever they need it. Where
one construction is reached in several ways, with arguments that may differ (`make_model(train=True)`,
`make_model(train=False)`), the variables of one are applied in another.
"""

from __future__ import annotations

import ast

from ...linen.flow_values import Items, Model, Value
from .rewrite import Rewrite, Unsupported


def check_sites(form: Rewrite, *, several: bool = False) -> None:
    """Several constructions are one model where they are spelled alike: `CNN(10).init(...)`, `CNN(10).apply(...)`.

    `several`: models of several classes may go through the same functions, for forms whose states say of which model
    they are; the variables of one class do not fit another.
    """
    spelled: dict[str, set[object]] = {}
    for site, (plan,) in zip(form.component.sites, form.component.plans, strict=True):
        spelled.setdefault(plan.qualname, set()).add(_spelled(site))
    alike = all(len(ways) == 1 for ways in spelled.values())
    if not alike or (len(spelled) > 1 and not several):
        raise Unsupported(form.component.sites[0], "several models of one kind")
    if len(form.component.sites) > len(spelled):
        for site in form.component.sites:
            if _local(form, site):
                raise Unsupported(site, "several models of one kind")


def check_calls(form: Rewrite, homes: set[ast.AST | None]) -> None:
    """Unsupported where the function around a construction is called in unlike ways, and its model leaves it.

    `homes` are the functions that call init: a state that one of them makes has its own model.
    """
    for site in form.component.sites:
        function = form.function(site)
        if function is None or not _local(form, site) or not _called_in_unlike_ways(form, function, set()):
            continue
        if function not in homes or _has_model(form.flow.returns.get(function)):
            raise Unsupported(site, "several models of one kind")


def _spelled(call: ast.Call) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(map(ast.dump, call.args)), tuple(sorted(map(ast.dump, call.keywords)))


def _local(form: Rewrite, call: ast.Call) -> bool:
    """Do the arguments say names of a function?"""
    names = [n for a in [*call.args, *[k.value for k in call.keywords]] for n in ast.walk(a)]
    source = form.source(call)
    return any(isinstance(n, ast.Name) and source.names.binding_scope(n.id, n) is not None for n in names)


def _called_in_unlike_ways(form: Rewrite, function: ast.AST, seen: set[ast.AST]) -> bool:
    """May two calls of a function give it different arguments?"""
    if function in seen:
        return True
    seen.add(function)
    calls = list(form.flow.callers.get(function, {}))
    local = [call for call in calls if _local(form, call)]
    if len(calls) > 1 and (local or len({_spelled(call) for call in calls}) > 1):
        return True
    around = [outer for outer in map(form.function, local) if outer is not None]
    return any(_called_in_unlike_ways(form, outer, seen) for outer in around)


def _has_model(value: Value | None) -> bool:
    if isinstance(value, Items):
        return any(map(_has_model, value.items))
    return isinstance(value, Model)
