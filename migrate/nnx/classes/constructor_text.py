"""The lines of a constructor: what one entry method makes, with the loops, conditions and sizes around it."""

from __future__ import annotations

import ast
import dataclasses
import io
import tokenize
from typing import TYPE_CHECKING, Any

from ...edits import Parts, Span
from ...linen.values.arguments import stored_names
from ...linen.values.presence import asked
from ...linen.values.sites import (
    Block,
    Branch,
    Counted,
    For,
    Local,
    Localized,
    Make,
    Site,
    SizeStep,
    Skipped,
    Track,
    Unmigratable,
    steps_of,
)
from ...names import is_attribute_name
from ...trees import subtree
from ..factories import field_kinds
from ..setup import carried, setup_conditions
from ..setup.called_when import called_when
from ..text.comments import PRAGMA
from ..text.text_parts import bare, condition, denied, whole
from . import constructor_names, inheritance, size_steps

if TYPE_CHECKING:
    from .class_text import ClassText


CHANGING = ("NNX110", "a module is first called in a loop, where its input size changes")


def constructor_lines(text: ClassText, entry: str) -> list[tuple[int, Parts]]:
    """The lines that one entry method's skeleton adds to `__init__`: (depth, text)."""
    if entry in text.run.for_derived:
        return []
    block = text.run.blocks[entry]
    try:
        said = field_kinds.own_features(text) if entry == "__call__" else None
    except Unmigratable:
        if text.model.qualname in text.analyser.of_kinds:
            raise
        said = None
        text.analyser.says_nothing([text.model.qualname])
    lines, live = _emit(text, block, 0, set(said[1]) if said is not None else set())
    inheritance.refuse_sizes_of_base(text, live)
    live -= carried.followed(text.run)
    if live & text.run.trackers and said is not None and text.model.qualname not in text.analyser.of_kinds:
        text.analyser.says_nothing([text.model.qualname])  # then it says nothing, and its callers do not ask
        said = None
        lines, live = _emit(text, block, 0, set())
    if live & text.run.trackers:
        raise Unmigratable(*CHANGING, text.model.node)
    unbound = live - text.run.trackers - constructor_names.bound_in_setup(text.run) - set(text.run.fields)
    unbound -= _conditional(block) & text.emitted
    if unbound:
        reason = f"sizes depend on `{min(unbound)}`, which the constructor does not have"
        raise Unmigratable("NNX113", reason, text.model.node)
    return lines if said is None else [*lines, (0, (said[0],))]


def block_lines(text: ClassText, block: Block) -> list[tuple[int, Parts]]:
    """The lines of a part of a skeleton that needs no sizes of what follows."""
    return _emit(text, block, 0, set())[0]


def _conditional(block: Block) -> set[str]:
    """Names that only one side of a condition or a loop assigns, as in Linen: where they are read, it held, or it ran."""
    branches = [step for step in block.steps if isinstance(step, Branch) and (step.test is not None or step.text)]
    sides = [side for branch in branches for side in (branch.then, branch.orelse)]
    sides += [step.body for step in block.steps if isinstance(step, For) and isinstance(step.node, ast.For)]
    found = {n for side in sides for step in steps_of(side) if isinstance(step, Local) for n in step.names}
    return found - {n for step in block.steps if isinstance(step, Local) for n in step.names}


def _emit(text: ClassText, block: Block, depth: int, live: set[str]) -> tuple[list[tuple[int, Parts]], set[str]]:
    """Lines of a block, given the names that what follows needs; and the names needed before it."""
    out: list[list[tuple[int, Parts]]] = []
    for step in reversed(block.steps):
        lines, live = _emit_step(text, step, depth, live)
        out.append(lines if depth else [*field_kinds.names_before(text, step), *lines])
    return [line for lines in reversed(out) for line in lines], live


def _indented(text: ClassText, step: Local, depth: int) -> Localized:
    """A statement as the constructor says it; the lines of a function go as deep as its head does there."""
    localized, source = step.localized, step.source
    if not isinstance(step.statement, ast.FunctionDef) or localized.span is None:
        return localized
    own, unit = text.source, text.source.indent_unit
    body = (own.indent_of(text.model.node.body[0]) or own.indent_of(text.model.node) + unit) + unit
    old, new = source.indent_of(step.statement), body + unit * depth
    if old == new:
        return localized
    strings = [source.span(n) for n in subtree(step.statement) if isinstance(n, ast.Constant | ast.JoinedStr)]
    edits: list[tuple[Span, tuple[str, ...]]] = []
    at = source.text.find("\n", localized.span.start) + 1
    while 0 < at < localized.span.end:
        start = Span(at, at + len(old))
        within = any(s.start < at < s.end for s in strings)  # a line of a longer string
        if old and source.text.startswith(old, at) and not within:
            edits.append((start, (new,)))
        at = source.text.find("\n", at) + 1
    return dataclasses.replace(localized, replaced=(*localized.replaced, *edits))


def _emit_step(text: ClassText, step: Any, depth: int, live: set[str]) -> tuple[list[tuple[int, Parts]], set[str]]:
    if isinstance(step, Make):
        if text.is_wrapper(step.site) or step.site in text.again:
            return [], live
        lines, needs = text.built[step.site]
        written = [*[(depth, (said,)) for said in _comments(text, step.site)], *[(depth + d, p) for d, p in lines.before]]
        text.needs = set()
        when = called_when(text, step.site)
        expression = (*lines.expression, " if ", *when, " else None") if when else lines.expression
        written.append((depth, _placed(text, step.site, expression)))
        return written, live | needs | text.needs
    if isinstance(step, Local):
        if not (step.names & live):
            return [], live
        if not constructor_names.is_identity(step):
            text.emitted |= step.names
        text.needs = set()
        parts = text.said(_indented(text, step, depth))
        if isinstance(step.statement, ast.AugAssign):
            kept = live
        else:
            kept = live - (stored_names(step.statement) if step.changes else step.names)
        return [(depth, parts)], kept | text.needs
    if isinstance(step, Track):
        if step.name not in live or step.name in carried.followed(text.run):
            return [], live
        text.needs = set()
        size: Parts = (text.dim(step.dim),) if step.shape is None else (text.shape(step.shape),)
        if step.site is not None:
            size = field_kinds.said_of(text, step.site, step.said)
        return [(depth, (f"{step.name} = ", *size))], (live - {step.name}) | text.needs
    if isinstance(step, SizeStep):
        return size_steps.emit(text, step, depth, live)
    if isinstance(step, Branch):
        return _emit_branch(text, step, depth, live)
    if isinstance(step, Counted | Skipped):
        return [], live
    assert isinstance(step, For)
    bound = constructor_names.names_of(step)
    hidden = step.hidden & bound
    if hidden & live and any(not isinstance(s, Local) for s in steps_of(step.body)):
        reason = f"a size depends on `{min(hidden & live)}`, which each item of a list has for itself"
        raise Unmigratable("NNX114", reason, step.node.iter)
    inner = set(live)
    for _ in range(4):
        body, before = _emit(text, step.body, depth + 1, inner)
        if before - bound <= inner:
            break
        inner |= before - bound
    if not body:
        return [], live
    text.emitted |= bound
    text.needs = set()
    iterator = whole(text.said(step.iterator), text.source.text)
    target = step.target.removeprefix("(").removesuffix(")")
    inner -= bound
    return [(depth, (f"for {target} in ", *iterator, ":")), *body], inner | live | text.needs


def _comments(text: ClassText, site: Site) -> list[str]:
    """The comments between the arguments of a construction, which the constructor writes anew."""
    source = site.source
    if site.in_setup or site.through or source is not text.source:
        return []
    span = source.span(site.node)
    said = source.text[span.start : span.end]
    if "#" not in said:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(f"({said}\n)").readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT and not PRAGMA.match(t.string)]


def _emit_branch(text: ClassText, step: Branch, depth: int, live: set[str]) -> tuple[list[tuple[int, Parts]], set[str]]:
    if step.test is None and not step.text:
        then, a = _emit(text, step.then, depth, live)
        orelse, b = _emit(text, step.orelse, depth, live)
        return [*then, *orelse], a | b
    then, a = _emit(text, step.then, depth + 1, set() if step.raises is True else live)
    orelse, b = _emit(text, step.orelse, depth + 1, set() if step.raises is False else live)
    if not then and not orelse:
        return [], live
    if step.raises is None and _generated(then) == _generated(orelse) is not None:  # one layer, whichever way it is called
        return [(inner - 1, parts) for inner, parts in then], a | b
    text.needs = set()
    negative = False
    question = asked(step.text)
    if step.test is not None:
        test = text.said(step.test)
    elif question is None:  # a condition in terms of the fields
        opened = bare((step.text.removeprefix("not "),))
        negative = not then and step.text.startswith("not (") and opened[0] != step.text[4:]  # `not (...)`, all of it
        test = (text.own_text(str(opened[0]) if negative else step.text),)
    else:
        argument, present = question
        test = (setup_conditions.is_given(text, argument),)
        negative = not present
    lines: list[tuple[int, Parts]] = []
    if negative:
        then, orelse = orelse, then
    if then:
        said = condition(bare(test), text.source.text)
        lines.append((depth, ("if ", *whole(said, text.source.text), ":")))
        lines += then
        chained = _as_elif(orelse, depth)
        if chained:
            lines += chained
        elif orelse:
            lines.append((depth, ("else:",)))
            lines += orelse
    else:
        lines.append((depth, ("if ", *denied(test, text.source.text), ":")))
        lines += orelse
    return lines, a | b | text.needs


def _generated(lines: list[tuple[int, Parts]]) -> list[tuple[int, str]] | None:
    """Lines of which nothing is text of the class, where that may mean one thing here and another there."""
    said = [(depth, [part for part in parts if isinstance(part, str)]) for depth, parts in lines]
    if any(len(mine) < len(parts) for (_, mine), (_, parts) in zip(said, lines, strict=True)):
        return None
    return [(depth, "".join(mine)) for depth, mine in said]


def _as_elif(lines: list[tuple[int, Parts]], depth: int) -> list[tuple[int, Parts]]:
    """The lines of an `else` that holds one `if` and nothing else, as `elif`; empty where it holds more."""
    own = [parts[0] for d, parts in lines if d == depth + 1]
    if not own or own[0] != "if " or any(head not in ("elif ", "else:") for head in own[1:]):
        return []
    first, *rest = lines
    return [(depth, ("elif ", *first[1][1:])), *[(d - 1, parts) for d, parts in rest]]


def _placed(text: ClassText, site: Site, expression: Parts) -> Parts:
    place = text.names.places[site]
    if place.only_at is not None:
        expression = (text.namer.parity("made_at"), f"({place.only_at}, ", *expression, ")")
    if place.kind == "attribute":
        return place.assigned(expression)
    if place.kind == "list" and site.renders.get("counted"):  # Linen made it further up
        return (f"{place.object}.insert({site.renders['place']}, ", *expression, ")")
    if place.maker is not None:
        return (f"{place.object}[{place.maker}] = ", *expression)
    if place.kind == "list":
        return (f"{place.object}.append(", *expression, ")")
    assert site.name is not None
    if site.name.constant is not None and is_attribute_name(site.name.constant):
        return (f"self.{site.name.constant} = ", *expression)
    if site.name.localized is not None:
        name: Parts = text.said(site.name.localized)
    else:
        name = (repr(site.name.constant),)
    return ("setattr(self, ", *name, ", ", *expression, ")")
