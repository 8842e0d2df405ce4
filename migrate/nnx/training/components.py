"""Parts of a program that must change form together: the models that one value may stand for."""

from __future__ import annotations

import ast
import dataclasses

from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import Items, Method, Tracked, Value
from ...plan import AddedArgument, ClassPlan
from ...trees import subtree


@dataclasses.dataclass(eq=False)  # sets have them: each is itself alone
class Component:
    """Sites that construct models, joined where some value may come from either."""

    sites: list[ast.Call]
    plans: list[tuple[ClassPlan, ...]]  # the native classes that each site may construct
    mixed: frozenset[ast.Call] = frozenset()  # the sites that may construct a class that stays Linen instead
    obstacle: str = ""  # why it does not take the NNX idiom
    split_obstacle: str = ""  # and why it does not work on split state

    def holds(self, value: Value) -> bool:
        return isinstance(value, Tracked) and not value.sites.isdisjoint(self.sites)


def find(flow: Flow) -> list[Component]:
    """The components with native classes, in the order of their first sites."""
    native = list(flow.native_sites)
    group = {site: site for site in native}

    def root(site: ast.Call) -> ast.Call:
        while group[site] is not site:
            site = group[site]
        return site

    def merge(value: Value) -> None:
        if isinstance(value, Tracked):
            known = [site for site in native if site in value.sites] if len(value.sites) > 1 else []
            for other in known[1:]:
                group[root(other)] = root(known[0])
        elif isinstance(value, Items):
            for item in value.items:
                merge(item)

    for value in [*flow.env.values(), *flow.returns.values()]:
        merge(value)
    for node in flow.source_of:
        if isinstance(node, ast.Call):
            # `CNN().apply({'params': params}, x)`: the variables of one construction in the model of another.
            used = [value.sites for value in _variables(flow, node) if isinstance(value, Tracked)]
            if used:
                merge(Tracked(frozenset().union(*used)))
    found: dict[ast.Call, list[ast.Call]] = {}
    for site in native:
        found.setdefault(root(site), []).append(site)
    mixed = frozenset(site for site in native if len(flow.site_plans(site)) < len(flow.site_classes[site]))
    return [Component(sites, [flow.site_plans(s) for s in sites], mixed.intersection(sites)) for sites in found.values()]


def applied_by_itself(component: Component) -> bool:
    """Have its classes methods that apply the model themselves (`self.apply(params, x)`)? They need what has an `apply`."""
    plans = (plan for plans in component.plans for plan in plans if plan.applied_by)
    plan = next(plans, None)
    if plan is not None:
        what = f"`{min(plan.applied_by)}` of {plan.qualname.rpartition('.')[2]} applies it"
        component.obstacle = component.split_obstacle = what
    return plan is not None


def _variables(flow: Flow, call: ast.Call) -> list[Value]:
    """The model of a call of apply or TrainState.create, with the variables that it is given."""
    name = flow.name(call.func) or ""
    if isinstance(flow.value(call.func), Method):
        values = [flow.value(call.func)]
    elif name == "flax.linen.apply" or flow.creates_state(call):
        values = []
    elif isinstance(call.func, ast.Call) and flow.name(call.func.func) == "flax.linen.apply":
        values = [flow.value(a) for a in call.func.args]
    else:
        return []
    for given in [*call.args, *[k.value for k in call.keywords]]:
        values.append(flow.value(given))
        if isinstance(given, ast.Dict):
            values += [flow.value(item) for item in given.values]
    return values


EXAMPLE = "\0Example"  # where the parity module's class of that name is said


def sizes_lambda(plan: ClassPlan) -> str:
    """`lambda x, *_, **__: {'in_features': x.shape[-1]}`, or nothing where the class asks for no size.

    What a call may leave out has the default that it has there.
    """
    if not plan.added_arguments:
        return ""
    whole = next((a.name for a in plan.added_arguments if a.call), None)
    if whole is not None:
        rest = sizes_lambda(dataclasses.replace(plan, added_arguments=tuple(a for a in plan.added_arguments if not a.call)))
        known = f"**({rest})(*args, **kwargs), " if rest else ""
        return f"lambda *args, **kwargs: {{{known}'{whole}': {EXAMPLE}((args, kwargs))}}"
    used = names_in(plan.added_arguments)
    last = max((i for i, name in enumerate(plan.call_arguments) if name in used), default=-1)
    named = plan.call_arguments if plan.call_rest in used else plan.call_arguments[: last + 1]
    apart = [name for name in plan.call_keywords if name in used]
    taken = {*named, *apart}
    rest = f"*{plan.call_rest if plan.call_rest in used else _unused('_', taken)}"
    listed = [f"{n}={plan.call_defaults[n] or None}" if n in plan.call_defaults else n for n in (*named, *apart)]
    arguments = ", ".join([*listed[: len(named)], rest, *listed[len(named) :], f"**{_unused('__', taken)}"])
    items = ", ".join(f"'{a.name}': {f'{EXAMPLE}({a.origin})' if a.whole else a.origin}" for a in plan.added_arguments)
    return f"lambda {arguments}: {{{items}}}"


def _unused(name: str, taken: set[str]) -> str:
    """`name`, or a longer one: `_` may be an argument of the call, too."""
    while name in taken:
        name += "__"
    return name


def names_in(arguments: tuple[AddedArgument, ...]) -> set[str]:
    """The names that the origins of added arguments mention."""
    trees = [ast.parse(a.origin, mode="eval") for a in arguments if not a.call]
    return {n.id for tree in trees for n in subtree(tree) if isinstance(n, ast.Name)}
