"""Helper functions that make layers for their callers: the functions take them as keywords, the callers hand them in.

See `linen.execution.helpers` for what such a function is and how its keywords are named.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...edits import Part, Parts, Span
from ...linen.values.sites import Passage, Site, Unmigratable
from ...names import is_attribute_name
from ...source import SourceFile
from ..calls import call_dtypes
from ..classes import call_write
from ..text.text_parts import length

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from ..classes.class_write import ClassWriter

_WIDTH = 92


def write(writer: ClassWriter) -> None:
    """The edits of all helper functions that a class calls, and of the calls."""
    given: dict[ast.Call, tuple[SourceFile, dict[str, Parts]]] = {}
    functions: dict[ast.FunctionDef, SourceFile] = {}
    for site in writer.run.sites:
        if site in writer.by_base:
            continue
        for depth, passage in enumerate(site.through):
            functions[passage.function] = passage.home
            if not passage.slot:
                continue
            slots = given.setdefault(passage.call, (passage.source, {}))[1]
            if depth:
                handed = writer.run.analyser.handed_on[passage.call]
                slots.update({key: (own,) for key, own in handed.items()})
            elif slots.setdefault(passage.slot, _reference(writer, site, passage)) != _reference(writer, site, passage):
                call = passage.call
                raise Unmigratable("NNX159", f"`{ast.unparse(call)}` makes several modules from one place", call)
    for call, (source, slots) in given.items():
        hand_in(writer, call, source, slots)
    for function, source in functions.items():
        _take(writer, function, source)


def taken(run: Execution) -> set[ast.AST]:
    """Constructions in functions in whose place a layer is handed in, by whomever the functions are called."""
    return {site.node for site in run.sites if site.through and site.through[-1].slot}


def site_edit(writer: ClassWriter, site: Site) -> None:
    """What stands in the helper function in place of the construction."""
    inner, source = site.through[-1], site.source
    if inner.slot:
        handed, parity = call_dtypes.in_function(writer, site, inner.slot)
        writer.put(site.node, *handed, source=source, parity=parity)
        known = writer.namer
        if source is not writer.source:
            writer.namer = writer.text.namer = _Elsewhere(site)
        try:
            call_write.write(writer, site)
        finally:
            writer.namer = writer.text.namer = known
        return
    holder = ast.unparse(site.node.func.value) if isinstance(site.node.func, ast.Attribute) else "self"
    if site.kind == "rng":
        writer.put(site.node, f"{holder}.{writer.stream(site.target)}()", source=source)
        return
    name = site.node.args[0] if site.node.args else next(k.value for k in site.node.keywords if k.arg == "name")
    shown: Parts = (f"getattr({holder}, ", source.span(name), ")")
    if isinstance(name, ast.Constant) and is_attribute_name(str(name.value)):
        shown = (f"{holder}.{name.value!s}",)
    shown = (*shown, site.opened)
    dtype = writer.run.analyser.checked.get(site.node)
    if dtype is not None:
        said = f'f"{{{ast.unparse(name)}}}_dtype"' if not isinstance(name, ast.Constant) else repr(f"{name.value!s}_dtype")
        if not isinstance(name, ast.Name | ast.Constant):
            raise Unmigratable("NNX111", f"the name of a parameter is computed in `{inner.function.name}`", site.node)
        shown = ("linen_parity.in_dtype(", *shown, ", ", source.span(dtype), f", {said})")
        writer.put(site.node, *shown, source=source, parity=("in_dtype",))
        return
    writer.put(site.node, *shown, source=source)


class _Elsewhere:
    """Names in a file that is not the class's own: the calls of most layers stay as they are and need none."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def name(self, dotted: str) -> str:
        function = self.site.through[-1].function.name
        raise Unmigratable("NNX135", f"`{function}` of another file would need {dotted}", self.site.node)

    def parity(self, part: str) -> str:
        return self.name(f"linen_parity.{part}")

    def imported(self, dotted: str) -> str:
        return self.name(dotted)


def _reference(writer: ClassWriter, site: Site, passage: Passage) -> Parts:
    """The module as the class's own method says it."""
    place, holder = writer.text.names.places[site], site.holder
    called = f"`{ast.unparse(passage.call.func)}`"
    inside = {id(a) for a in passage.source.ancestors(passage.call)}
    perhaps = any(id(node) not in inside and not calltime for node, calltime in site.conditions)
    perhaps = perhaps and not writer.run.analyser.slots[passage.function][passage.slot].required
    if place.kind == "attribute" and not place.named_by:
        return (f"getattr({holder}, {place.attribute!r}, None)",) if perhaps else (f"{holder}.{place.attribute}",)
    if place.iterator and not place.named_by and holder == "self":
        return (f"next({place.iterator}, None)" if perhaps else f"next({place.iterator})",)
    if perhaps or place.iterator or place.named_by:
        raise Unmigratable("NNX135", f"{called} makes modules that cannot be numbered", passage.call)
    if place.kind == "list":
        return (f"{holder}.{place.attribute}[{place.index}]",)
    assert place.dynamic is not None
    constant = isinstance(place.dynamic, ast.Constant)
    shown: Part = ast.unparse(place.dynamic) if constant else passage.source.span(place.dynamic)
    if isinstance(shown, Span) and not passage.source.span(passage.call).contains(shown):
        raise Unmigratable("NNX135", f"{called} makes modules under computed names", passage.call)
    return (f"getattr({holder}, ", shown, ")")


def hand_in(writer: ClassWriter, call: ast.Call, source: SourceFile, slots: Mapping[str, Parts]) -> None:
    """New keyword arguments of a call."""
    end = source.span(call).end
    if source.text[end - 1] != ")":
        raise Unmigratable("NNX135", "a call that does not end in a bracket", call)
    out: list[Part] = []
    ends = [source.span(a).end for a in [*call.args, *[k.value for k in call.keywords]]]
    between = source.text[max(ends) : end - 1] if ends else ""
    trailing = "," in between
    indent = source.indent_of(source.statement_of(call))
    long = len(source.text_of(call)) + sum(len(slot) + 1 + length(parts) for slot, parts in slots.items()) > _WIDTH
    lay = f"{source.newline}{indent}{source.indent_unit * 2}" if long else " "
    behind = " "  # before all but the first
    if long:
        start = source.text.rfind("\n", 0, end) + 1
        needed = sum(len(slot) + 3 + length(parts) for slot, parts in slots.items())
        if end - start + needed <= _WIDTH and start > source.span(call).start:
            lay = " "
        elif start > source.span(call).start:  # as the lines above, several to a line
            lead = source.text[start:end]
            lay = source.newline + lead[: len(lead) - len(lead.lstrip())]
        else:
            behind = lay
    if ends:
        last = max([*call.args, *call.keywords], key=lambda a: source.span(a).end)
        line = source.text.rfind("\n", 0, source.span(last).start) + 1
        before = source.text[line : source.span(last).start]
        if before.isspace() and line > source.span(call).start:  # on a line of its own, as the others then are
            lay = behind = source.newline + before
    for slot, parts in slots.items():
        out += ["" if trailing or not (ends or out) else ",", lay if ends or long else "", f"{slot}=", *parts]
        trailing, ends, lay = False, [end], behind
    writer.put(Span(end - 1, end), *out, ")", source=source)


def _take(writer: ClassWriter, function: ast.FunctionDef, source: SourceFile) -> None:
    """The function's new keyword-only parameters."""
    slots = writer.run.analyser.slots.get(function)
    if not slots:
        return
    said = [
        name if slot.required else f"{name}=None"
        for name, slot in sorted(slots.items(), key=lambda item: (not item[1].required, item[1].position))
    ]
    take(writer, function, source, said)


def take(writer: ClassWriter, function: ast.FunctionDef, source: SourceFile, said: Sequence[str]) -> None:
    """New keyword-only parameters of a function."""
    own = function.args
    plain = [*own.posonlyargs, *own.args, *([own.vararg] if own.vararg else []), *own.kwonlyargs]
    defaults = [d for d in [*own.defaults, *own.kw_defaults] if d is not None]
    star = "" if own.vararg or own.kwonlyargs else "*, "
    if not plain and own.kwarg is not None:  # `def norm(**kwargs)`: before those
        start = source.text.rindex("**", 0, source.span(own.kwarg).start)
        writer.put(Span(start, start), f"*, {', '.join(said)}, ", source=source)
        return
    if not plain:
        raise Unmigratable("NNX135", f"`{function.name}` takes nothing, and would have to take {said[0]}", function)
    last = max([*plain, *defaults], key=lambda n: source.span(n).end)
    end = _end(source, last)
    start = source.span(function).start
    long = end - start + sum(len(s) + 2 for s in said) > _WIDTH
    indent = source.indent_of(function)
    lay = f",{source.newline}{indent}{source.indent_unit * 2}" if long else ", "
    behind = Span(end, end + 1)  # a default may be said in constructors, too
    writer.put(behind, f"{lay}{star}{lay.join(said)}", source.text[end], source=source)


def _end(source: SourceFile, node: ast.AST) -> int:
    """Where a parameter or a default ends, with its parentheses: `k=(1)`."""
    span, text = source.span(node), source.text
    start, end = span.start, span.end
    while True:
        before, behind = text[:start].rstrip(), text[end:]
        if not before.endswith("(") or not behind.lstrip().startswith(")") or not before[:-1].rstrip().endswith(("=", "(")):
            return end
        start, end = len(before) - 1, end + len(behind) - len(behind.lstrip()) + 1


__all__ = ["hand_in", "site_edit", "take", "taken", "write"]
