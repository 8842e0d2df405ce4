"""The expressions that construct submodules, parameters and variables in the constructor."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ...catalog import layers
from ...edits import Parts, Span
from ...linen.execution.graph_networks import BY_NETWORKS
from ...linen.execution.needed_sizes import enough
from ...linen.modules import own_methods, settled_fields
from ...linen.modules.bridged_results import OUT_SHAPE
from ...linen.modules.module_calls import layer_arg
from ...linen.modules.normalize_calls import FeatureShape
from ...linen.values.presence import NoneAtFirst, OptionalArray, whole_argument
from ...linen.values.replacing import sayable
from ...linen.values.sites import (
    BoundArg,
    Function,
    Localized,
    Site,
    Static,
    Unmigratable,
)
from ...linen.values.values import Array, Const, Unknown, Value
from ...plan import AddedArgument, ClassPlan
from ...trees import subtree
from ..calls import call_dtypes, mapped_draws, merged_flags
from ..factories import field_kinds
from ..fields import fallbacks
from ..generated import bridging, foreign
from ..lifted import lifted
from ..setup import setup_conditions, setup_names
from ..text.text_parts import Details, InitLines, joined, short
from . import (
    asked_presence,
    asking,
    call_defaults,
    called_lambdas,
    first_inputs,
    lent_fields,
    none_at_first,
    own_names,
    rank_checks,
    wrapped_around,
)

if TYPE_CHECKING:
    from .class_text import ClassText


def site_lines(text: ClassText, site: Site) -> InitLines:
    """The constructor expression of a site, and what must stand before it."""
    if site.kind == "param":
        return _under_transforms(text, site, _param(text, site))
    if site.kind == "variable":
        return _under_transforms(text, site, _variable(text, site))
    if text.is_wrapper(site):
        site = dataclasses.replace(site, in_setup=True)  # said where it stands, in the method's own words
        return InitLines((), _layer(text, site))
    lines = _made(text, site)
    other = field_kinds.check(text, site, lines, _made, _made_for)
    return lines if other is None else other


def _made(text: ClassText, site: Site) -> InitLines:
    inner = _layer(text, site) if site.kind == "layer" else _class(text, site)
    lines = _under_transforms(text, site, asked_presence.made(text, site, inner))
    return setup_names.said_by_itself(text, site, lines)


# What a BatchNorm without the flag is given, so that a call without it raises as in Linen; the parity module says it.
_SAID_BY_MADE_FOR = (("use_running_average=None",), ("use_running_average=", "None"))


def _made_for(text: ClassText, site: Site, size: str, features: str) -> InitLines:
    """The same, with the size of the input for the parity module to hand on under the name that the class has for it."""
    if site.kind == "layer":
        callee, said, keywords = _layer_call(text, site, built_layer(text, site))
        sized = keywords[:1] in (["in_features"], ["num_features"]) and said[0] == (features,)
        if not sized and {"in_features", "num_features"} & set(keywords):
            raise Unmigratable("NNX163", "its size is no width of its input", site.node)
        arguments = [a for a in _as_called(site, keywords, said, 1 if sized else 0) if a not in _SAID_BY_MADE_FOR]
    else:
        callee, said = class_parts(text, site)
        asked = native_details(text, site).added
        added = [(a.name, added_value(text, site, a, argument, index)) for a, argument, index in asked]
        fields = {f.name for f in text.analyser.classes.get(site.target).fields()}  # type: ignore[union-attr]
        if fields & {"in_features", "num_features", "in_shape"} or any(s not in (size, features) for _, s in added):
            raise Unmigratable("NNX163", "it asks for other sizes", site.node)
        if any(name not in ("in_features", "in_shape") for name, _ in added):
            raise Unmigratable("NNX163", "it asks for other sizes", site.node)
        arguments = said
    inner = joined((text.namer.parity("made_for"),), [callee, (size,), *arguments, ("rngs=rngs",)])
    return _under_transforms(text, site, inner)


def _as_called(site: Site, names: list[str], said: list[Parts], start: int) -> list[Parts]:
    """The arguments of a layer as the call gives them, whatever NNX has in their place: a keyword stays one."""
    keywords = [k.arg for k in site.node.keywords]
    if len(said) != len(names) or not set(keywords) <= {*names, "name"}:
        return said[start:]
    places = {name: place for place, name in enumerate(names)}
    plain = [said[place] for place in range(start, len(names)) if names[place] not in keywords]
    named = [(key, said[places[key]]) for key in keywords if key != "name" and key is not None]
    return [*plain, *[parts if parts[0] == f"{key}=" else (f"{key}=", *parts) for key, parts in named]]


def _under_transforms(text: ClassText, site: Site, inner: Parts) -> InitLines:
    return lifted.constructor(text, site, inner) if site.lifted or site.scopes else InitLines((), inner)


def _is_taken(site: Site, name: str, value: Value) -> bool:
    """Is a factory None, or one of functions as far as the code shows it: `linen_parity.plain_dot_general` looks at it?"""
    if isinstance(value, Const) and value.value is None:
        return True
    dense = site.target in ("flax.linen.Dense", "flax.linen.DenseGeneral") and name == "dot_general_cls"
    return dense and type(value) in (Static, Unknown, Function)


def _argument(text: ClassText, site: Site, name: str, bound: BoundArg) -> Parts:
    return asked_presence.argument(text, site, name, bound) or text.argument(bound, name, site)


def built_layer(text: ClassText, site: Site) -> layers.Built:
    """The NNX layer of a site; of one that is handed in, what the constructor adds to what it was made with."""
    layer = layers.lookup(site.target)
    assert layer is not None
    given: dict[str, layers.Arg] = {}
    held: dict[str, layers.Arg] = {}
    moved = text.moved_fields(site, layer)
    for name, bound in site.bound.items():
        if name in moved:
            continue
        if name == call_dtypes.FIELD and call_dtypes.of_call(text, site):
            given[name] = layers.Arg(("None",), layers.AT_CALL)
            continue
        if name.endswith("_cls") and not _is_taken(site, name, bound.abs.value):
            label = site.target.rpartition(".")[2]
            raise Unmigratable("NNX203", f"`{name}` of {label} has no counterpart in NNX", site.node)
        if bound.given and not site.held:
            given[name] = layer_arg(text.run, site.target, name, bound, lambda b, n=name: _argument(text, site, n, b))
        else:
            held[name] = layer_arg(text.run, site.target, name, bound, lambda b, n=name: (f"<{n}>",))
    for name, bound in _overridden(site, given).items():
        held[name] = layer_arg(text.run, site.target, name, bound, lambda b, n=name: (f"<{n}>",))
    for name in [*moved, *site.calltime]:
        if name in layer.instead_of_moved:
            given[name] = layers.Arg((layer.instead_of_moved[name],), layers.AT_CALL)
    call = None
    if site.call is not None and site.renders.get("method", "__call__") == "__call__":
        keywords = dict(site.call.keywords)
        for name in [*moved, *site.calltime]:
            keywords.setdefault(layer.call_time_fields.get(name, name), Unknown(name))
        known = {p.name for p in layer.call_parameters}
        call = layers.Call(site.call.args, {k: v for k, v in keywords.items() if k in known})
    try:
        if held:
            return layer.complete(held, given, call, text.dim)
        if site.renders.get("options") == "norm_options":  # any type may be among them
            given["dtype"] = layers.Arg(("None",), layers.AT_CALL)
            return layer.build(given, call, text.dim).without((("dtype", ("None",)),))
        return call_dtypes.unset(text, site, layer.build(given, call, text.dim))
    except layers.SizeUnknown as error:
        why = f"the input size of `{short(site.node)}` is not known: {error.why}"
        raise asking.lacking(Unmigratable("NNX110", why, site.node), site) from error
    except layers.Unsupported as error:
        raise Unmigratable(error.code, error.reason, site.node) from error
    except layers.BadCall as error:
        raise Unmigratable("NNX165", str(error), site.node) from error


def _overridden(site: Site, given: Collection[str]) -> dict[str, BoundArg]:
    """What a partial binds by name and its call gives anew: by position, the call would give it twice."""
    said_in_full = site.choice or site.lifted or site.held or site.renders.get("spelled")
    if site.factory is None or said_in_full:
        return {}
    return {name: bound for name, bound in site.factory.args.items() if name in given}


def _layer(text: ClassText, site: Site) -> Parts:
    built = built_layer(text, site)
    callee, arguments, _ = _layer_call(text, site, built)
    return joined(callee, [*arguments, ("rngs=rngs",)] if built.rngs else arguments)


def _layer_call(text: ClassText, site: Site, built: layers.Built) -> tuple[Parts, list[Parts], list[str]]:
    """What is called, its arguments but for the random streams, and the names of the first of them."""
    for code, message in built.notes:
        text.notes.append((code, message, site.node))
    for part in built.parity:
        text.namer.parity(part)
    callee = text.callee(site, built.target)
    arguments: list[Parts] = [listed for p in built.positional for listed in _listed(site, text.named(p))]
    arguments += [(f"{name}=", *text.named(parts)) for name, parts in built.keywords]
    arguments += text.handed_on(site)
    return callee, arguments, [*built.names, *(name for name, _ in built.keywords)]


def _listed(site: Site, parts: Parts) -> list[Parts]:
    """`*[a, b]` of a list that is written out, as `a, b`; of one on lines of its own, with these lines."""
    bound = site.bound.get("layers")
    shown = bound.node if bound is not None and isinstance(bound.node, ast.List | ast.Tuple) else None
    if shown is None or not shown.elts or parts != ("*", site.source.span(shown)):
        return [parts]
    if "\n" not in site.source.text_of(shown):
        return [(site.source.span(item),) for item in shown.elts]
    span = site.source.span(shown)
    return [(Span(span.start + 1, span.end - 1),)]


def _class(text: ClassText, site: Site) -> Parts:
    called = text.plans.get(site.target)
    name = site.target.rpartition(".")[2]
    if called is not None and called.details is not None and site.renders.get(OUT_SHAPE):
        stays = Unmigratable("NNX124", f"{name}, whose result decides sizes here, contains this class", site.node)
        stays.inner = site.target
        raise stays
    if site.foreign:
        return foreign.bridged(text, site)
    if called is None or called.details is None:
        if text.model.qualname in text.analyser.bridging and text.references is not None:
            return bridging.bridged(text, site, text.references, site.bridged)
    callee, arguments = class_parts(text, site)
    asked = [
        (added, argument, index)
        for added, argument, index in native_details(text, site).added
        if not (added.default and call_defaults.left_out(text, site, argument))
    ]
    added = [(a.name, added_value(text, site, a, argument, index)) for a, argument, index in asked]
    return joined(callee, [*arguments, *((f"{name}=", said) for name, said in added), ("rngs=rngs",)])


def native_details(text: ClassText, site: Site) -> Details:
    """What the class of a module asks for. Raises Unmigratable where it stays Linen."""
    called = text.plans.get(site.target)
    if called is None or called.details is None:
        found = Unmigratable("NNX150", f"it contains {site.target.rpartition('.')[2]}, which is not native", site.node)
        found.inner = site.target
        raise found
    details: Details = called.details
    return details


def class_parts(text: ClassText, site: Site) -> tuple[Parts, list[Parts]]:
    """What is called, and its arguments but for sizes and random streams."""
    native_details(text, site)
    called = text.plans[site.target]
    settled_fields.check_given(text.run, site)
    _check_mapped(text, site, called)
    _check_methods(text, site)
    callee = text.callee(site, site.target)
    arguments: list[Parts] = []
    order = [f.name for f in text.analyser.classes.get(site.target).fields()]  # type: ignore[union-attr]
    moved = merged_flags.moved(text, site)
    left_out = {*moved, *fallbacks.unread(text.analyser, text.model, site)}
    given = {n: b for n, b in site.bound.items() if b.given and n not in left_out}
    nothing = fallbacks.nothing(text.analyser, text.model, site)
    positional = len(site.node.args)
    in_place = True
    for position, (name, bound) in enumerate(given.items()):
        lent = ("None",) if name in nothing else lent_fields.argument(text, site, name, bound)
        parts = lent or asked_presence.argument(text, site, name, bound) or text.argument(bound, name, site)
        in_place = in_place and position < positional and position < len(order) and order[position] == name
        arguments.append(parts if in_place else (f"{name}=", *parts))
    arguments += own_names.argument(text, site)
    arguments += text.handed_on(site)
    return callee, arguments


def _check_methods(text: ClassText, site: Site) -> None:
    """Refuse a module of which methods are called that leave out some of its modules."""
    model = text.analyser.classes.get(site.target)
    methods = frozenset(method for _, method, _ in site.calls)
    if model is None or not methods or not own_methods.is_only_asked(text.model, site):
        return
    left = own_methods.uncalled(model, text.analyser.execution(site.target), methods)
    if left is not None:
        name, called = site.target.rpartition(".")[2], " and ".join(f"`{m}`" for m in sorted(methods))
        reason = f"of {name} only {called} is called, and Linen makes no variables for `{short(left.node)}`"
        raise Unmigratable("NNX157", reason, site.node)


def _check_mapped(text: ClassText, site: Site, called: ClassPlan) -> None:
    """Refuse `jax.vmap(module)`, `jax.grad(module)` of a module that draws, updates or takes flags at its call."""
    assert called.details is not None
    networks = site.renders.get(BY_NETWORKS, ())
    if networks and (called.details.call_keywords or site.calltime):
        given = f"a module is given to `{ast.unparse(networks[0][0].func)}` as it is"
        raise Unmigratable("NNX134", f"{given}, and its call takes flags; call it in a function", networks[0][0])
    if not site.renders.get("mapped"):
        return
    takes = called.details.call_keywords or site.calltime or called.collections - {"params"} or called.sown
    if not takes and called.rng_streams and mapped_draws.fits(text.run.project, site):
        site.renders[mapped_draws.NAME] = True
        return
    if takes or called.rng_streams:
        node = site.renders["mapped"][0]
        given = f"a module is given to `{ast.unparse(node.func)}` as it is"
        reason = f"{given}, and its call does more than compute; call it in a function"
        raise Unmigratable("NNX134", reason, node)


def added_value(text: ClassText, site: Site, added: AddedArgument, argument: str, index: Any) -> str:
    """The size that a submodule's constructor asks for, in this constructor's terms."""
    called = text.analyser.execution(site.target)
    method = site.renders.get("method", "__call__")
    summary = called.summaries.get(method)
    name = site.target.rpartition(".")[2]
    if added.call:
        raise Unmigratable("NNX127", f"{name} is handed modules, here and by code outside of modules", site.node)
    if added.whole and (said := first_inputs.whole(text, site, argument)) is not None:
        return said
    if added.whole:
        why = f"`{added.name}` of {name} is what it is first called with, which the constructor does not have"
        raise asking.lacking(Unmigratable("NNX110", why, site.node), site, argument)
    if site.call is None or summary is None:
        raise Unmigratable("NNX110", f"{name} is never called where its `{added.name}` could be seen", site.node)
    if text.analyser.is_asked_value(site.target, argument):
        return asking.handed_on(text, site, argument, index)
    inputs, unlike = own_methods.inputs_of(site, called)
    if argument in unlike:
        raise Unmigratable("NNX114", f"two methods of {name} are given a `{argument}` of several sizes", site.node)
    substitution = text.analyser.substitution(text.run, site, called, inputs)
    value = substitution._input(argument)
    if isinstance(value, Const) and value.value is None:
        return "None"
    if argument in site.renders.get("uneven", ()) and added.origin.startswith("None if"):
        reason = f"some calls of {name} give it `{argument}` and others do not, by conditions that cannot be told apart"
        raise Unmigratable("NNX132", reason, site.node)
    if isinstance(value, NoneAtFirst) and added.origin.startswith("None if"):
        return none_at_first.said(text, site, argument, added.name)
    if not isinstance(value, Array):
        why = f"`{added.name}` of {name} is not known: `{argument}` is not an array here"
        raise asking.lacking(Unmigratable("NNX110", why, site.node), site, argument)
    if added.origin.startswith("None if") and whole_argument(value):
        text.optional.add(whole_argument(value))  # optional there, and optional here
    if index == -1:
        dim = value.shape.dim(-1)
        if dim is None:
            unknown = Unmigratable("NNX110", f"`{added.name}` of {name} is not known", site.node)
            unknown.wanted_ranks = rank_checks.wanted(text, value.shape)
            raise asking.lacking(unknown, site, argument)
        if isinstance(value, OptionalArray):
            try:
                return f"({text.dim(dim)} if {setup_conditions.step_text(text, value.step, site)} else None)"
            except Unmigratable as error:
                if text.model.qualname in text.analyser.later:
                    raise asking.lacking(error, site) from error  # the call on shapes knows
                raise
        return text.dim(dim)
    rank_checks.refuse_unknown(text, site, argument, value.shape)
    needed = text.analyser.needed_sizes(text.run, site, called, method, inputs)
    whole = site.target in text.analyser.wanted_sizes and sayable(value.shape)
    if enough(value.shape, argument, needed) and not whole:
        text.analyser.partial.add((site.target, added.name))
        dims = {index for name, index in needed or () if name == argument}
        return _where_given(text, site, value, text.partial_shape(value.shape, dims))
    if sayable(value.shape):
        return _where_given(text, site, value, text.shape(value.shape))
    why = f"the whole shape of `{argument}` for {name} is not known"
    raise asking.lacking(Unmigratable("NNX110", why, site.node), site, argument)


def _where_given(text: ClassText, site: Site, value: Array, said: str) -> str:
    """The shape of an array that may be None, which is said as None then."""
    step = value.step if isinstance(value, OptionalArray) else None
    if not said.startswith("("):  # the shape of an argument is None itself
        return said
    if whole_argument(value) in text.optional:
        return f"({said} if {setup_conditions.is_given(text, whole_argument(value))} else None)"
    if step is None or step.deps:
        return said
    return f"({said} if {setup_conditions.step_text(text, step, site)} else None)"


def _param(text: ClassText, site: Site) -> Parts:
    init, *rest = site.init_localized
    variable = text.namer.name("flax.nnx.Param")
    if len(site.renders.keys() & {"features", "axes"}) == 0 and not _keywords(text, site):
        value = called_lambdas.result(text, site, init, ["rngs.params()", *rest])
        if value is not None:
            return (f"{variable}(", *as_array(text, site, value), ")")
    arguments: list[Parts] = [("rngs.params()",)]
    arguments += [text.expression(l, site) for l in rest]
    arguments += _keywords(text, site)
    features = site.renders.get("features")
    if isinstance(features, FeatureShape):  # of Linen's `_normalize`
        sizes = (text.namer.parity("feature_shape"), "(", text.shape(features.array.shape), ", ")
        arguments.insert(1, (*sizes, *text.said(features.axes), ")"))
    elif features is not None:
        arguments.insert(1, (f"({text.dim(features)},)",))
    function = text.expression(init, site)
    if _needs_brackets(init, site):
        function = ("(", *function, ")")
    axes = site.renders.get("axes")
    if axes is not None:
        wrapper = text.namer.parity("param_with_axes")
        function = (f"{wrapper}(", *function, ", ", *text.expression(axes, site), ")")
    return (f"{variable}(", *as_array(text, site, joined(function, arguments)), ")")


def _keywords(text: ClassText, site: Site) -> list[Parts]:
    """What an initializer is given by name."""
    given = {k.removeprefix("kw:"): said for k, said in site.renders.items() if k.startswith("kw:")}
    return [(f"{key}=", *text.expression(said, site)) for key, said in given.items()]


def _variable(text: ClassText, site: Site) -> Parts:
    kind = text.variable_type(site.target)
    if not site.init_localized:
        raise Unmigratable("NNX166", f"the variable `{short(site.node)}` has no initial value", site.node)
    wrapped = wrapped_around.first_value(text, site)
    if wrapped is not None:
        return (f"{kind}(", *wrapped, ")")
    init, *rest = site.init_localized
    keywords = _keywords(text, site)
    value = called_lambdas.result(text, site, init, rest) if not keywords else None
    if value is not None:
        return (f"{kind}(", *as_array(text, site, value), ")")
    function = text.expression(init, site)
    if _needs_brackets(init, site):
        function = ("(", *function, ")")
    return (f"{kind}(", *as_array(text, site, joined(function, [*(text.expression(l, site) for l in rest), *keywords])), ")")


def as_array(text: ClassText, site: Site, made: Parts) -> Parts:
    """The first value of a parameter or variable, an array also where the program gives a number."""
    return (f"{text.namer.name('jax.numpy.asarray')}(", *made, ")") if site.number else made


def _needs_brackets(localized: Localized, site: Site) -> bool:
    for node in subtree(site.node):
        if isinstance(node, ast.Lambda | ast.IfExp | ast.BoolOp) and localized.source.span(node) == localized.span:
            return True
    return False
