"""Lines of the constructor that keep a list of sizes along with a list of arrays (see `linen/lists/size_lists.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.values.sites import SizeStep, Unmigratable

if TYPE_CHECKING:
    from .class_text import ClassText


def emit(text: ClassText, step: SizeStep, depth: int, live: set[str]) -> tuple[list[tuple[int, Parts]], set[str]]:
    """The line of a step, where what follows needs it, and the names needed before it."""
    if step.variable not in live and not (step.tracker and step.tracker in live and step.kind in ("pop", "read")):
        return [], live
    why = text.run.broken_lists.get(step.variable)
    if why is not None:
        raise Unmigratable("NNX110", f"a size comes from {why}", text.model.node)
    text.needs = set()
    where: Parts = text.said(step.where) if step.where is not None else (step.text,)
    variable = step.variable
    if step.kind == "new":
        line: Parts = (f"{variable} = [{', '.join(_sizes(text, step))}]",)
        live = live - {variable}
    elif step.kind == "append":
        line = (f"{variable}.append({_sizes(text, step)[0]})",)
    elif step.kind == "extend":
        line = (f"{variable}.extend({step.text})",)
        live = live | {step.text}
    elif step.kind == "pop":
        target = f"{step.tracker} = " if step.tracker in live else ""
        line = (f"{target}{variable}.pop(", *where, ")")
        live = (live - {step.tracker}) | {variable}
    elif step.kind == "read":
        if step.tracker not in live:
            return [], live
        line = (f"{step.tracker} = {variable}[", *where, "]")
        live = (live - {step.tracker}) | {variable}
    else:
        assert step.kind == "cut"
        line = (f"{variable} = {step.tracker}[", *where, "]")
        live = (live - {variable}) | {step.tracker}
    return [(depth, line)], live | text.needs


def _sizes(text: ClassText, step: SizeStep) -> list[str]:
    found = []
    for dim in step.dims:
        if dim is None:
            raise Unmigratable("NNX110", "the size of an array that is kept in a list is not known", text.model.node)
        found.append(text.dim(dim))
    return found
