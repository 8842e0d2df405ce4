"""Calls of modules and of function values: their inputs recorded, their output shapes."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ...catalog import layers
from ...frozen import frozen
from ...source import SourceFile
from ..lifted import traced_makers
from ..lifted.lifting import inward, outward, transforms_of
from ..lists import all_but_last, chains, own_chains
from ..lists.list_items import check_call, given_back
from ..project.classes import ClassModel
from ..shapes import shapes
from ..shapes.attended import attended_by
from ..shapes.rotations import rotated
from ..shapes.shape_keeping import keeps_shape
from ..values import rest_arguments
from ..values.apart import run_apart
from ..values.arguments import Arguments, arguments_of, function_env, parameters_of
from ..values.detached import DETACHED
from ..values.dims import Dim
from ..values.environment import Env
from ..values.kind_results import agreed, of_layer
from ..values.late_makes import called_late
from ..values.mapped_axes import drop_axes, handed_on, insert_axes, mapped_size
from ..values.merging import Choice, Either, merge_by
from ..values.nothing_made import GivesBack
from ..values.presence import Step, merged_call, through_another
from ..values.sites import (
    Abs,
    BoundArg,
    CallRecord,
    Function,
    Lifted,
    Module,
    ModuleField,
    Repeated,
    Site,
    Static,
    Table,
    Unmigratable,
)
from ..values.values import Array, Const, Global, Int, Lead, NeedsRank, Shape, ShapeOf, Text, Tup, Unknown, Value
from . import detached_models, foreign, handed_keywords, layer_calls, own_methods, scanned_carries
from .applied import REFUSED_METHODS, apply_layer
from .given_functions import PartialFunction, call_function
from .rank_readers import reads_rank

Place = tuple[ast.Call, Env]  # a call, and where it stands
_CONVOLUTIONS = frozenset({"flax.linen.Conv", "flax.linen.ConvTranspose", "flax.linen.ConvLocal"})
# Constructor parameters that are one integer, whatever their annotation says; the rest may be a tuple or None.
_SIZE_PARAMETERS = frozenset({"num_embeddings", "num_heads", "num_groups", "feature_group_count"})
_WIDTH_IS_FEATURES = _CONVOLUTIONS | {"flax.linen.Dense", "flax.linen.Embed"}
_KEEP_SHAPE = frozenset(
    f"flax.linen.{name}" for name in ("LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm", "InstanceNorm", "Dropout", "PReLU")
)
_MANY_FEATURES = frozenset({"flax.linen.DenseGeneral"})


def call_either(run: Any, either: Either, method: str, node: ast.Call, env: Any) -> Abs:
    """One of several submodules is called: what their results have in common."""
    arguments = arguments_of(run, node, env)

    def result(value: Value) -> Abs:
        if isinstance(value, GivesBack):
            return given_back_as_it_is(arguments, node)
        if isinstance(value, Function | Global | Static):
            return Abs(call_beside_module(run, value, method, arguments, env), False, arguments.flags)
        if not isinstance(value, Either):
            return call_module(run, value, method, node, env, arguments)
        if value.sides is None or value.test is None:
            results = [result(m) for m in (*value.modules, *value.functions)]
            handed = any(isinstance(m, Module) and m.site.held for m in value.modules)
            merged: Abs = run.merge_values(_of_unlike_widths(results) if handed else results)
            return merged
        for step in run.path:  # under the very condition by which it is the one or the other
            if step.text == value.test[0] and not step.deps:
                return result(value.sides[0 if step.holds else 1])
        a, b = (on_side(value, value.test, holds) for holds in (True, False))
        return Abs(merge_by(value.test, a.value, b.value), False, a.flags | b.flags)

    def on_side(value: Either, test: tuple[str, frozenset[str]], holds: bool) -> Abs:
        """The call of the one or the other, which is made under that condition wherever the module comes from."""
        assert value.sides is not None
        run.path.append(Step(*test, holds))
        try:
            return result(value.sides[0 if holds else 1])
        finally:
            run.path.pop()

    return result(either)


OPEN = "open_conditions"  # how many conditions around a module's first call the constructor cannot answer


def _of_unlike_widths(results: list[Abs]) -> list[Abs]:
    """What modules give that others hand over, of which one is called: a width that one keeps says nothing of the others."""
    widths = [r.value.shape.dim(-1) for r in results if isinstance(r.value, Array)]
    if None not in widths or len(widths) < len(results):
        return results
    return [
        dataclasses.replace(r, value=Array(Shape((*r.value.shape.dims[:-1], None), r.value.shape.lead)))
        for r in results
        if isinstance(r.value, Array)
    ]


def given_back_as_it_is(arguments: Arguments, node: ast.Call) -> Abs:
    """What is made of nothing returns its first argument."""
    if not arguments.positional or arguments.starred():
        reason = f"`{ast.unparse(node)}` may call a layer or hand its input back, which is not seen"
        raise Unmigratable("NNX132", reason, node)
    return arguments.positional[0][1]


def call_beside_module(run: Any, value: Value, method: str, arguments: Arguments, env: Any) -> Value:
    """What a function gives that stands where there may be a module: `nn.Dense(4) if self.wide else nn.relu`."""
    if method != "__call__" or arguments.starred():
        return Unknown(f"the result of `{method}`")
    if isinstance(value, Function | Global | PartialFunction):
        return call_function(run, value, arguments)
    arrays = [a.value for _, a in arguments.positional if isinstance(a.value, Array)]
    if len(arrays) == 1 and keeps_shape(run, value, arrays[0], env):
        return arrays[0]
    return Unknown("the result of a function that is not known")


def call_module(run: Any, module: Value, method: str, node: ast.Call, env: Any, arguments: Arguments | None = None) -> Abs:
    """A submodule is called."""
    if arguments is None:
        arguments = arguments_of(run, node, env)
    if isinstance(module, ModuleField):
        if method == "values":
            return Abs(module)
        return Abs(Unknown(f"the result of `{run.project.said(node.func)}`"), False, arguments.flags)
    assert isinstance(module, Module)
    site = module.site
    called = run.analyser.classes.get(site.target)
    if DETACHED in site.renders:
        return detached_models.called(run, site, method, node, arguments, module_output)
    if method in REFUSED_METHODS and (called is None or called.method(method) is None):
        if method == "apply":
            return apply_layer(run, module, node, env)
        raise Unmigratable("NNX149", f"`{ast.unparse(node.func)}` is used", node)
    site.renders["paths"] = (*site.renders.get("paths", ()), tuple(run.path))
    site.renders["sized"] = (*site.renders.get("sized", ()), tuple(run.sized))
    if arguments.starred():
        known = _handed_on(run, site, called, method, arguments)
    else:
        args, keywords = arguments.values(run)
        args = [_array_of_field(run, a.value) or value for (_, a), value in zip(arguments.positional, args, strict=True)]
        keywords |= {k: array for k, _, a in arguments.keywords if k and (array := _array_of_field(run, a.value))}
        named = layers.named_today(site.target, node, args) if site.kind == "layer" and not site.lifted else {}
        if named:
            site.renders[NAMED_TODAY] = {**site.renders.get(NAMED_TODAY, {}), node: named}
        keywords |= {name: args[i] for i, name in named.items()}
        args = [value for i, value in enumerate(args) if i not in named]
        known = all_but_last.of_last(run, site, node, CallRecord(tuple(args), keywords))
        check_call(run, site, node, known, env)
        known = scanned_carries.with_width(run, site, node, known, env)
    site.calls.append((node, method, env))
    site.renders.setdefault(OPEN, run.open_conditions)
    if known is not None and site.kind == "class":
        own_methods.noted(site, method, known)
    levels = transforms_of(site.lifted, method)
    if known is not None and any(l.kind in ("scan", "vmap") for l in levels):
        return _call_lifted(run, site, method, known, arguments, levels)
    helper = site.renders.get("method") == INITIAL_CARRY  # says nothing of the inputs
    if known is not None and not helper and (site.call is None or site.renders.get("method") == method):
        merged_call(site, run.path, known, called.method(method) if called is not None else None)
    if (site.call is None or helper) and known is not None:
        called_late(run, site, known)
        site.call = known
        site.renders["method"] = method
    if known is None:
        return Abs(Unknown(f"the result of `{run.project.said(node.func)}`"), False, arguments.flags)
    result = given_back(run, site, node, module_output(run, site, method, known), env)
    if site.kind == "class" and not site.foreign:
        result = rotated(site.target, [*known.args, *known.keywords.values()], result)
        result = attended_by(run, site, method, known, result)
    return Abs(result, False, arguments.flags)


_ARRAYS = frozenset({"np.ndarray", "numpy.ndarray", "jnp.ndarray", "jax.numpy.ndarray", "jax.Array", "chex.Array"})


def _array_of_field(run: Any, value: Value) -> Array | None:
    """A field that is annotated as an array, where a module is called with it: `nn.Dense(4)(self.table)`."""
    field = run.fields.get(value.text.removeprefix("self.")) if isinstance(value, Static) else None
    if field is None or field.annotation is None or run.project.said(field.annotation) not in _ARRAYS:
        return None
    return Array(Shape((Dim.opaque(f"self.{field.name}.shape[-1]"),), Lead.unknown()))


# Layers whose sizes follow from the first argument of their call alone, which has the same name and place in NNX.
_OF_ONE_ARRAY = frozenset(
    f"flax.linen.{name}"
    for name in ("Dense", "DenseGeneral", "Conv", "ConvTranspose", "Embed", "LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm")
)


def _handed_on(run: Any, site: Site, called: ClassModel | None, method: str, arguments: Arguments) -> CallRecord | None:
    """`module(x, *args, **kwargs)` of a class of the project: what else it may be given is not known."""
    found = called.method(method) if called is not None else None
    nodes = [node for node, _ in arguments.positional]
    stars = [isinstance(node, ast.Starred) for node in nodes]
    whole = arguments.positional[-1][1].value if sum(stars) == 1 else None
    if site.kind == "layer" and len(stars) == 1 and not arguments.keywords and isinstance(whole, rest_arguments.Given):
        return CallRecord((whole.item(0),), {})
    given = list(itertools.takewhile(lambda pair: not isinstance(pair[0], ast.Starred), arguments.positional))
    if found is None and given and all(kind.target in _OF_ONE_ARRAY for kind in (site, *site.alternatives)):
        return CallRecord((run.plain(given[0][1].value),), {})  # a mask or flag, at most, and no sizes come with it
    if found is None or stars != sorted(stars):
        return None
    args = [run.plain(a.value) for node, a in arguments.positional if not isinstance(node, ast.Starred)]
    if isinstance(whole, rest_arguments.Given) and site.kind == "class":
        args += whole.taken(found, len(args), run.analyser.execution(site.target).optional_arguments)
    keywords = {k: run.plain(a.value) for k, _, a in arguments.keywords if k is not None}
    unsaid = [p.arg for p in found.parameters[len(args) :] if p.arg not in keywords]
    keywords |= dict.fromkeys(unsaid, Unknown("what is handed on"))
    handed_keywords.note(run, site, arguments, unsaid, found.node.args.kwarg is not None)
    return CallRecord(tuple(args), keywords)


def module_output(run: Any, site: Site, method: str, record: CallRecord) -> Value:
    """What a method of a module gives for one call, whichever of its kinds it is."""
    if not site.alternatives:
        return of_layer(run, site, _output(run, site, method, record))
    for other in site.alternatives:
        other.call = site.call
        other.renders["method"] = site.renders.get("method", method)
    return agreed(run, site, record, [_output(run, kind, method, record) for kind in (site, *site.alternatives)])


def _output(run: Any, site: Site, method: str, record: CallRecord) -> Value:
    """What one kind gives, by the layer catalog or by the class of the project."""
    if site.kind == "layer":
        own = layer_calls.own_call(run.analyser.classes, site) if method == "__call__" else None
        return layer_calls.followed(run, site, own, record) if own is not None else layer_output(run, site, record, method)
    if method == INITIAL_CARRY:
        record = CallRecord(tuple(as_shape(v) for v in record.args), {k: as_shape(v) for k, v in record.keywords.items()})
    if site.foreign:
        return foreign.result(run, site, method, record)
    return run.analyser.output(run, site, method, record)  # type: ignore[no-any-return]


def layer_output(run: Any, site: Site, record: CallRecord, method: str = "__call__") -> Value:
    """What a layer of Linen's gives."""
    layer = layers.lookup(site.target)
    assert layer is not None
    args = {k: layer_arg(run, site.target, k, a) for k, a in site.bound.items()}
    made = layers.Call(record.args, record.keywords)
    if site.target in _CONVOLUTIONS:
        args |= {key: layers.Arg((), Unknown(f"`{key}` may be in a mapping")) for key in site.renders.get("open", ())}
        window = site.bound.get("kernel_size")
        unsaid = window is not None and (isinstance(window.abs.value, Static) or reads_rank(site))
        assume_rank(run, args.get("kernel_size"), record.args[0] if record.args else None, unsaid)
    try:
        if method != "__call__":
            return layer.method_output(method, args, made)
        result = layer.output(args, made, _inner_results(run, site, layer, args, made))
    except layers.BadCall as error:  # one of several kinds that is called as the others are
        raise Unmigratable("NNX165", str(error), site.node) from error
    if isinstance(result, Unknown):
        return _known_width(site.target, args, record, result)
    return result


def assume_rank(run: Any, window: layers.Arg | None, value: Value | None, unsaid: bool = False) -> None:
    """What a convolution or pool over n spatial dimensions is given has one batch and one channel dimension more.

    Linen takes any number of batch dimensions; one is what the rest of the module (a flattening reshape) builds on.
    `unsaid`: n is a guess, as the window is a field of any length; the constructor checks it where it matters (NNX115).
    """
    sizes = layers.sizes_of(window)
    if sizes is None or not isinstance(value, Array) or value.shape.lead is None:
        return
    implied = value.shape.implied_rank(len(sizes) + 2)
    if implied is not None:
        run.assumed_ranks.setdefault(*implied)
        if unsaid:
            run.ranks_of_windows.add(implied[0])


def _known_width(target: str, args: Mapping[str, layers.Arg], record: CallRecord, result: Unknown) -> Value:
    """Of a result whose shape is not known, its last dimension may be."""
    if target in _WIDTH_IS_FEATURES:
        features = layers.size_of(args.get("features"))
        if features is not None:
            needs = result.arguments if isinstance(result, NeedsRank) else ()
            return Array(Shape((features,), Lead.unknown(*needs)))
    if target in _KEEP_SHAPE and record.args and isinstance(record.args[0], Array):
        return record.args[0]
    return result


def _inner_results(
    run: Any, site: Site, layer: layers.Layer, args: Mapping[str, layers.Arg], made: layers.Call
) -> dict[str, Value]:
    """What the modules that a layer holds give when the layer calls them: the cell of an RNN, the parts of a Sequential."""
    results: dict[str, Value] = {}
    for field, inner in layer.inner_calls(args, made).items():
        bound = site.bound.get(field)
        value = bound.abs.value if bound is not None else None
        members = list(value.items) if isinstance(value, Tup) else [value] if value is not None else []
        record = CallRecord(inner.args, dict(inner.keywords))
        result: Value = Unknown(f"the result of `{field}`")
        if isinstance(value, Repeated | chains.Chain):
            results[field] = _through_list(run, layer, value, record, site, result)
            continue
        for member in members:
            own_chains.check_passed_on(run, site, record, made)
            result = _member_result(run, layer, member, record, field, site.source)
            record = CallRecord((result,), {})
        results[field] = result
    return results


def _member_result(
    run: Any, layer: layers.Layer, member: Value, record: CallRecord, field: str, source: SourceFile
) -> Value:
    """What one of the modules or functions that a layer holds gives."""
    if isinstance(member, Module):
        record, site = _with_carry(run, layer, member.site, record), member.site
        first = site.call is None or site.renders.get("method") == INITIAL_CARRY
        through_another(run, site, record)
        if first:
            site.call, site.renders["method"] = record, "__call__"
        return module_output(run, site, "__call__", record)
    if isinstance(member, Function):
        return invoke(run, Abs(member), record.args)
    if isinstance(member, Global):
        return shapes.call(member.name, list(record.args), {})
    if isinstance(member, Static | Choice | Either) and len(record.args) == 1:  # a field's function, or one of several
        env = Env({"item": Abs(member, isinstance(member, Static)), "given": Abs(record.args[0])}, source)
        given: Value = run.evaluate(ast.parse("item(given)", mode="eval").body, env).value
        return given
    return Unknown(f"the result of `{field}`")


def _through_list(run: Any, layer: layers.Layer, value: Value, record: CallRecord, site: Site, unknown: Value) -> Value:
    """What a list that was filled in loops gives, as nn.Sequential calls it."""
    made = list(run.modules_in(value))
    plain = layer.linen == "flax.linen.Sequential" and len(record.args) == 1 and not record.keywords
    if not plain or len({s.in_setup for s in made}) > 1 or (isinstance(value, Repeated) and value.turned):
        return unknown

    def call(member: Value, given: Value) -> Value:
        own_chains.check_passed_on(run, site, CallRecord((given,), {}), record)
        return _member_result(run, layer, member, CallRecord((given,), {}), "layers", site.source)

    return chains.sequence(run, value, record.args[0], call, site.source)


INITIAL_CARRY = "initialize_carry"
NAMED_TODAY = "named_today"  # what a site renders: call → place → the keyword that it is today


def as_shape(value: Value) -> Value:
    """The shape that a cell's carry is made for, as the array that has it."""
    if isinstance(value, ShapeOf):
        return Array(value.shape)
    if isinstance(value, Tup) and all(isinstance(i, Int) for i in value.items):
        return Array(Shape(tuple(i.dim for i in value.items if isinstance(i, Int))))
    return value


def _with_carry(run: Any, layer: layers.Layer, site: Site, record: CallRecord) -> CallRecord:
    """The call of a cell of the user's own by nn.RNN, which begins with the carry that the cell makes for its inputs."""
    if layer.linen != "flax.linen.RNN" or site.kind != "class" or len(record.args) != 2:
        return record
    carry, inputs = record.args
    if not isinstance(carry, Unknown) or not isinstance(inputs, Array):
        return record
    made = module_output(run, site, INITIAL_CARRY, CallRecord((Unknown("a random key"), inputs), {}))
    return CallRecord((made, inputs), record.keywords)


def layer_arg(run: Any, owner: str, name: str, argument: BoundArg, resolve: Any = None) -> layers.Arg:
    """A bound argument as the layer catalog takes it."""
    value = argument.abs.value
    if isinstance(value, Static):
        single = name in _SIZE_PARAMETERS or (name == "features" and owner not in _MANY_FEATURES)
        if single:
            value = Int(run.dim_of(value))
        elif owner in _CONVOLUTIONS and name in ("kernel_size", "strides"):
            # Two spatial dimensions, as images have; see `assume_rank`.
            value = Tup(tuple(Int(Dim.opaque(f"{value.stem}[{i}]", value.deps)) for i in range(2)))
        else:
            value = Text(value.text) if _is_string(run, value) else Unknown(value.text)
    elif isinstance(value, Tup):
        value = run.plain(value)
    elif isinstance(value, Table) and all(isinstance(item, Const) for item in value.items.values()):
        value = Const({key: item.value for key, item in value.items.items() if isinstance(item, Const)})
    elif isinstance(value, Module):
        inner = layers.lookup(value.site.target)
        if inner is not None:
            args = {k: layer_arg(run, value.site.target, k, a, resolve) for k, a in value.site.bound.items()}
            value = layers.Instance(inner, args)
    parts: tuple[Any, ...] = (argument.text,) if argument.text is not None else ()
    if resolve is not None:
        parts = resolve(argument)
    return layers.Arg(parts, value)


def _is_string(run: Any, value: Static) -> bool:
    """Is it a field that is annotated as a string?"""
    field = run.fields.get(value.text.removeprefix("self.")) if value.text.startswith("self.") else None
    return field is not None and field.annotation is not None and run.project.said(field.annotation).strip("'\"") == "str"


def _call_lifted(
    run: Any, site: Site, method: str, record: CallRecord, arguments: Arguments, levels: Sequence[Lifted]
) -> Abs:
    """The call of a scanned or vmapped module: the inner call sees arguments without the mapped axis."""
    inner = CallRecord(tuple(inward(run, levels, record.args)), {})  # Linen ignores keywords here
    if site.call is None or site.renders.get("method") == INITIAL_CARRY:
        called_late(run, site, inner)
        site.call = inner
        site.renders["method"] = method
    result = module_output(run, site, method, inner)
    return Abs(outward(run, levels, result, record.args), False, arguments.flags)


@frozen
class Derived:
    """By which arguments a function is derived: `jax.value_and_grad(f, argnums=(0, 1), has_aux=True)`."""

    places: tuple[int, ...] | int = 0
    with_value: bool = False
    has_aux: bool = False

    def result(self, values: Sequence[Value], given: Value) -> Value:
        """What the derivative gives for these arguments, of which the function gives `given`."""
        places = (self.places,) if isinstance(self.places, int) else self.places
        if not all(-len(values) <= place < len(values) and isinstance(values[place], Array) for place in places):
            return Unknown("")
        found = tuple(values[place] for place in places)  # each has the shape of what it is taken by
        derivative = found[0] if isinstance(self.places, int) else Tup(found)
        aux = given.items[1] if isinstance(given, Tup) and len(given.items) == 2 else Unknown("what goes with a derivative")
        if not self.with_value:
            return Tup((derivative, aux)) if self.has_aux else derivative
        value: Value = Array(Shape(()))
        return Tup((Tup((value, aux)) if self.has_aux else value, derivative))


@frozen(eq=False)
class Transformed(Value):
    """A transformed function (vmap, grad): executed for its modules.

    `mapped`: the axes in and out of a vmap, if known. `derived`: by what a gradient is taken, if known. `whole`: it takes
    what the function takes, as any derivative does.
    """

    function: Function | Module | Global | Transformed
    mapped: tuple[Value, Value] | None = None
    derived: Derived | None = None
    whole: bool = False


def call_transformed(run: Any, target: Transformed, node: ast.Call, env: Any) -> Abs:
    """A function under a transform of JAX's is called: `jax.vmap(f)(x)`, `jax.vmap(jax.grad(f))(x)`."""
    arguments = arguments_of(run, node, env)
    if isinstance(target.function, Global) and arguments.static:
        return run._static_text(node, True, arguments.flags, env)  # type: ignore[no-any-return]
    values = [run.plain(a.value) for _, a in arguments.positional]
    if arguments.starred() or (arguments.keywords and target.derived is None):
        target = Transformed(target.function)
    found = _applied(run, target, values, (node, env))
    unknown = type(found) is Unknown and not found.why
    return Abs(Unknown(f"the result of `{run.project.said(node.func)}`") if unknown else found, False, arguments.flags)


def _applied(run: Any, target: Transformed, values: Sequence[Value], place: Place | None = None) -> Value:
    """What a transformed function gives for these."""
    inner = Abs(target.function)
    if target.mapped is not None:
        in_axes, out_axes = target.mapped
        axes = list(in_axes.items) if isinstance(in_axes, Tup) else [in_axes] * len(values)
        step = handed_on if isinstance(_innermost(target), Module) else drop_axes
        result = invoke(run, inner, [step(v, a) for v, a in zip(values, axes)], place)
        size = mapped_size(values, axes)
        return insert_axes(result, out_axes, size if isinstance(size, Dim) else None)
    if target.derived is not None:
        return target.derived.result(values, invoke(run, inner, values, place))
    invoke(run, inner, values if target.whole else [Unknown("what a transform hands over")] * len(values), place)
    return Unknown("")


def _innermost(target: Transformed) -> Value:
    found: Value = target
    while isinstance(found, Transformed):
        found = found.function
    return found


def invoke(run: Any, function: Abs, values: Sequence[Value], place: Place | None = None) -> Value:
    """The result of a function value on abstract arguments. `place`: the one call that runs it, once."""
    found = function.value
    if isinstance(found, Transformed):
        return _applied(run, found, values, place)
    if isinstance(found, Module):
        record = CallRecord(tuple(values), {})
        first = found.site.call is None
        through_another(run, found.site, record)
        if first:
            found.site.call = record
        return module_output(run, found.site, "__call__", record)
    if isinstance(found, Global):
        return shapes.call(found.name, values, {})
    if not isinstance(found, Function):
        return Unknown("a function that is not known")
    before = len(run.sites)
    names = parameters_of(found.node)
    if found.method is not None and "staticmethod" not in found.method.decorators:
        names = names[1:]
    bound = {n: Abs(v) for n, v in zip(names, values)}
    for name in names:
        bound.setdefault(name, Abs(Unknown("argument")))
    if place is not None and traced_makers.is_one(run, found):
        return traced_makers.followed(run, found, bound, *place).value
    result = run_apart(run, found.node, function_env(run, found, bound))
    if len(run.sites) > before:
        raise Unmigratable("NNX134", "modules are made in a function given to a transform", found.node)
    return result.value
