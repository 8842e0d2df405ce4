"""Construction of modules: factories, partial application, lifted transforms, construction sites."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

from ...catalog import layers
from ...source import SourceFile
from ...trees import sides, subtree
from ..execution import given_objects, post_inits
from ..lifted.higher_order import run_functions
from ..lifted.lifting import LIFTED, WHOLE, label_of, options_of, partial_lift
from ..lists.loop_names import means_the_same
from ..project import own_name
from ..values import caller_words, drawn_names, rest_arguments
from ..values.arguments import Arguments, arguments_of
from ..values.nothing_made import MakesNothing
from ..values.sites import (
    Abs,
    BoundArg,
    Factory,
    Function,
    Lifted,
    LiftedFunction,
    Localized,
    Make,
    Module,
    NameSpec,
    PartialLift,
    Site,
    Static,
    Unmigratable,
)
from ..values.unpacking import options_part, sizes_left_open, starred_sizes, unpacked
from ..values.values import Const, Global, Unknown, Value
from . import call_fields, detached_models, foreign, merged_fields
from .choices import RAISED, FactoryChoice, check_unchanged, lifted_or_not, map_choice
from .given_functions import PartialFunction
from .lost_factories import one_of
from .passed import check_passing, check_stacked, check_wrapping
from .unknown_callees import is_copy


def _bound(run: Any, node: ast.expr, found: Abs, env: Any, first: bool = False) -> BoundArg:
    """An argument; `first`: parameters start from it."""
    place = rest_arguments.place_of(node, env)
    said = run.drawn.first(run, node, place) if first else run.localize(node, place)
    return BoundArg(node, found, said, asked=run.localize_asking(node, found, place) if said is None else None)


def construct(
    run: Any, factory: Factory, node: ast.Call, env: Any, inline: bool = False, arguments: Arguments | None = None
) -> Abs:
    """A module is made here, of one of the kinds that the factory may be; `inline`: the constructor spells the factory
    out instead of calling it by its name."""
    if arguments is None:
        arguments = rest_arguments.expanded(arguments_of(run, node, env), env, run.evaluated)
    if _has_no_name(factory, node):
        check_unchanged(run, factory, node, env)
        inline = True
    inline = inline or _of_function(run, factory, node, env) or _holds_flags(run, factory, node, env)
    site, *others = [_site(run, kind, node, arguments, env, inline) for kind in factory.kinds()]
    site.alternatives = tuple(others)
    detached_models.note(run, site, node, env)
    run.sites.append(site)
    if run.in_setup and run.loops:
        for bound in site.bound.values():
            for inner in run.modules_in(bound.abs.value):
                if inner.in_setup and inner.within is None and inner.loops[: len(site.loops)] == site.loops:
                    inner.within = site
    if not run.in_setup:
        run.block.steps.append(Make(site))
        site.renders["block"] = run.block
    return Abs(Module(site, bool(run.loops)), False)


def _has_no_name(factory: Factory, node: ast.Call) -> bool:
    """Does a partial stand where it is called, or within a transform, so that the constructor calls the class itself?"""
    given = factory.positional or [b for b in factory.args.values() if not b.of_class]  # which the subclass itself says
    holds = bool(given) and not factory.chosen_by
    return holds and (bool(factory.lifted) or factory.node is node.func)


def _holds_flags(run: Any, factory: Factory, node: ast.Call, env: Any) -> bool:
    """Does a partial of a project's class hold flags of the call, so that no name of the constructor's can stand for it?"""
    if run.analyser.classes.get(factory.target) is None or factory.field or factory.lifted or factory.alternatives:
        return False
    said = all(b.localized is not None for b in factory.positional)
    if not said or factory.source is not env.source or not isinstance(factory.node, ast.Call):
        return False
    late = [b for b in factory.args.values() if b.localized is None]
    needs = frozenset().union(*(b.localized.needs for b in [*factory.positional, *factory.args.values()] if b.localized))
    if not all(means_the_same(factory.source, name, factory.node, node) for name in needs):
        return False
    flags = all(b.abs.flags and b.node is not None and not isinstance(b.abs.value, Factory) for b in late)
    return bool(late) and flags and run.localize(node.func, env) is None


def _of_function(run: Any, factory: Factory, node: ast.Call, env: Any) -> bool:
    """Has a function of this file handed the factory out, so that the constructor can only spell it out?"""
    source = factory.source
    if isinstance(node.func, ast.Call | ast.Name) and _is_class(run, factory) and run.localize(node.func, env) is None:
        return True  # `self.norm_class()(x)`, whichever method or function has said so
    if factory.field or factory.lifted or source is not env.source or not isinstance(factory.node, ast.Call):
        return False
    places = list(source.ancestors(factory.node))
    outside = any(isinstance(p, ast.FunctionDef) for p in places) and not any(isinstance(p, ast.ClassDef) for p in places)
    said = [*factory.positional, *factory.args.values()]
    known = all(b.localized is not None and not b.localized.needs for b in said if b.node is not None)
    return outside and known and run.localize(node.func, env) is None


def _is_class(run: Any, factory: Factory) -> bool:
    """Is it a class of the project's, or a layer of Linen's, and nothing bound or chosen?"""
    bound = [*factory.args.values(), *factory.positional, *factory.unpacked, *factory.calltime, *factory.lifted]
    named = bool(factory.field or factory.chosen_by or factory.variant or factory.alternatives or factory.name)
    known = run.analyser.classes.get(factory.target) is not None or layers.lookup(factory.target) is not None
    return known and not bound and not named


def _site(run: Any, factory: Factory, node: ast.Call, arguments: Arguments, env: Any, inline: bool) -> Site:
    """The construction as one kind of module."""
    if not factory.target:
        raise Unmigratable("NNX138", f"what `{ast.unparse(node.func)}` makes is not known", node)
    project_class = run.analyser.classes.get(factory.target)
    given = starred_sizes(run, arguments, env)
    if given is None:
        raise Unmigratable("NNX137", f"`{ast.unparse(node.func)}` is given *args", node)
    known, mapping = unpacked(run, factory.target, arguments, env)
    keywords = {k: (n, a) for k, n, a in known}
    opened = options_part(run, factory.target, mapping, env)
    if opened and (factory.args or factory.positional or factory.lifted):  # it may hold another value of what these hold
        raise Unmigratable("NNX137", f"`{ast.unparse(node.func)}` is a partial, and given keywords that are not known", node)
    name = keywords.pop("name", None)
    parent = keywords.pop("parent", None)
    unnamed = name is None and factory.name is None
    if unnamed and not run.in_setup and any(l.condition is not None for l in factory.lifted):
        raise Unmigratable("NNX132", f"how Linen names `{ast.unparse(node.func)}` depends on a condition", node)
    if parent is not None and not (isinstance(parent[1].value, Const) and parent[1].value.value is None):
        raise Unmigratable("NNX139", "a submodule is made with `parent=`", node)
    bound: dict[str, BoundArg] = {
        k: dataclasses.replace(a, given=inline and not a.of_class) for k, a in factory.args.items() if k not in keywords
    }
    of_package = foreign.is_one(run, factory.target)
    order = [f"argument {i + 1}" for i in range(len(given))] if of_package else parameter_names(run, factory.target)
    held = [dataclasses.replace(a, given=inline) for a in factory.positional]  # the partial says them, or this call does
    positional = [*held, *[a if isinstance(a, BoundArg) else _bound(run, *a, env) for a in given]]
    if len(positional) > len(order):
        raise Unmigratable("NNX140", f"`{ast.unparse(node)}` has more arguments than fields", node)
    if set(order[: len(positional)]) & set(keywords):  # it inherits fields that are not known, which come first
        raise Unmigratable("NNX140", f"`{ast.unparse(node)}` gives fields that its class does not show", node)
    for parameter, argument in zip(order, positional):
        bound[parameter] = argument
    for key, (value_node, value) in keywords.items():
        first = project_class is None and drawn_names.is_first_value(factory.target, key)
        bound[key] = _bound(run, value_node, value, env, first)
    if own_name.is_asked(project_class):  # where Linen counts, the name is not yet known
        unknown = BoundArg(None, Abs(Unknown("the name that Linen gives it")), None, given=False)
        bound[own_name.NAME] = _bound(run, *name, env) if name is not None else unknown
    if mapping is not None and project_class is not None:
        held_in = run.evaluated[mapping].value
        for field in project_class.fields():
            if field.name not in bound:
                text = f"{held_in.stem}[{field.name!r}]" if isinstance(held_in, Static) else ""
                if field.default is not None or field.factory is not None:
                    text = ""  # given or not: nothing is known of it
                said = Abs(Static(text, held_in.deps), True) if text else Abs(Unknown(field.name))
                bound[field.name] = BoundArg(None, said, None, given=False)
    post_inits.unknown_fields(project_class, bound)
    overridden = {*keywords, *order[: len(positional)]}  # a flag that the call itself gives is not the partial's
    is_layer = layers.lookup(factory.target) is not None and run.analyser.classes.get(factory.target) is None
    site = Site(
        "layer" if is_layer else "class",
        node,
        env.source,
        factory.target,
        bound,
        factory=factory,
        lifted=factory.lifted,
        scopes=run.scopes,
        holder=run.holder,
        loops=tuple(run.loops),
        in_setup=run.in_setup,
        method=run.entry,
        calltime={k: held for k, held in factory.calltime.items() if k not in overridden},
    )
    if name is not None:
        site.name = name_spec(run, name[0], name[1], env)
    elif factory.name is not None:
        site.name = factory.name
    site.origin = len(run.sites)
    site.foreign = of_package
    if of_package:
        foreign.check_name(run, factory.target, site.name, node)
    site.renders["made_under"] = tuple(run.path)
    site.renders["made_sized"] = tuple(run.sized)
    site.renders["spelled"] = inline
    site.renders["func"] = run.localize(node.func, env) if not inline else None
    if mapping is not None:
        site.renders["**"] = run.localize(mapping, env)
        site.renders["options"] = opened
    handed = [*factory.unpacked, *([mapping] if mapping is not None else [])]
    site.renders["open"] = tuple(key for m in handed for key in sizes_left_open(run, m, env) if key not in bound)
    if of_package:
        given_objects.check_steady(run, site)
    elif site.kind == "class":
        given_objects.check_steady(run, site)
        check_passing(run, site)
        run.analyser.passes(run, site)
        call_fields.note(run, site)
    else:
        check_wrapping(run, site)
        check_stacked(run, site)
    return site


def name_spec(run: Any, node: ast.expr, found: Abs, env: Any) -> NameSpec | None:
    """The `name=` of a site: a constant, or an expression; None for `name=None`."""
    if isinstance(found.value, Const):
        return None if found.value.value is None else NameSpec(str(found.value.value), node)
    if _may_be_none(run, node, found, env):
        raise Unmigratable("NNX139", f"the name `{ast.unparse(node)}` may be None, for which Linen counts", node)
    return NameSpec(None, node, run.localize(node, rest_arguments.place_of(node, env)))


def _may_be_none(run: Any, node: ast.expr, found: Abs, env: Any) -> bool:
    """May a name be None: a field's default, where no condition asks for it, or a side of `"last" if last else None`?"""
    text = found.value.text if isinstance(found.value, Static) else ""
    field = run.fields.get(text.removeprefix("self."))
    if field is not None and isinstance(field.default, ast.Constant) and field.default.value is None:
        tests = [a.test for a in env.source.ancestors(node) if isinstance(a, ast.If | ast.IfExp)]
        if not any(getattr(n, "attr", getattr(n, "id", "")) == field.name for test in tests for n in subtree(test)):
            return True
    given = _assigned(env.source, node) if isinstance(node, ast.Name) and env.is_local(node.id) else []
    said = [node, *given, *([ast.parse(text, mode="eval").body] if text else [])]
    return any(isinstance(side, ast.Constant) and side.value is None for one in said for side in sides(one))


def _assigned(source: SourceFile, name: ast.Name) -> list[ast.expr]:
    """What the function around a local name assigns to it."""
    scope = source.names.binding_scope(name.id, name)
    bound = [n for n in source.names.binders(name.id) if isinstance(n, ast.Name) and source.names.bound_by(n) is scope]
    values = [getattr(source.statement_of(n), "value", None) for n in bound]
    return [value for value in values if isinstance(value, ast.expr)]


def parameter_names(run: Any, target: str) -> list[str]:
    """Constructor parameters of a layer or project class, in Linen's order."""
    model = run.analyser.classes.get(target)
    if model is not None:
        return [f.name for f in model.fields() if not f.kw_only]
    layer = layers.lookup(target)
    assert layer is not None
    return [p.name for p in layer.parameters]


def partial_factory(run: Any, node: ast.Call, env: Any) -> Abs:
    """functools.partial of a layer, class or other factory; of anything else just a value."""
    arguments = arguments_of(run, node, env)
    first = arguments.positional[0][1] if arguments.positional else None
    if first is None or not isinstance(first.value, Factory):
        if first is not None and isinstance(first.value, Global) and is_copy(first.value.name):
            copied = first.value.name.rpartition(".")[2]
            raise Unmigratable("NNX150", f"it contains {copied}, which is a Linen copy", node)
        if first is not None and isinstance(first.value, Global) and first.value.name in LIFTED:
            return Abs(partial_lift(run, first.value.name, node, env), arguments.static, arguments.flags)
        several = one_of([first.value]) if first is not None else None
        if first is not None and isinstance(first.value, FactoryChoice):
            return Abs(_partial_choice(run, first.value, node, arguments, env), arguments.static, arguments.flags)
        if several is not None:
            return Abs(several, arguments.static, arguments.flags)
        found_text: Abs = run._static_text(node, arguments.static, arguments.flags, env)
        return _partial_function(run, first, arguments, found_text)
    kinds = [partial_of(run, base, node, arguments, env) for base in first.value.kinds()]
    found, static, flags = kinds[0]
    return Abs(dataclasses.replace(found, alternatives=tuple(kind for kind, _, _ in kinds[1:])), static, flags)


def _partial_choice(run: Any, choice: FactoryChoice, node: ast.Call, arguments: Arguments, env: Any) -> FactoryChoice:
    """`partial(Norm, ...)` of a factory chosen by a condition: the choice between two partials."""
    sides: list[Value] = []
    for option in (choice.then, choice.orelse):
        if isinstance(option, FactoryChoice):
            sides.append(_partial_choice(run, option, node, arguments, env))
        elif option is RAISED or (isinstance(option, MakesNothing) and option.spec is None):
            sides.append(option)
        elif not isinstance(option, Factory):
            raise Unmigratable("NNX132", f"`{ast.unparse(node)}` is a partial of one of several functions", node)
        elif option.field:
            reason = f"`{ast.unparse(node)}` is a partial of what a field holds, or of something else"
            raise Unmigratable("NNX132", reason, node)
        else:
            sides.append(partial_of(run, option, node, arguments, env)[0])
    return dataclasses.replace(choice, then=sides[0], orelse=sides[1])


def _partial_function(run: Any, first: Abs | None, arguments: Arguments, found: Abs) -> Abs:
    """A partial of something that is no module: a text, and where it is a function what it binds."""
    if first is None or arguments.starred() or not isinstance(first.value, Function | Global | PartialFunction):
        return found
    if type(found.value) is not Static:
        return found
    positional = tuple(run.plain(a.value) for _, a in arguments.positional[1:])
    keywords = tuple((str(k), run.plain(a.value)) for k, _, a in arguments.keywords)
    said = PartialFunction(found.value.text, found.value.deps, found.value.sequence, first.value, positional, keywords)
    return dataclasses.replace(found, value=said)


def partial_of(
    run: Any, base: Factory, node: ast.Call, arguments: Arguments, env: Any
) -> tuple[Factory, bool, frozenset[str]]:
    """One kind of factory with more arguments bound; whether all of them can be said in the constructor."""
    if base.lifted and base.chosen_by and (len(arguments.positional) > 1 or arguments.keywords):
        what = f"`{ast.unparse(node)}` is a partial of what the field `{base.chosen_by}` holds, under a lifted transform"
        raise Unmigratable("NNX130", what, node)
    layer = layers.lookup(base.target)
    movable: Mapping[str, str] = layer.call_time_fields if layer is not None else {}
    calltime = dict(base.calltime)
    bound = dict(base.args)
    flags: frozenset[str] = frozenset()
    known, mapping = unpacked(run, base.target, arguments, env)
    if mapping is not None and (layer is None or run.localize(mapping, env) is None):
        raise Unmigratable("NNX137", "`functools.partial` of a module is given **kwargs", node)
    name = base.name
    for key, value_node, value in known:
        if key == "parent":
            raise Unmigratable("NNX139", "a submodule is made with `parent=`", node)
        if key == "name":
            name = name_spec(run, value_node, value, env)
            if name is not None and name.constant is None and name.localized is None:
                raise Unmigratable(
                    "NNX155", f"`functools.partial` of a module is given `name={ast.unparse(value_node)}`", node
                )
            continue
        said = run.localize(value_node, env) if not value.flags else None
        where = env.source
        if said is None:
            value_node, where = caller_words.said(run, value_node, env)
        taken = key in movable or _takes_at_call(run, base, key)
        if taken and (said is None or _of_callers(value_node, node, env)):
            calltime[key] = (value_node, env.source if said is not None else where, value)
            continue
        calltime.pop(key, None)  # this partial's value, not that of the one which it extends
        if said is None:
            flags |= value.flags
        bound[key] = BoundArg(value_node, value, said, given=False)
    positional = (*base.positional, *[_bound(run, n, a, env) for n, a in arguments.positional[1:]])
    # What the factory in a field holds already is the business of whoever gave it.
    own = [b for k, b in bound.items() if not (base.field and base.args.get(k) is b)]
    static = all(b.localized is not None for b in own if b.node is not None) and not flags
    if run.analyser.classes.get(base.target) is not None and env.method is not None:  # outside of methods: see `outside`
        names = parameter_names(run, base.target)
        run.analyser.learns(base.target, {**dict(zip(names, positional)), **bound})
    text = ast.unparse(node)
    found = Factory(
        base.target, text, bound, positional, calltime, base.lifted, node, env.source,
        unpacked=(*base.unpacked, *([mapping] if mapping is not None else [])),
        origin=base.origin, variant=base.variant, chosen_by=base.chosen_by, name=name,
    )  # fmt: skip
    return found, static, flags


def _takes_at_call(run: Any, base: Factory, key: str) -> bool:
    """Is it a flag that a class of the project takes by its call as well, of which nothing is lifted?"""
    model = run.analyser.classes.get(base.target)
    return model is not None and not base.lifted and merged_fields.taken_at_call(run.project, model, key)


def _of_callers(flag: ast.expr, partial: ast.Call, env: Any) -> bool:
    """Does a function that is followed say a flag of its arguments, of a layer that it calls itself?

    NNX takes it at the call, which has one text for all of the function's callers.
    """
    names = {n.id for n in subtree(flag) if isinstance(n, ast.Name)}
    if env.caller is None or env.in_method() or not any(name in env.names for name in names):
        return False
    assigned = env.source.parents.get(partial)
    targets = {t.id for t in getattr(assigned, "targets", ()) if isinstance(t, ast.Name)}
    scope = env.source.function_of(partial)
    uses = [n for n in subtree(scope) if isinstance(n, ast.Name) and n.id in targets] if scope is not None else []
    loads = [n for n in uses if isinstance(n.ctx, ast.Load)]
    return bool(loads) and all(getattr(env.source.parents[n], "func", None) is n for n in loads)


def _method_of_class(run: Any, name: str) -> Function | None:
    """`Model.block`: a method of the class that is being executed, or of a base of it."""
    owner, _, method = name.rpartition(".")
    found = run.model.method(method)
    if found is None or owner not in {m.qualname for m in run.model.mro()}:
        return None
    return Function(found.node, None, found.source, found)


def lifted_factory(run: Any, name: str, node: ast.Call, env: Any, held: PartialLift | None = None) -> Abs:
    """A factory or function under one more lifted transform, `name` (flax.linen.remat, flax.linen.scan, ...)."""
    kind = LIFTED[name]
    arguments = arguments_of(run, node, env)
    first = next((a for _, a in arguments.positional), None) or next(
        (a for k, _, a in arguments.keywords if k in ("target", "module", "variable_types")), None
    )
    if first is None:
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` has no target", node)
    target = first.value if not isinstance(first.value, Global) else _method_of_class(run, first.value.name)
    options, known = options_of(kind, node, arguments.positional[1:], arguments.keywords)
    if held is not None:
        options, known = {**held.options, **options}, {**held.abs, **known}
    said: dict[str, Localized] = {}
    if kind in WHOLE:
        run_functions(run, Arguments(node, arguments.positional[1:], arguments.keywords))
        said = {name: found for name, option in options.items() if (found := run.localize(option, env)) is not None}
    lifted = Lifted(kind, node, options, known, said=said, label=label_of(name, known), name=name)
    if isinstance(target, Function):
        return Abs(LiftedFunction(target, (lifted,)), first.static)
    if isinstance(target, LiftedFunction):
        return Abs(LiftedFunction(target.function, (lifted, *target.lifted)), first.static)
    if isinstance(target, Factory) and target.chosen_by and not target.field:
        raise Unmigratable("NNX130", f"nn.{kind} lifts a partial of what the field `{target.chosen_by}` holds", node)

    def under(base: Factory) -> Factory:
        if base.calltime and run.analyser.classes.get(base.target) is not None:
            what = f"nn.{kind} lifts a class whose `{min(base.calltime)}` is known only when called"
            raise Unmigratable("NNX172", what, node)
        layers_above = (lifted, *base.lifted)
        return dataclasses.replace(base, lifted=layers_above, text=ast.unparse(node), node=node, source=env.source)

    if isinstance(target, FactoryChoice):  # of two classes by a condition, or one that is under nn.remat or not
        lifted_choice = map_choice(target, under) if kind in ("remat", "scan", "vmap") else None
        if lifted_choice is not None:
            return Abs(lifted_choice, first.static)
        target = lifted_or_not(target)
    if not isinstance(target, Factory):
        raise Unmigratable("NNX138", f"what `{ast.unparse(node.func)}` lifts is not known", node)
    found = dataclasses.replace(under(target), alternatives=tuple(under(kind) for kind in target.alternatives))
    return Abs(found, first.static)
