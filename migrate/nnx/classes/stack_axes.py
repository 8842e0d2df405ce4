"""Axes along which a scan or vmap stacks variables, and the random streams that it splits, where one number does not say it.

Linen names an axis for each collection, and a stream may be split or not by the configuration. NNX has all variables of a
module in one tree: `nnx.StateAxes` tells their types apart. The keys and counts of random streams are scalars, which stand
along axis 0 wherever the parameters do.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.lifted.lifting import Axis, axes_apart
from ...linen.values.dims import Dim
from ...linen.values.sites import Lifted, Site, Static, Table, Unmigratable
from ...linen.values.values import Const, Int, Value
from ...plan import ClassPlan
from ..calls.drawn import streams_of

if TYPE_CHECKING:
    from .class_text import ClassText


def said(writer: ClassText, lifted: Lifted, axis: Axis, used: Collection[str], draws: bool, method: bool) -> str:
    """The axes as nnx.scan and nnx.vmap are given them; `method`: in the words of a method, not of the constructor."""
    entries: list[str] = []
    if draws and axis not in (0, -1):
        entries.append(f"{writer.namer.name('flax.nnx.RngState')}: 0")
    apart = axes_apart(lifted, used)
    entries += [f"{writer.variable_type(name)}: {_number(writer, apart[name], method)}" for name in sorted(apart)]
    number = _number(writer, axis, method)
    if not entries:
        return number
    return f"{writer.namer.name('flax.nnx.StateAxes')}({{{', '.join([*entries, f'...: {number}'])}}})"


def _number(writer: ClassText, axis: Axis, method: bool) -> str:
    if isinstance(axis, int):
        return str(axis)
    atom = axis.single_atom()
    assert atom is not None
    return writer.dim(axis) if not method else f"self.{atom.args[0]}" if atom.kind == "field" else str(atom.args[0])


def fields_read(lifted: Iterable[Lifted]) -> set[str]:
    """The fields of which the methods say axes."""
    found: set[str] = set()
    for one in lifted:
        axes = one.abs.get("variable_axes")
        for value in axes.value.items.values() if axes is not None and isinstance(axes.value, Table) else ():
            if isinstance(value, Int):
                found |= {str(a.args[0]) for a in value.dim.atoms() if a.kind == "field"}
            elif isinstance(value, Static):
                found |= set(re.findall(r"\bself\.(\w+)", value.text))
    return found


def not_always_split(lifted: Lifted, streams: Iterable[str]) -> dict[str, Value]:
    """Of the streams that are drawn from, those that not every step or member certainly has of its own."""
    split = lifted.abs.get("split_rngs")
    table = split.value.items if split is not None and isinstance(split.value, Table) else {}
    given = {s: table.get(s, table.get(True)) for s in sorted(streams) if s != "params" and (s in table or True in table)}
    return {s: v for s, v in given.items() if v is not None and v != Const(True)}


def shared_streams(sites: Iterable[Site], plans: Mapping[str, ClassPlan]) -> frozenset[str]:
    """The streams of which members of a stack in these modules, or below them, may draw the same numbers."""
    found: set[str] = set()
    for site in sites:
        made = [plans[kind.target] for kind in (site, *site.alternatives) if kind.kind == "class" and kind.target in plans]
        drawn = streams_of(site).union(*(plan.rng_streams for plan in made))
        found = found.union(*(plan.shared_streams for plan in made))
        for lifted in (*site.scopes, *site.lifted):
            found |= not_always_split(lifted, drawn).keys() if lifted.kind in ("scan", "vmap") else set()
    return frozenset(found)


def split_streams(writer: ClassText, lifted: Lifted, streams: Iterable[str]) -> str:
    """`("params", *(("dropout",) if config.dropout else ()))`: the streams that are split."""
    unsure = not_always_split(lifted, streams)
    certain = sorted({"params", *streams} - unsure.keys())
    items = [repr(s) for s in certain]
    for stream, value in unsure.items():
        if isinstance(value, Const) and value.value is False:
            continue
        text = _flag(writer, value)
        if text is None:
            reason = f"whether every step or member of nn.{lifted.kind} draws its own from {stream!r} is not known"
            raise Unmigratable("NNX168", reason, lifted.node)
        items.append(f"*(({stream!r},) if {text} else ())")
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _flag(writer: ClassText, value: Value) -> str | None:
    """A field, or an attribute of one, as the constructor says it."""
    if isinstance(value, Static) and not value.deps and value.text.replace(".", "").isidentifier():
        return writer.dim(Dim.opaque(value.text))
    dim = value.dim if isinstance(value, Int) else None
    atom = dim.single_atom() if dim is not None else None
    return writer.dim(dim) if dim is not None and atom is not None and atom.kind == "field" else None


def own_streams(writer: ClassText, streams: Iterable[str]) -> Parts:
    """`nnx.Rngs(params=rngs.params(), dropout=rngs.dropout())`: streams with names of their own, to be told apart."""
    given = ", ".join(f"{s}=rngs.{s}()" for s in sorted({"params", *streams}))
    return (f"{writer.namer.name('flax.nnx.Rngs')}({given})",)


__all__ = ["fields_read", "not_always_split", "own_streams", "said", "shared_streams", "split_streams"]
