"""Lifted transforms around a submodule: how it is made, and how it is called.

`nn.remat(Block)(...)` makes a plain Block and calls it through `nnx.remat(Block.__call__, ...)`. `nn.scan` and `nn.vmap`
with mapped parameters make a stack of modules under `nnx.vmap`, and run it with `nnx.scan` or `nnx.vmap`; the stacked
parameters have Linen's layout and keep their keys. Transforms around transforms nest in the same order.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..catalog import layers
from ..edits import Part, Parts
from ..linen.axis_rules import stacked_axis
from ..linen.lifting import WHOLE, members_needed, transforms_of, variable_axis
from ..linen.mapped_axes import in_axes_of, is_broadcast
from ..linen.sites import Lifted, Site, Table, Unmigratable
from ..linen.values import Array, Const, Int, NeedsRank, Tup, Value
from ..source import SourceFile
from . import elsewhere, lifted_options, whole_transforms
from .drawn import names_unknown, streams_of
from .sown import check as check_sown
from .text_parts import InitLines

if TYPE_CHECKING:
    from .class_text import ClassText

Lines = list[tuple[int, Parts]]
_COMPREHENSIONS = ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.Lambda


def base_text(writer: ClassText, site: Site) -> Parts:
    """The text of the class under the transforms."""
    node: ast.expr = site.node.func
    factory = site.factory
    if factory is not None and isinstance(factory.node, ast.expr) and factory.source is site.source:
        node = factory.node
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    found = writer.run.evaluated.get(node)
    target = getattr(found.value, "target", None) if found is not None else None
    plain = not getattr(found.value, "lifted", ()) if found is not None else False
    if target == site.target and plain and isinstance(node, ast.Name | ast.Attribute) and not _local(site, node):
        if site.kind == "layer":
            return (writer.namer.name(_layer_target(site)),)
        if site.source is writer.source:
            return (site.source.span(node),)
        return (elsewhere.class_here(writer, site, node),)
    if site.kind == "layer":
        return (writer.namer.name(_layer_target(site)),)
    module, _, name = site.target.rpartition(".")
    if module == writer.source.module:
        return (name,)
    return (writer.namer.name(site.target),)


def _local(site: Site, node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and (site.source.names.is_hidden(node.id, node) or node.id == "self")


def _layer_target(site: Site) -> str:
    layer = layers.lookup(site.target)
    assert layer is not None
    args = {k: layers.Arg(("",)) for k in site.bound}
    return layer.partial(args).target


# what the module under a transform uses ---------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Used:
    """What a module holds and does: its collections, the streams that it draws from when called, what it sows into."""

    collections: frozenset[str] = frozenset()
    streams: frozenset[str] = frozenset()
    sown: frozenset[str] = frozenset()
    unnamed: bool = False  # may it draw from a stream that is not named in the code?


def used_by(writer: ClassText, site: Site) -> Used:
    """What the module of a site holds and does."""
    if site.kind == "class":
        plan = writer.plans.get(site.target)
        return Used(plan.collections, plan.rng_streams, plan.sown, plan.unnamed_streams) if plan is not None else Used()
    layer = layers.lookup(site.target)
    if layer is None:
        return Used()
    return Used(frozenset(layer.collections), streams_of(site), unnamed=names_unknown([site], writer.plans))


def treatment(lifted: Lifted, used: Used) -> tuple[str, int]:
    """As `variable_axis`, with what random streams ask for: `streams` is a vmap whose members share all but these."""
    how, axis = variable_axis(lifted, used.collections)
    check_sown(lifted, how, axis, used.sown)
    if used.unnamed:
        reason = f"a module under nn.{lifted.kind} draws from a stream whose name is not written out"
        raise Unmigratable("NNX168", reason, lifted.node)
    if how == "stacked" and axis not in (0, -1) and used.streams:
        # The keys and counts of the streams are scalars: NNX stacks them with the parameters.
        reason = f"nn.{lifted.kind} stacks the variables along axis {axis} of a module that draws random numbers"
        raise Unmigratable("NNX168", reason, lifted.node)
    split = lifted.abs.get("split_rngs")
    table = split.value.items if split is not None and isinstance(split.value, Table) else {}
    if split is not None and not isinstance(split.value, Table):
        raise Unmigratable("NNX168", "split_rngs of a lifted transform is not a literal", lifted.node)
    drawn = [s for s in sorted(used.streams - {"params"}) if s in table or True in table]
    if not drawn:
        if how == "shared" and lifted.kind == "scan" and "batch_stats" in used.collections:
            return "carried", 0
        return how, axis
    for stream in drawn:
        given = table.get(stream, table.get(True))
        if not (isinstance(given, Const) and given.value is True):
            reason = f"every step or member of nn.{lifted.kind} draws the same numbers from the stream {stream!r}"
            raise Unmigratable("NNX168", reason, lifted.node)
    if how == "shared":
        return ("carried", 0) if lifted.kind == "scan" else ("streams", 0)
    if how == "stacked" and not _split(lifted):
        reason = f"nn.{lifted.kind} starts every member from the same parameters and gives it random numbers of its own"
        raise Unmigratable("NNX168", reason, lifted.node)
    return how, axis


# the constructor --------------------------------------------------------------------------------------------------
def constructor(writer: ClassText, site: Site, inner: Parts) -> InitLines:
    """How the site's module, parameter or variable is made under its transforms, those of its function outermost."""
    whole = whole_transforms.one_of(site.lifted)
    if whole is not None:
        return whole_transforms.constructor(writer, site, whole, inner)
    used = used_by(writer, site)
    stacks = [
        (lifted, axis)
        for lifted in (*site.scopes, *site.lifted)
        if lifted.kind in ("scan", "vmap")
        for how, axis in [treatment(lifted, used)]
        if how == "stacked"
    ]
    if not stacks:
        return InitLines((), inner)
    if site.in_setup:
        _not_in_comprehension(site, site.node)
    lines: Lines = []
    expression = inner
    for position, (lifted, axis) in reversed(list(enumerate(stacks))):
        name = f"create_{_snake(label_of(writer, site))}" if position == 0 else "create_member"
        count: Parts = (writer.dim(members_needed(writer.run, lifted)),)
        metadata = _metadata(writer, lifted)
        nnx_vmap = writer.namer.name("flax.nnx.vmap")
        head: Lines
        if _split(lifted):
            head = [
                (0, (f"@{writer.namer.name('flax.nnx.split_rngs')}(splits=", *count, ")")),
                (0, (f"@{nnx_vmap}(in_axes=0, out_axes={axis}", *metadata, ")")),
            ]
        else:
            head = [(0, (f"@{nnx_vmap}(in_axes=None, out_axes={axis}, axis_size=", *count, *metadata, ")"))]
        head.append((0, (f"def {name}(rngs: {writer.namer.name('flax.nnx.Rngs')}):",)))
        lines = [*head, *((depth + 1, parts) for depth, parts in lines), (1, ("return ", *expression))]
        expression = (f"{name}(rngs)",)
    return InitLines(tuple(lines), expression)


def label_of(writer: ClassText, site: Site) -> str:
    """What the site's object is called, for the names of functions around it."""
    place = writer.names.places.get(site)
    if place is not None and place.attribute.strip("_"):
        return place.attribute
    return site.target.rpartition(".")[2] or "value"


def _not_in_comprehension(site: Site, node: ast.AST) -> None:
    for parent in site.source.ancestors(node):
        if isinstance(parent, ast.stmt):
            return
        if isinstance(parent, _COMPREHENSIONS):
            raise Unmigratable("NNX130", "a lifted transform is used in a comprehension or lambda", node)


def _split(lifted: Lifted) -> bool:
    """Does every step draw parameters of its own?"""
    found = lifted.abs.get("split_rngs")
    if found is None:
        return False
    value = found.value
    if not isinstance(value, Table):
        raise Unmigratable("NNX168", "split_rngs of a lifted transform is not a literal", lifted.node)
    params = value.items.get("params", value.items.get(True))
    return isinstance(params, Const) and params.value is True


def _metadata(writer: ClassText, lifted: Lifted) -> Parts:
    """`metadata_params={nn.PARTITION_NAME: 'layers'}` → the name of the stacked axis."""
    named = _axis_name(writer, lifted)
    if not named:
        return ()
    # Names that stand in a collection of their own are no mesh axes that a static resolution has put in their place.
    apart = _of_partitioning(writer, lifted)
    said = repr(named[0]) if apart else stacked_axis(writer.run.project, named[0])
    return (", transform_metadata={", writer.namer.name("flax.nnx.PARTITION_NAME"), ": ", said, "}")


def _axis_name(writer: ClassText, lifted: Lifted) -> tuple[object, ...]:
    """The name that metadata gives the stacked axis (None is one: an axis that no mesh axis shards), or nothing."""
    node = lifted.options.get("metadata_params")
    if node is None and _of_partitioning(writer, lifted):
        return _name_of_params_axes(lifted)
    if node is None or (isinstance(node, ast.Dict) and not node.keys):
        return ()
    if not isinstance(node, ast.Dict) or len(node.keys) != 1:
        raise Unmigratable("NNX168", "metadata_params of a lifted transform is not a literal", lifted.node)
    value = lifted.abs["metadata_params"].value
    name = next(iter(value.items.values())) if isinstance(value, Table) and value.items else None
    if isinstance(name, Const):
        return (name.value,)
    # The key is nn.PARTITION_NAME, which evaluates to a constant that no table holds; take the value's text.
    if not isinstance(node.values[0], ast.Constant):
        raise Unmigratable("NNX168", "the partition name of a lifted transform is not a literal", lifted.node)
    return (node.values[0].value,)


def _of_partitioning(writer: ClassText, lifted: Lifted) -> str:
    """`scan_with_axes` and `vmap_with_axes`, which give the stacked axis its name in `params_axes`; else nothing."""
    func = lifted.node.func if isinstance(lifted.node, ast.Call) else lifted.node
    name = writer.run.project.qualname(writer.source, func) or ""
    module, _, last = name.rpartition(".")
    return last if module == "flax.linen.partitioning" and last.endswith("_with_axes") else ""


def _name_of_params_axes(lifted: Lifted) -> tuple[object, ...]:
    """The name that `axis_name='layers'` or `partitioning_axis_names={'params': 'layers'}` gives the stacked axis."""
    if lifted.kind == "vmap":
        given = lifted.abs.get("partitioning_axis_names")
        names = given.value.items if given is not None and isinstance(given.value, Table) else {}
        if given is None or (isinstance(given.value, Table) and not names):
            return ()
        found: object = names.get("params")
    else:
        stacked = lifted.abs.get("axis_name")
        if stacked is None:
            return ("layers",)
        found = stacked.value
    if not isinstance(found, Const) or "axes_collections" in lifted.options:
        raise Unmigratable("NNX168", "the partition name of a lifted transform is not a literal", lifted.node)
    return (found.value,)


def _snake(name: str) -> str:
    out = ""
    for position, char in enumerate(name):
        if char.isupper() and position and (not name[position - 1].isupper()):
            out += "_"
        out += char.lower()
    return out.replace("__", "_")


# calls -----------------------------------------------------------------------------------------------------------
def remat_call(writer: ClassText, site: Site, remats: Sequence[Lifted], method: str, place: ast.AST) -> Parts:
    """`nnx.remat(Block.__call__, ...)`: to be called with the module first."""
    if not remats:
        return ()
    options = remat_options(writer, site, remats[0], place, _left_out(writer, site, method, place))
    return (f"{writer.namer.name('flax.nnx.remat')}(", *base_text(writer, site), f".{method}", *options, ")")


def _left_out(writer: ClassText, site: Site, method: str, place: ast.AST) -> list[int]:
    """Arguments that a call leaves to defaults which are no arrays: nnx.remat would trace them, Linen's does not.

    Counted with the module, as nnx.remat counts them.
    """
    called = writer.analyser.classes.get(site.target)
    found = called.method(method) if called is not None else None
    if found is None or not isinstance(place, ast.Call) or any(isinstance(a, ast.Starred) for a in place.args):
        return []
    names = [p.arg for p in found.positional]
    given = {*names[: len(place.args)], *[k.arg for k in place.keywords]}
    defaults = {name: found.default(name) for name in names if name not in given}
    return [
        names.index(name) + 1
        for name, default in defaults.items()
        if default is not None and not (isinstance(default, ast.Constant) and default.value is None)
    ]


def remat_options(writer: ClassText, site: Site, remat: Lifted, place: ast.AST, static: Sequence[int] = ()) -> Parts:
    """The options that nn.remat and nnx.remat share; `static`: arguments that are static besides those it names."""
    options: list[Part] = []
    kept = kept_options(writer, site)
    for name in ("prevent_cse", "static_argnums", "policy"):
        node = remat.options.get(name)
        if name in kept:
            options += [f", {name}=self.{kept[name][0]}"]
        elif node is not None:
            said = lifted_options.said(site.source, remat, name, place)
            if name == "static_argnums" and (static or _counts_without_self(writer, site, remat)):
                said = _counted_with_self(node, remat, int(_counts_without_self(writer, site, remat)), static)
            assert said is not None
            options += [f", {name}=", said]
    if static and "static_argnums" not in remat.options:
        options.append(f", static_argnums={tuple(static)!r}")
    return tuple(options)


def outside_setup(writer: ClassText, site: Site, node: ast.expr) -> bool:
    """Does an expression of setup mean the same in another method: nothing but fields, globals and constants?"""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return all(n.id == "self" or not site.source.names.is_hidden(n.id, n) for n in names)


def _counts_without_self(writer: ClassText, site: Site, lifted: Lifted) -> bool:
    """`flax.linen.partitioning.remat` counts arguments from the first after self; nn.remat and nnx.remat count self."""
    name: str | None = writer.run.project.qualname(site.source, lifted.node.func)
    return name == "flax.linen.partitioning.remat"


def _counted_with_self(node: ast.expr, lifted: Lifted, shift: int, more: Sequence[int]) -> str:
    """`static_argnums` with the module counted, and `more` of them."""
    try:
        given = ast.literal_eval(node)
    except ValueError as error:
        raise Unmigratable("NNX168", "static_argnums of a remat is not a literal", lifted.node) from error
    if not more and not isinstance(given, tuple | list):
        return repr(given + shift)
    numbers = [n + shift for n in (given if isinstance(given, tuple | list) else (given,))]
    return repr((*numbers, *[n for n in more if n not in numbers]))


def alternative_call(writer: ClassText, sites: list[Site], node: ast.Call, method: str) -> Parts:
    """The call of one of two modules of a class, made under a condition of setup, of which one is under nn.remat."""
    first, second = sites[0], sites[-1]
    condition = first.conditions[-1] if first.conditions else None
    same = condition is not None and second.conditions and second.conditions[-1][0] is condition[0]
    test = condition[0].test if same and condition is not None and isinstance(condition[0], ast.If | ast.IfExp) else None
    plain = all(lifted.kind in ("remat", "jit") for site in sites for lifted in site.lifted)
    if len(sites) != 2 or test is None or not plain or first.target != second.target or first.kind != "class":
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` is one of several modules under transforms", node)
    assert condition is not None
    if condition[1] or not first.in_setup or not outside_setup(writer, first, test):
        raise Unmigratable("NNX130", "whether a module is under nn.remat is known only when it is called", node)
    body = condition[0].body
    inside = {n for statement in (body if isinstance(body, list) else [body]) for n in ast.walk(statement)}
    then, other = (first, second) if first.node in inside else (second, first)
    name = base_text(writer, then)
    sides: list[Parts] = []
    for site in (then, other):
        remats = [l for l in transforms_of(site.lifted, method) if l.kind == "remat"]
        sides.append(remat_call(writer, site, remats, method, node) or (*name, f".{method}"))
    source = first.source
    parts: list[Part] = ["(", *sides[0], " if ", source.span(test), " else ", *sides[1], ")("]
    parts += called_module(writer, first, node, method)
    for argument in node.args:
        parts += [", ", source.span(argument)]
    for keyword in node.keywords:
        parts += [", ", f"{keyword.arg}=" if keyword.arg else "**", source.span(keyword.value)]
    return (*parts, ")")


def called_module(writer: ClassText, site: Site, node: ast.Call, method: str) -> Parts:
    """The module of a call as the method says it: its attribute where it was made at the call, else its own words."""
    func = node.func
    if method != "__call__" and isinstance(func, ast.Attribute):
        func = func.value
    return writer.reference(site) if func is site.node else (site.source.span(func),)


def kept_options(writer: ClassText, site: Site) -> dict[str, tuple[str, ast.expr]]:
    """Options of nn.remat that setup computes into its own names: they are kept as attributes for the call."""
    found: dict[str, tuple[str, ast.expr]] = {}
    for lifted in [l for l in site.lifted if l.kind == "remat"][:1] if site.in_setup else []:
        for name, node in lifted.options.items():
            names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id != "self"]
            if any(site.source.names.is_hidden(n.id, n) for n in names):
                found[name] = (f"{writer.names.places[site].attribute}_{name}", node)
    return found


@dataclasses.dataclass
class _Call:
    """The call of a lifted module while its transforms are written, from the outermost in."""

    writer: ClassText
    site: Site
    method: str
    labels: list[str]
    computed: list[bool]  # arguments that are arrays computed in the call's own words: a module may be called there
    keywords: Parts  # only under remat: Linen's scan and vmap ignore keywords
    node: ast.Call


def levels_of(writer: ClassText, site: Site, node: ast.Call, method: str) -> list[Lifted]:
    """The transforms that a call of one of the module's methods goes through, from the outermost in."""
    applied = transforms_of(site.lifted, method)
    for one in site.lifted:
        if one not in applied and one.kind in ("scan", "vmap") and treatment(one, used_by(writer, site))[0] == "stacked":
            raise Unmigratable("NNX130", f"`{method}` of a stack of modules is called and not lifted by nn.{one.kind}", node)
        if one not in applied and one.kind in WHOLE:
            raise Unmigratable("NNX130", f"`{method}` of a module is called and not lifted by nn.{one.kind}", node)
    return [l for l in applied if l.kind in ("scan", "vmap", "remat", *WHOLE)]


def call_edit(writer: ClassText, site: Site, node: ast.Call, method: str) -> tuple[list[Parts], Parts]:
    """The call of a lifted module: lines to put before its statement, and the expression."""
    source = site.source
    if site.alternatives:
        raise Unmigratable("NNX163", "modules of several kinds are called under a lifted transform", node)
    levels = levels_of(writer, site, node, method)
    mapped = any(l.kind in ("scan", "vmap") for l in levels)
    if mapped:
        _not_in_comprehension(site, node)
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise Unmigratable("NNX141", "a scanned or vmapped module is called with *args", node)
    keywords: list[Part] = []
    for keyword in [] if mapped else node.keywords:
        keywords += [", ", f"{keyword.arg}=" if keyword.arg else "**", source.span(keyword.value)]
    module = called_module(writer, site, node, method)
    whole = whole_transforms.one_of(levels)
    if whole is not None:
        called = whole_transforms.called(writer, site, whole, levels[1:], method, node)
        arguments = [part for argument in node.args for part in (", ", source.span(argument))]
        return [], (*called, "(", *module, *arguments, *keywords, ")")
    names = _argument_names(writer, site, method, len(node.args))
    call = _Call(writer, site, method, names, [_is_computed(writer, a) for a in node.args], tuple(keywords), node)
    inputs: list[Parts] = [(source.span(a),) for a in node.args]
    lines, expression = _level(call, levels, module, inputs, list(range(len(inputs))), 0)
    unit = source.indent_unit
    return [(unit * depth, *parts) for depth, parts in lines], expression


def _level(
    call: _Call, levels: Sequence[Lifted], module: Parts, arguments: list[Parts], places: list[int], depth: int
) -> tuple[Lines, Parts]:
    """What one transform and those within it become: lines, and the expression that calls them."""
    if not any(l.kind in ("scan", "vmap") for l in levels):
        return [], _innermost(call, levels, module, arguments)
    lifted, inner = levels[0], levels[1:]
    writer, site = call.writer, call.site
    how, _ = treatment(lifted, used_by(writer, site)) if lifted.kind != "remat" else ("stacked", 0)
    scan = lifted.kind == "scan"
    if scan and not arguments:
        raise Unmigratable("NNX141", "a scanned module is called without a carry", lifted.node)
    if lifted.kind == "remat":
        if lifted.condition is not None:
            raise Unmigratable("NNX130", "nn.remat around a scan or vmap has a condition", lifted.node)
        if "static_argnums" in lifted.options:
            raise Unmigratable("NNX130", "nn.remat around a scan or vmap has static arguments", lifted.node)
        axes: list[Value] = [Const(0)] * len(arguments)
    else:
        axes = [*([Const("carry")] if scan else []), *in_axes_of(lifted, len(arguments) - scan)]
    parameters, passed, seen, given = ["module"], [module], [], []
    for argument, axis, place in zip(arguments, axes, places):
        if is_broadcast(axis) and not (depth == 0 and call.computed[place]):
            # closed over, as Linen does, so that Python values stay Python values
            seen.append(argument)
            continue
        parameters.append(call.labels[place])
        passed.append(argument)
        seen.append((call.labels[place],))
        given.append(axis)
    body, expression = _level(call, inner, ("module",), seen, places, depth + 1)
    name = f"apply_{_snake(label_of(writer, site))}" if depth == 0 else f"apply_{('member', 'part')[min(depth, 2) - 1]}"
    lines: Lines = [
        (0, _decorator(call, lifted, how, given)),
        (0, (f"def {name}({', '.join(parameters)}):",)),
        *((d + 1, parts) for d, parts in body),
        (1, ("return ", *expression)),
    ]
    out: list[Part] = [f"{name}("]
    for position, parts in enumerate(passed):
        out += [", " if position else "", *parts]
    return lines, (*out, ")")


def _is_computed(writer: ClassText, node: ast.expr) -> bool:
    """Is an argument an array that a call makes? It is computed outside of the mapped function, as a module called in there
    would be called from another level."""
    found = writer.run.evaluated.get(node)
    called = any(isinstance(n, ast.Call) for n in ast.walk(node))
    return called and found is not None and isinstance(found.value, Array | NeedsRank)


def _innermost(call: _Call, remats: Sequence[Lifted], module: Parts, arguments: list[Parts]) -> Parts:
    """The module itself is called, perhaps under nnx.remat."""
    remat = remat_call(call.writer, call.site, remats, call.method, call.node)
    inner: list[Part] = []
    for argument in arguments:
        inner += [", ", *argument]
    inner += call.keywords
    if remat and remats[0].condition is not None:
        test, holds = remats[0].condition
        if call.site.in_setup and not outside_setup(call.writer, call.site, test):
            raise Unmigratable("NNX130", "whether a module is under nn.remat is known to setup only", test)
        plain: Parts = (*base_text(call.writer, call.site), f".{call.method}")
        yes, no = (remat, plain) if holds else (plain, remat)
        return ("(", *yes, " if ", call.site.source.span(test), " else ", *no, ")(", *module, *inner, ")")
    if remat:
        return (*remat, "(", *module, *inner, ")")
    return (*module, "(" if call.method == "__call__" else f".{call.method}(", *inner[1:], ")")


def _decorator(call: _Call, lifted: Lifted, how: str, axes: list[Value]) -> Parts:
    """`@nnx.scan(in_axes=..., out_axes=..., ...)`."""
    writer, source = call.writer, call.site.source
    if lifted.kind == "remat":
        options = remat_options(writer, call.site, lifted, call.node)
        remat = writer.namer.name("flax.nnx.remat")
        return (f"@{remat}",) if not options else (f"@{remat}(", *_without_comma(options), ")")
    name, said = transform_options(writer, lifted, how, axes, source, call.node)
    return (f"@{name}(", *said, ")")


def transform_options(
    writer: ClassText, lifted: Lifted, how: str, axes: Sequence[Value], source: SourceFile, place: ast.AST
) -> tuple[str, Parts]:
    """The function that maps (`nnx.scan`, or its counterpart in linen_parity where the module changes), and its options
    as they are said at `place`. `axes` are those of the arguments behind the module, the carry included."""
    carry = writer.namer.name("flax.nnx.Carry")
    scan = lifted.kind == "scan"
    helper = how in ("carried", "streams")
    texts = [carry if a == Const("carry") else axis_text(a, lifted) for a in axes]
    if helper:
        texts = texts[1:] if scan else texts
        name = writer.namer.parity("scan_with_state" if scan else "vmap_with_streams")
    else:
        texts = [str(variable_axis(lifted, ())[1]) if how == "stacked" else "None", *texts]
        name = writer.namer.name(f"flax.nnx.{lifted.kind}")
    options: list[Part] = [f"in_axes=({', '.join(texts)}{',' if len(texts) == 1 else ''})"]
    out = lifted.abs.get("out_axes")
    out_text = axis_text(out.value, lifted) if out is not None else "0"
    options.append(f", out_axes=({carry}, {out_text})" if scan and not helper else f", out_axes={out_text}")
    for option in ("length", "reverse", "unroll") if scan else ("axis_size", "axis_name"):
        if option in lifted.options:
            said = lifted_options.said(source, lifted, option, place, stacked=how == "stacked")
            options += [f", {option}=", said] if said is not None else []
    if "spmd_axis_name" in lifted.options:
        raise Unmigratable("NNX130", f"nn.{lifted.kind} has the option spmd_axis_name", lifted.node)
    return name, (*options, *(_metadata(writer, lifted) if how == "stacked" else ()))


def axis_text(value: Value, lifted: Lifted) -> str:
    """An axis, or a tree of axes, as NNX is given it."""
    if is_broadcast(value):
        return "None"
    if isinstance(value, Int) and value.dim.value is not None:
        return str(value.dim.value)
    if isinstance(value, Tup):
        items = [axis_text(i, lifted) for i in value.items]
        if value.kind == "list":
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if isinstance(value, Table):
        return "{" + ", ".join(f"{k!r}: {axis_text(v, lifted)}" for k, v in value.items.items()) + "}"
    raise Unmigratable("NNX141", "an axis of a lifted transform is not a constant", lifted.node)


def _without_comma(options: Parts) -> Parts:
    head = options[0]
    assert isinstance(head, str)
    return (head.removeprefix(", "), *options[1:])


def _argument_names(writer: ClassText, site: Site, method: str, count: int) -> list[str]:
    called = writer.analyser.classes.get(site.target)
    names: list[str] = []
    if called is not None:
        found = called.method(method)
        names = [p.arg for p in found.positional] if found is not None else []
    names = names[:count] + [f"x{i}" for i in range(len(names), count)]
    return [n if n != "module" else "module_" for n in names]


__all__ = ["base_text", "call_edit", "constructor", "kept_options", "levels_of", "transform_options", "treatment"]
