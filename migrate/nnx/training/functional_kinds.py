"""The models of a component, by class: functions that take states of any of them join actors and critics.

    def update(state, loss_fn):                         state.graphdef is the structure of whichever it is
        loss, grads = jax.value_and_grad(loss_fn)(state.params)
        return state.apply_gradients(grads=grads), loss

A state has its structure with it. A model that is applied by its name has that of the function that initializes its class.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Model, Symbol, Tracked, Value
from ...plan import ClassPlan
from ...trees import subtree
from . import init_reach, one_model
from .components import Component
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional


@dataclasses.dataclass
class Kind:
    """The models of one class, or of classes that the same calls initialize."""

    plan: ClassPlan
    sites: list[ast.Call]
    homes: dict[ast.AST | None, ast.Call]  # the functions that call init, each with its first call; None is the file
    trained: list[ast.Call]  # constructions of the model that is initialized
    at_home: bool  # is every model constructed where it is initialized?
    alike: bool  # are all of them alike, wherever they are constructed?
    several: bool = False  # are unlike ones initialized, each with a structure of its own?
    joined: bool = False  # are they of several classes, one of which a call initializes?
    graphdefs: dict[ast.AST | None, str] = dataclasses.field(default_factory=dict)  # the structure's name, by function
    shared: dict[Symbol, str] = dataclasses.field(default_factory=dict)  # and that of a model which other functions apply

    @property
    def apart(self) -> bool:
        """Have the functions that call init names of their own for the structure?"""
        return len(set(self.graphdefs.values())) > 1

    def has(self, value: Value) -> bool:
        return isinstance(value, Tracked) and not value.sites.isdisjoint(self.sites)


def find(form: _Functional, inits: list[ast.Call]) -> list[Kind]:
    """Unsupported where a class' models may be initialized in unlike ways."""
    by_class: dict[str, Component] = {}
    for site, plans in zip(form.component.sites, form.component.plans, strict=True):
        own = by_class.setdefault(plans[0].qualname, Component([], []))
        own.sites.append(site)
        own.plans.append(plans)
    for call in inits:
        _join(form, by_class, call)
    initialized: dict[str, list[ast.Call]] = {name: [] for name in by_class}
    for call in inits:
        (of_class,) = [name for name, own in by_class.items() if own.holds(form.flow.value(call))]
        initialized[of_class].append(call)
    return [_kind(form, own, initialized[name]) for name, own in by_class.items()]


def _join(form: _Functional, by_class: dict[str, Component], call: ast.Call) -> None:
    """Classes that one call initializes are one kind, where the call says the same for all of them."""
    names = [name for name, own in by_class.items() if own.holds(form.flow.value(call))]
    plans = [plan for name in names for (plan,) in by_class[name].plans]
    named = bool(form.given_to_init(call)[1])
    if len({_called_with(plan if named else _by_places(plan)) for plan in plans}) != 1:
        raise Unsupported(call, "one of several models is initialized")
    first, *others = [by_class[name] for name in names]
    for name, other in zip(names[1:], others, strict=True):
        first.sites += other.sites
        first.plans += other.plans
        del by_class[name]


def _called_with(plan: ClassPlan) -> tuple[object, ...]:
    """All that the structure of a model and the call that initializes it take from its class."""
    arguments = (plan.call_arguments, plan.call_rest, plan.call_keywords, tuple(sorted(plan.call_defaults.items())))
    return (plan.added_arguments, plan.collections, plan.rng_streams, *arguments)


def _by_places(plan: ClassPlan) -> ClassPlan:
    """The same for a call that names no argument: `x.shape[-1]` of one class is `z.shape[-1]` of another one."""
    places = {name: f"_{index}" for index, name in enumerate(plan.call_arguments)}
    added = tuple(dataclasses.replace(a, origin=_renamed(a.origin, places)) for a in plan.added_arguments)
    defaults = {places.get(name, name): said for name, said in plan.call_defaults.items()}
    return dataclasses.replace(plan, added_arguments=added, call_arguments=tuple(places.values()), call_defaults=defaults)


def _renamed(origin: str, places: dict[str, str]) -> str:
    if not origin:
        return origin
    tree = ast.parse(origin, mode="eval")
    for node in subtree(tree):
        if isinstance(node, ast.Name):
            node.id = places.get(node.id, node.id)
    return ast.unparse(tree)


def of(form: _Functional, node: ast.AST, value: Value) -> Kind:
    """The class that a model, or what init returns, is of."""
    kinds = [kind for kind in form.kinds if kind.has(value)]
    if len(kinds) != 1:
        raise Unsupported(node, "one of several models")
    return kinds[0]


def _kind(form: _Functional, component: Component, inits: list[ast.Call]) -> Kind:
    ((plan,), *_) = component.plans
    if not inits:
        raise init_reach.nowhere(form, component)
    trained = _trained(form, component, inits)
    if trained is not None:
        homes = _homes(form, inits, plan)
        # A model that is constructed around the calls that initialize it stands beside its own structure at every use.
        at_home = all(_around(form, form.function(made), home) for made in trained for home in homes)
        if at_home or (len(trained) == len(component.sites) and _called_alike(form, set(homes), component)):
            return Kind(plan, component.sites, homes, trained, at_home, _alike(form, component))
    # Each function applies the model that it initializes itself, or is handed a structure.
    homes = {form.function(call): call for call in inits}
    for call in inits:
        first = homes[form.function(call)]
        if _said(form, call, plan) != _said(form, first, plan) or not isinstance(form.initialized(call), ast.Name):
            raise Unsupported(component.sites[0], "several models of one kind")
    return Kind(
        plan, component.sites, homes, component.sites, at_home=False, alike=False, several=True, joined=_joined(component)
    )


def _joined(component: Component) -> bool:
    return len({plan.qualname for (plan,) in component.plans}) > 1


def initialized_here(form: _Functional, kind: Kind, base: ast.expr) -> str:
    """The structure's name around a use of the very name that init was called of; "" where there is none."""
    if not isinstance(base, ast.Name):
        return ""
    symbol = form.bound_once(base)
    if symbol is None:
        return ""
    scope = form.function(base)
    while True:
        call = kind.homes.get(scope)
        if call is not None and form.source(call) is form.source(base):
            made = form.initialized(call)
            if isinstance(made, ast.Name) and form.flow.symbol(form.source(made), made) == symbol:
                return kind.graphdefs[scope]
        if scope is None:
            return ""
        scope = form.function(scope)


def _said(form: _Functional, call: ast.Call, plan: ClassPlan) -> tuple[str, list[str]]:
    """The model that a call initializes, and for which sizes."""
    return ast.dump(form.initialized(call)), form.sizes(call, *_inputs(form, call), plan)


def _alike(form: _Functional, component: Component) -> bool:
    try:
        one_model.check_sites(form, component)
    except Unsupported:
        return False
    return _called_alike(form, set(), component)


def _called_alike(form: _Functional, homes: set[ast.AST | None], component: Component) -> bool:
    try:
        one_model.check_calls(form, homes, component)
    except Unsupported:
        return False
    return True


def _homes(form: _Functional, inits: list[ast.Call], plan: ClassPlan) -> dict[ast.AST | None, ast.Call]:
    found: dict[ast.AST | None, ast.Call] = {}
    sizes = {tuple(form.sizes(call, *_inputs(form, call), plan)) for call in inits}
    if len({form.source(call).module for call in inits}) > 1 or (len(inits) > 1 and len(sizes) > 1):
        raise Unsupported(inits[1], "init is called in several places for other sizes")
    for call in inits:
        found.setdefault(form.function(call), call)
    return found


def _inputs(form: _Functional, call: ast.Call) -> tuple[list[ast.expr], list[ast.keyword]]:
    given, keywords = form.given_to_init(call)
    return given[1:], keywords


def _trained(form: _Functional, component: Component, inits: list[ast.Call]) -> list[ast.Call] | None:
    """The constructions of the model that is initialized; None for several. Others are of its class, with other arguments.

    `Net(8, train=False)` beside `Net(8)`: what it applies are variables of the first, in a structure of its own.
    """
    try:
        one_model.check_sites(form, component)
    except Unsupported:
        made = [form.flow.value(form.initialized(call)) for call in inits]
        trained = {site for value in made if isinstance(value, Model) for site in value.sites}
        if not all(isinstance(value, Model) for value in made):
            raise
        return list(trained) if len(trained) == 1 else None
    return component.sites


def _around(form: _Functional, outer: ast.AST | None, scope: ast.AST | None) -> bool:
    while scope is not None and scope is not outer:
        scope = form.function(scope)
    return scope is outer
