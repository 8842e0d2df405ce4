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

from ...catalog import layers
from ...edits import Part, Parts
from ...linen.lifted.lifting import Axis, members_needed, variable_axis
from ...linen.modules.choices import by_fields
from ...linen.project.axis_rules import stacked_axis
from ...linen.values.sites import Abs, Lifted, Site, Table, Unmigratable
from ...linen.values.values import Const
from ...source import SourceFile
from ...trees import subtree
from ..calls.drawn import names_unknown, streams_of
from ..calls.sown import check as check_sown
from ..calls.sown import of_layer
from ..classes import stack_axes
from ..refused.imported_in_methods import late_name
from ..text import elsewhere
from ..text.made_where import home_of
from ..text.text_parts import InitLines
from . import lifted_options, open_fields, whole_transforms

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

Lines = list[tuple[int, Parts]]
_COMPREHENSIONS = ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.Lambda


def base_text(writer: ClassText, site: Site, where: SourceFile | None = None) -> Parts:
    """The text of the class under the transforms, as a file says it: that of the class if none is given."""
    where = where or writer.source
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
        if site.source is where:
            return (site.source.span(node),)
        if where is not writer.source:
            reason = f"`{ast.unparse(node)}` is needed in {where.path.name}, which may not have it"
            raise Unmigratable("NNX135", reason, node)
        return (elsewhere.class_here(writer, site, node),)
    if site.kind == "layer":
        return (writer.namer.name(_layer_target(site)),)
    module, _, name = site.target.rpartition(".")
    if module == where.module:
        return (name,)
    if where is not writer.source:
        raise Unmigratable("NNX135", f"{name} is needed in {where.path.name}, which may not have it", site.node)
    return (late_name(writer.run, writer.source, site.target) or writer.namer.name(site.target),)


def unbound(writer: ClassText, site: Site, method: str, module: Parts, place: ast.AST) -> Parts:
    """`Block.__call__`, to be called with the module first; of a class that another function has imported, by the module."""
    if site.kind == "layer" or late_name(writer.run, writer.source, site.target) is None:
        return (*base_text(writer, site, home_of(writer.run, place)), f".{method}")
    if not module:
        name = site.target.rpartition(".")[2]
        raise Unmigratable("NNX135", f"{name} is needed in a method that does not import it", site.node)
    return ("type(", *module, f").{method}")


def _local(site: Site, node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and (site.source.names.is_hidden(node.id, node) or node.id == "self")


def _layer_target(site: Site) -> str:
    layer = layers.lookup(site.target)
    assert layer is not None
    args = {k: layers.Arg(("",)) for k in site.bound}
    try:
        return layer.partial(args).target
    except layers.Unsupported as error:
        raise Unmigratable(error.code, f"{error.reason}, or under a transform", site.node) from error


# what the module under a transform uses ---------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Used:
    """What a module holds and does: its collections, the streams that it draws from when called, what it sows into."""

    collections: frozenset[str] = frozenset()
    streams: frozenset[str] = frozenset()
    sown: frozenset[str] = frozenset()
    unnamed: bool = False  # may it draw from a stream that is not named in the code?
    calls_open: bool = False  # may it call a module of which nothing is known?


def used_by(writer: ClassText, site: Site) -> Used:
    """What the module of a site holds and does."""
    if site.kind == "class":
        plan = writer.plans.get(site.target)
        if plan is None:
            return Used()
        calls_open = open_fields.of_site(writer, site)
        return Used(plan.collections, plan.rng_streams, plan.sown, plan.unnamed_streams, calls_open)
    layer = layers.lookup(site.target)
    if layer is None:
        return Used()
    unnamed = names_unknown([site], writer.plans)
    return Used(frozenset(layer.collections), streams_of(site), of_layer(site), unnamed)


def treatment(lifted: Lifted, used: Used, apart: bool = False) -> tuple[str, Axis]:
    """As `variable_axis`, with what random streams ask for: `streams` is a vmap whose members share all but these.

    `apart`: a class's own transform, for which axes and streams can be told apart (`stack_axes`).
    """
    how, axis = variable_axis(lifted, used.collections, apart)
    check_sown(lifted, how, axis, used.sown, apart)
    if used.unnamed:
        reason = f"a module under nn.{lifted.kind} draws from a stream whose name is not written out"
        raise Unmigratable("NNX168", reason, lifted.node)
    if how == "stacked" and axis not in (0, -1) and used.streams and not apart:
        # The keys and counts of the streams are scalars: NNX stacks them with the parameters.
        reason = f"nn.{lifted.kind} stacks the variables along axis {axis} of a module that draws random numbers"
        raise Unmigratable("NNX168", reason, lifted.node)
    split = lifted.abs.get("split_rngs")
    table = split.value.items if split is not None and isinstance(split.value, Table) else {}
    if split is not None and not isinstance(split.value, Table):
        raise Unmigratable("NNX168", "split_rngs of a lifted transform is not a literal", lifted.node)
    drawn = [s for s in sorted(used.streams - {"params"}) if s in table or True in table]
    if used.calls_open and how == "shared":  # from which streams it may draw, the transform says
        drawn += [str(s) for s, on in table.items() if s not in (*drawn, "params", True) and on == Const(True)]
    if not drawn:
        if how == "shared" and lifted.kind == "scan" and "batch_stats" in used.collections:
            return "carried", 0
        return how, axis
    unsure = stack_axes.not_always_split(lifted, drawn)
    if how == "shared" and lifted.kind == "vmap" and len(unsure) == len(drawn) and set(unsure.values()) <= {Const(False)}:
        return how, axis  # one module with one state for all members, its streams as well
    for stream in unsure:
        if not (apart and how == "stacked" and is_split(lifted)):
            reason = f"every step or member of nn.{lifted.kind} draws the same numbers from the stream {stream!r}"
            raise Unmigratable("NNX168", reason, lifted.node)
    if how == "shared":
        return ("carried", 0) if lifted.kind == "scan" else ("streams", 0)
    if how == "stacked" and not is_split(lifted):
        reason = f"nn.{lifted.kind} starts every member from the same parameters and gives it random numbers of its own"
        raise Unmigratable("NNX168", reason, lifted.node)
    return how, axis


def axes_said(writer: ClassText, lifted: Lifted, used: Used, axis: Axis, *, method: bool) -> str:
    """The axes of a stack of a class's own: its variables', what it sows, its random streams'."""
    return stack_axes.said(writer, lifted, axis, used.collections | used.sown, bool(used.streams), method)


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
        for how, axis in [treatment(lifted, used, not site.scopes)]
        if how == "stacked"
    ]
    if not stacks:
        return InitLines((), inner)
    if site.in_setup:
        not_in_comprehension(site, site.node)
    lines: Lines = []
    expression = inner
    for position, (lifted, axis) in reversed(list(enumerate(stacks))):
        name = f"create_{snake(label_of(writer, site))}{_number(writer, site)}" if position == 0 else "create_member"
        count: Parts = (writer.dim(members_needed(writer.run, lifted)),)
        metadata = stack_metadata(writer, lifted)
        nnx_vmap = writer.namer.name("flax.nnx.vmap")
        axes = axes_said(writer, lifted, used, axis, method=False)
        head: Lines
        given: Parts = ("rngs",)
        if is_split(lifted) and stack_axes.not_always_split(lifted, used.streams):
            given, streams = stack_axes.own_streams(writer, used.streams), f"split_for_{name.partition('_')[2]}"
            split = f"{writer.namer.name('flax.nnx.StateAxes')}({{{streams}: 0, ...: None}})"
            head = [
                (0, (f"{streams} = {stack_axes.split_streams(writer, lifted, used.streams)}",)),
                (0, (f"@{writer.namer.name('flax.nnx.split_rngs')}(splits=", *count, f", only={streams})")),
                (0, (f"@{nnx_vmap}(in_axes=({split},), out_axes={axes}", *metadata, ")")),
            ]
        elif is_split(lifted):
            head = [
                (0, (f"@{writer.namer.name('flax.nnx.split_rngs')}(splits=", *count, ")")),
                (0, (f"@{nnx_vmap}(in_axes=0, out_axes={axes}", *metadata, ")")),
            ]
        else:
            head = [(0, (f"@{nnx_vmap}(in_axes=None, out_axes={axes}, axis_size=", *count, *metadata, ")"))]
        head.append((0, (f"def {name}(rngs: {writer.namer.name('flax.nnx.Rngs')}):",)))
        lines = [*head, *((depth + 1, parts) for depth, parts in lines), (1, ("return ", *expression))]
        expression = (f"{name}(", *given, ")")
    return InitLines(tuple(lines), expression)


def _number(writer: ClassText, site: Site) -> str:
    """Behind the function's name where `setup` makes several stacks of one name in one statement: they stand before it."""
    site = _of_kinds(writer, site)
    if not site.in_setup:
        return ""
    statement, label = site.source.statement_of(site.node), label_of(writer, site)
    before = [
        other
        for other in writer.run.sites[: writer.run.sites.index(site)]
        if other.in_setup and other.lifted and other.source is site.source
        if site.source.statement_of(other.node) is statement and label_of(writer, other) == label
    ]
    return f"_{len(before) + 1}" if before else ""


def label_of(writer: ClassText, site: Site) -> str:
    """What the site's object is called, for the names of functions around it."""
    place = writer.names.places.get(_of_kinds(writer, site))
    if place is not None and place.attribute.strip("_"):
        return place.attribute
    return site.target.rpartition(".")[2] or "value"


def _of_kinds(writer: ClassText, site: Site) -> Site:
    """The site itself, or that of which it is another kind: the text of one is that of all."""
    return next((one for one in writer.run.sites if site in one.alternatives), site)


def not_in_comprehension(site: Site, node: ast.AST) -> None:
    for parent in site.source.ancestors(node):
        if isinstance(parent, ast.stmt):
            return
        if isinstance(parent, _COMPREHENSIONS):
            raise Unmigratable("NNX130", "a lifted transform is used in a comprehension or lambda", node)


def is_split(lifted: Lifted) -> bool:
    """Does every step draw parameters of its own?"""
    found = lifted.abs.get("split_rngs")
    if found is None:
        return False
    value = found.value
    if not isinstance(value, Table):
        raise Unmigratable("NNX168", "split_rngs of a lifted transform is not a literal", lifted.node)
    params = value.items.get("params", value.items.get(True))
    return isinstance(params, Const) and params.value is True


def stack_metadata(writer: ClassText, lifted: Lifted) -> Parts:
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
    if not isinstance(name, Const):
        raise Unmigratable("NNX168", "the partition name of a lifted transform is not a literal", lifted.node)
    return (name.value,)


def _of_partitioning(writer: ClassText, lifted: Lifted) -> str:
    """`scan_with_axes` and `vmap_with_axes`, which give the stacked axis its name in `params_axes`; else nothing."""
    func = lifted.node.func if isinstance(lifted.node, ast.Call) else lifted.node
    name = writer.run.project.qualname(home_of(writer.run, func), func) or ""
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


def snake(name: str) -> str:
    out = ""
    for position, char in enumerate(name):
        if char.isupper() and position and (not name[position - 1].isupper()):
            out += "_"
        out += char.lower()
    return out.replace("__", "_")


# calls -----------------------------------------------------------------------------------------------------------
def method_of(writer: ClassText, site: Site, method: str, place: ast.AST, module: Parts = ()) -> Parts:
    """As `unbound`, also of a module that is not there yet while the call on shapes runs."""
    said = unbound(writer, site, method, module, place)
    return (f"{writer.namer.parity('called')}(", *said, ")") if site in writer.later else said


def remat_call(
    writer: ClassText, site: Site, remats: Sequence[Lifted], method: str, place: ast.AST, module: Parts = ()
) -> Parts:
    """`nnx.remat(Block.__call__, ...)`: to be called with the module first."""
    if not remats:
        return ()
    options = remat_options(writer, site, remats[0], place, _left_out(writer, site, method, place))
    called = method_of(writer, site, method, place, module)
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    if layer is not None and len(layer.call_parameters) > 1:  # keywords alone in NNX, which nnx.remat does not take
        if not isinstance(place, ast.Call) or place.keywords or any(isinstance(a, ast.Starred) for a in place.args):
            raise Unmigratable("NNX130", f"{site.target.rpartition('.')[2]} is called with keywords under nn.remat", place)
        names = ", ".join(["x", *[f"x{i}" for i in range(2, len(place.args) + 1)]][: len(place.args)])
        called = (f"lambda layer, {names}: layer({names})",)
    return (f"{writer.namer.name('flax.nnx.remat')}(", *called, *options, ")")


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
            if name == "static_argnums" and (static or _counts_without_self(writer, site, remat) or _counts_back(node)):
                said = _counted_with_self(node, remat, int(_counts_without_self(writer, site, remat)), static)
            assert said is not None
            options += [f", {name}=", said]
    if static and "static_argnums" not in remat.options:
        options.append(f", static_argnums={tuple(static)!r}")
    return tuple(options)


def outside_setup(writer: ClassText, site: Site, node: ast.expr) -> bool:
    """Does an expression of setup mean the same in another method: nothing but fields, globals and constants?"""
    names = [n for n in subtree(node) if isinstance(n, ast.Name)]
    return all(n.id == "self" or not site.source.names.is_hidden(n.id, n) for n in names)


def said_outside_setup(writer: ClassText, site: Site, test: ast.expr) -> ast.expr | None:
    """A condition of setup as another method asks it, by fields where setup has other names; None: it cannot."""
    if outside_setup(writer, site, test):
        return test

    def bound(name: ast.Name) -> Abs | None:
        return writer.run.evaluated.get(name) if site.source.names.is_hidden(name.id, name) else None

    said = by_fields(writer.run, test, bound)
    return said[0] if said is not None else None


def _counts_without_self(writer: ClassText, site: Site, lifted: Lifted) -> bool:
    """`flax.linen.partitioning.remat` counts arguments from the first after self; nn.remat and nnx.remat count self."""
    return lifted.name == "flax.linen.partitioning.remat"


def _counts_back(node: ast.expr) -> bool:
    """Are there negative numbers among those of `static_argnums`?"""
    return any(isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub) for n in subtree(node))


def _counted_with_self(node: ast.expr, lifted: Lifted, shift: int, more: Sequence[int]) -> str:
    """`static_argnums` with the module counted, and `more` of them.

    nn.remat adds 1 to each number, as it has two arguments of its own instead of the module: -2 is the last one, and -1 its
    own first. `partitioning.remat` has no use for negative numbers.
    """
    try:
        given = ast.literal_eval(node)
    except ValueError as error:
        raise Unmigratable("NNX168", "static_argnums of a remat is not a literal", lifted.node) from error
    plain = not isinstance(given, tuple | list)
    numbers = [n if n >= 0 else n + 1 for n in ((given,) if plain else given) if n >= 0 or (n < -1 and not shift)]
    numbers = [n + shift for n in numbers]
    if not more and plain and numbers:
        return repr(numbers[0])
    return repr((*numbers, *[n for n in more if n not in numbers]))


def kept_options(writer: ClassText, site: Site) -> dict[str, tuple[str, ast.expr]]:
    """Options of nn.remat that setup computes into its own names: they are kept as attributes for the call."""
    found: dict[str, tuple[str, ast.expr]] = {}
    for lifted in [l for l in site.lifted if l.kind == "remat"][:1] if site.in_setup else []:
        for name, node in lifted.options.items():
            names = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id != "self"]
            if any(site.source.names.is_hidden(n.id, n) for n in names):
                found[name] = (f"{writer.names.places[site].attribute}_{name}", node)
    return found


__all__ = [
    "Lines", "Used", "axes_said", "base_text", "constructor", "kept_options", "label_of", "method_of",
    "not_in_comprehension", "outside_setup", "remat_call", "remat_options", "said_outside_setup", "snake",
    "stack_metadata", "treatment", "unbound", "used_by",
]  # fmt: skip
