"""Which dimensions of its inputs a class really takes its parameters' shapes from.

A class over any axes asks for a whole shape; of a call whose batch or length is not known, the dimensions that count may be.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ..modules import own_methods
from ..values.dims import Dim
from ..values.sites import (
    Block,
    BoundArg,
    Branch,
    DimPart,
    For,
    Function,
    Local,
    Localized,
    LocalizedPart,
    Make,
    ShapePart,
    Site,
    Track,
    Unmigratable,
    steps_of,
)
from ..values.values import Array, Shape

Needed = frozenset[tuple[str, int]]  # (argument, dimension counted from the end)
# Options of layers that change what they compute and the shape of none of their parameters.
_UNSEEN = frozenset(
    {"padding", "strides", "kernel_dilation", "input_dilation", "rate", "broadcast_dims", "epsilon", "momentum"}
)
_NO_SIZE = frozenset({"flax.linen.Dropout", "flax.linen.Embed"})
_LAST_SIZE = frozenset(
    f"flax.linen.{name}" for name in ("Dense", "Conv", "LayerNorm", "RMSNorm", "BatchNorm", "GroupNorm", "Dropout")
)


def needed_sizes(analyser: Any, run: Any) -> Needed | None:
    """What everything that an execution makes takes its sizes from; None where that is not clear."""
    found: set[tuple[str, int]] = set()
    for site in run.sites:
        if site.kind == "rng" or site.lazy or site.method in run.for_derived:
            continue
        if any(b.localized is None and b.text is None and isinstance(b.abs.value, Function) for b in site.bound.values()):
            return None  # an initializer that a function makes from what the layer is called with
        sizes: list[Dim | None] | None = []
        if site.target not in _NO_SIZE:
            sizes = _of_class(analyser, run, site) if site.kind == "class" else _of_site(site)
        given = [dim for bound in site.bound.values() if bound.localized is not None for dim in said_by(bound.localized)]
        here = inputs_of([*sizes, *given]) if sizes is not None else None  # as `nn.Dense(x.shape[1])` has it
        if here is None:
            return None
        found |= here
    for block in run.blocks.values():
        for step in steps_of(block):
            parts: tuple[Block, ...]
            asked: tuple[Localized, ...]
            if isinstance(step, For):
                asked, parts = (step.iterator, *step.conditions), (step.body,)
            elif isinstance(step, Branch) and step.test is not None:
                asked, parts = (step.test,), (step.then, step.orelse)
            else:
                continue
            makes = any(isinstance(inner, Make) for part in parts for inner in steps_of(part))
            here = inputs_of(dim for one in asked for dim in said_by(one)) if makes else frozenset()
            if here is None:
                return None
            found |= here
    return frozenset(found)


def said_by(localized: Localized) -> Iterator[Dim | None]:
    """The sizes that an expression is made of; None for a whole shape."""
    for _, parts in localized.replaced:
        for part in parts:
            if isinstance(part, LocalizedPart):
                yield from said_by(part.localized)
            elif isinstance(part, DimPart):
                yield part.dim
            elif isinstance(part, ShapePart):
                yield None


def refuse_of_one_call(run: Any, site: Site, name: str, bound: BoundArg) -> None:
    """Refuse an option of a layer, or a field of a class, that no weights show and that follows a height, a length or a
    batch: the constructor has the sizes of one call, and Linen those of each.
    """
    if bound.localized is None or site.kind not in ("layer", "class") or (site.kind == "layer" and name not in _UNSEEN):
        return
    followed = _followed_of_one_call(run)
    if not any(dim is None or _is_of_one_call(dim, followed) for dim in said_by(bound.localized)):
        if bound.localized.needs.isdisjoint(followed):
            return
    wrapped = site.foreign or site.target in run.analyser.wrapped
    if site.kind == "class" and (wrapped or is_seen(run.analyser, site.target, name)):
        return
    made = site.target.rpartition(".")[2]
    reason = f"`{name}` of {made} follows a size of the input that is no width, and may be another at the next call"
    raise Unmigratable("NNX113", reason, bound.node or site.node)


def _is_of_one_call(dim: Dim, followed: Collection[str]) -> bool:
    """`followed`: the constructor's variables that hold such sizes."""
    if not dim.dependencies().isdisjoint(followed):
        return True
    return any(a.kind == "lead" or (a.kind == "input" and a.args[1] != -1) for a in dim.atoms())


def _followed_of_one_call(run: Any) -> set[str]:
    """The constructor's variables that follow heights, lengths or batches along loops, branches and assignments."""
    steps = [step for block in run.blocks.values() for step in steps_of(block)]
    found: set[str] = set()
    while True:
        more = {
            step.name
            for step in steps
            if isinstance(step, Track) and (step.shape is not None or _is_of_one_call(step.dim, found))
        }
        for step in steps:
            if isinstance(step, Local) and (
                not step.localized.needs.isdisjoint(found)
                or any(dim is None or _is_of_one_call(dim, found) for dim in said_by(step.localized))
            ):
                more |= step.names
        if more <= found:
            return found
        found |= more


def is_seen(analyser: Any, qualname: str, field: str, around: frozenset[tuple[str, str]] = frozenset()) -> bool:
    """Does what a class makes depend on one of its fields, so that another value would not fit the variables?

    `around`: the classes and fields that this is asked for.
    """
    word = f"self.{field}"
    around = around | {(qualname, field)}
    for site in analyser.execution(qualname).sites:
        counted = [b for name, b in site.bound.items() if _counts(analyser, site, name, around)]
        said = [*site.init_said, *[b.localized for b in counted if b.localized is not None]]
        shape = site.shape.shape.dims if isinstance(site.shape, Array) else ()
        sizes = [*shape, *[dim for one in said for dim in said_by(one)]]
        if any(dim is None or any(a.kind == "field" and a.args[0] == field for a in dim.atoms()) for dim in sizes):
            return True
        nodes = [b.node for b in counted if b.node is not None] if site.kind in ("layer", "class") else [site.node]
        nodes += [*[loop.node.iter for loop in site.loops], *[getattr(test, "test", test) for test, _ in site.conditions]]
        if any(word in ast.unparse(node) for node in nodes):
            return True
    return False


def _counts(analyser: Any, site: Site, name: str, around: frozenset[tuple[str, str]]) -> bool:
    """Do the variables of what a site makes show what it is given under this name?"""
    if site.kind == "layer":
        return name not in _UNSEEN
    if site.kind != "class" or site.foreign or site.target in analyser.wrapped:
        return True
    return (site.target, name) not in around and is_seen(analyser, site.target, name, around)


def inputs_of(sizes: Iterable[Dim | None]) -> Needed | None:
    """The dimensions of inputs that sizes are made of."""
    found: set[tuple[str, int]] = set()
    for dim in sizes:
        if dim is None:
            return None
        for atom in dim.atoms():
            if atom.kind == "input" and str(atom.args[0]).startswith("="):
                return None  # the constructor's own, which follows whole shapes
            if atom.kind == "input" and atom.args[1] < 0:
                found.add((atom.args[0], atom.args[1]))
            elif atom.kind in ("input", "rank", "byrank", "lead", "local") or atom.deps:
                return None
    return frozenset(found)


def _of_site(site: Site) -> list[Dim | None] | None:
    """The sizes that a parameter, a variable or a layer is made of."""
    if site.kind in ("param", "variable"):
        shape = site.shape.shape if isinstance(site.shape, Array) else None
        if shape is None and _is_plain(site) and not any(said.needs for said in site.init_said):
            return [dim for said in site.init_said[1:] for dim in said_by(said)]  # of what its initializer is given
        return list(shape.dims) if shape is not None and shape.lead is None and _is_plain(site) else None
    if site.kind != "layer" or site.target not in _LAST_SIZE or site.call is None or not site.call.args:
        return None
    value = site.call.args[0]
    return [value.shape.dim(-1)] if isinstance(value, Array) else None


def _of_class(analyser: Any, run: Any, site: Site) -> list[Dim | None] | None:
    """The sizes that a submodule of the project's own takes from what it is called with."""
    if site.foreign or site.target in analyser.wrapped:
        return None  # it is initialized on whole shapes
    method = site.renders.get("method", "__call__")
    called = analyser.execution(site.target)
    summary = called.summaries.get(method)
    if site.call is None or summary is None or site.lifted:
        return None
    inputs = own_methods.inputs_of(site, called)[0]
    needed = analyser.needed_sizes(run, site, called, method, inputs)
    if needed is None:
        return None
    sizes: list[Dim | None] = []
    for argument, index in needed:
        value = inputs.get(argument)
        if not isinstance(value, Array) or not _is_passed_on(value.shape, {i for a, i in needed if a == argument}):
            return None
        sizes.append(value.shape.dim(index))
    return sizes


def _is_passed_on(shape: Shape, needed: set[int]) -> bool:
    """Are the dimensions that do not count passed on as they are, so that it does not matter if they are known?"""
    for place in range(-len(shape.dims), 0):
        dim = shape.dims[place]
        if place in needed or dim is None or not any(a.kind == "input" for a in dim.atoms()):
            continue
        if dim.single_atom() is None:
            return False
    return True


def _is_plain(site: Site) -> bool:
    """Is the initializer made of fields and globals alone?"""
    first = site.init_localized[0] if site.init_localized else None
    return first is not None and not first.needs and not _reads_shapes(first)


def _reads_shapes(localized: Localized) -> bool:
    return any(
        isinstance(part, ShapePart) or (isinstance(part, LocalizedPart) and _reads_shapes(part.localized))
        for _, parts in localized.replaced
        for part in parts
    )


def enough(shape: Shape, argument: str, needed: Needed | None) -> bool:
    """Are the dimensions that count known?"""
    if needed is None or not any(name == argument for name, _ in needed):
        return False
    return all(shape.dim(index) is not None for name, index in needed if name == argument)


__all__ = ["Needed", "enough", "inputs_of", "needed_sizes", "refuse_of_one_call"]
