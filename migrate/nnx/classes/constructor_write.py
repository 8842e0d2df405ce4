"""Where the constructor goes and how it reads: signature, stored fields, and the lines of all entry methods."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...edits import Edit, Overlay, Part, Parts, Span
from ...linen.project.classes import Field, Method
from ...linen.values.sites import Repeated, Unmigratable
from ...source import SourceFile
from ...trees import of_kind, subtree
from ..calls import drawn, sown
from ..factories import outside_chains
from ..fields import (
    array_fields,
    call_fields,
    field_comments,
    frozen_fields,
    inherited_fields,
    kept_fields,
    overriding,
    post_init,
)
from ..refused import imported_in_methods
from ..setup import own_arguments
from ..text.text_parts import length
from . import (
    agreeing,
    collection_names,
    constructor_text,
    handed_defaults,
    inheritance,
    later_sizes,
    rank_checks,
    shared_scopes,
    unused_locals,
)

if TYPE_CHECKING:
    from .class_write import ClassWriter

_GOING_ON = ("else", "elif", "except", "finally")  # of a statement that stands above


def write(writer: ClassWriter) -> None:
    """The edits that give the class its constructor, or turn setup into it."""
    model, source = writer.model, writer.source
    setup = model.own_methods.get("setup")
    if model.bases and not inheritance.needs_constructor(writer.text):
        return
    fields = model.fields()
    checks = post_init.lines(writer)
    if any(f.name.startswith("__") for f in fields):
        raise Unmigratable("NNX173", "a field's name starts with two underscores")
    indent = source.indent_of(model.node.body[0]) or source.indent_of(model.node) + source.indent_unit
    body = indent + source.indent_unit
    lines: list[Parts] = []
    stored = _stored(writer, fields)
    attributes = {place.attribute for place in writer.text.names.places.values()} | set(writer.model.methods())
    sown.check_names(writer.run.sows, stored | attributes)
    _check_fields(writer, stored - writer.other_names.keys())
    for field in fields:
        if field.factory is not None:
            lines.append((f"if {field.name} is None:",))
            lines.append((source.indent_unit, f"{field.name} = ", *_called(writer, field.factory, field)))
    lines += post_init.before(writer)
    handed = writer.run.analyser.templates(model.qualname)
    lines += frozen_fields.lines(writer, [f for f in fields if f.name not in handed])
    kept = [f for f in fields if f.name in stored and f.name not in handed]
    lines += [(f"self.{writer.other_names.get(f.name, f.name)} = ", *_stored_value(writer, f)) for f in kept]
    for field in model.own_fields:  # no argument of the constructor, but perhaps a value
        value = field.default or field.factory
        if not field.init and value is not None:
            said = (_default(writer, value, field),) if field.default else _called(writer, value, field)
            comment = field_comments.of(model, field).behind
            lines.append((f"self.{field.name} = ", *said, *((f"  {comment}",) if comment else ())))
    lines += checks
    lines += rank_checks.lines(writer.text)
    lines += collection_names.lines(writer.text)
    lines += agreeing.lines(writer.text)
    lines += writer.text.template_lines
    if writer.run.mode_flag:
        lines.append(("self.use_running_average = True  # train() sets it to False, eval() to True",))
    compact: list[Parts] = []
    if setup is None and inheritance.setup_owner(writer.text) is not None:  # it may set attributes, and make nothing
        compact.append(inheritance.call_of_base(writer.text))
    made: list[tuple[int, Parts]] = []
    for entry in writer.run.blocks:
        made += constructor_text.constructor_lines(writer.text, entry) if entry != "setup" else []
    for held in [h for h in writer.text.names.lists if not h.named_by and not writer.text.of_wrappers(h.object)]:
        empty = held.assigned((f"{held.container(writer.namer)}()",))
        made.insert(_first_use(made, held.object), (0, empty))
    for depth, line in made:
        prefix = source.indent_unit * depth
        compact.append((prefix, *writer.laid_out(line, body + prefix)) if prefix else writer.laid_out(line, body))
    streams = [(f"self.{name} = rngs{drawn.item(stream)}.fork()",) for stream, name in sorted(writer.text.streams.items())]
    compact += shared_scopes.lines(writer.text)
    found = [writer.laid_out(line, body) for line in later_sizes.lines(writer.text)]
    signature = _signature(writer, fields, indent, body)
    newline = source.newline
    on_one_line = source.shares_line(model.node.body[0])
    if not on_one_line:
        _remove_fields(writer, setup)
    lines = [*imported_in_methods.lines(writer, [*lines, *compact]), *lines]
    everything = [*lines, *([] if setup is not None else compact), *([] if setup is not None else [*streams, *found])]
    if setup is not None:
        first = setup.node.body[0]
        start, opened = source.full_span(setup.node).start, source.span(first).start
        plain = {f.name for f in fields if f.init and f.name not in handed and _stored_value(writer, f) == (f.name,)}
        plain -= writer.other_names.keys() | writer.run.call_fields | writer.run.held.keys()
        begins = own_arguments.drop(writer, plain)  # behind lines that go with the head
        head = Span(start, begins or opened)
        doc: list[Part] = []
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            doc = [source.span(first), newline, source.indent_of(first)]
            head = Span(head.start, source.span(first).end)
            if len(setup.node.body) == 1:
                doc = [source.span(first)]
            else:
                head = Span(head.start, begins or source.span(setup.node.body[1]).start)
        comments = [source.text[source.text.find(":", _signature_end(source, setup.node)) + 1 : opened].strip()]
        if doc and not begins:
            comments.append(source.text[source.span(first).end : head.end].strip())
        inner = source.indent_of(first)
        opening: list[Part] = [*signature, newline, inner, *doc]
        for line in lines:
            opening += [*line, newline, inner]
        for comment in comments:
            opening += [comment, newline, inner] if "#" in comment else []
        writer.put(head, *opening)
        tail = source.line_span(setup.node.body[-1]).end
        late = [*compact, *streams, *found]
        for early in _early_returns(writer, setup):
            writer.put_before(source, early, [*streams, *found])
        if late:
            order = _before_what_follows(writer, tail, 0)
            writer.insert(tail, *[p for line in late for p in (inner, *line, newline)], order=order)
        if len(setup.node.body) == 1 and isinstance(first, ast.Pass) and (lines or late):
            writer.put(first, "pass")
        return
    if not everything:
        everything = [("pass",)] if not fields and not model.bases else [("del rngs  # nothing to create",)]
        if not fields and not writer.text.added():
            everything = [("del rngs  # nothing to create",)]
    if on_one_line or all(_is_empty(statement) for statement in model.node.body):
        _write_in_place(writer, [(indent, *signature), *((body, *line) for line in everything)])
        return
    at = _place(writer)
    stays = bool(model.own_fields) and model.own_fields[-1] in overriding.kept(writer.text)
    last = at == source.line_span(model.node.body[-1]).end and not model.own_fields
    written: list[Part] = [newline if stays or last or _is_close_below(writer) else "", indent, *signature, newline]
    for line in everything:
        written += [body, *line, newline]
    order = _before_what_follows(writer, at, -1)
    writer.insert(at, *written, newline if not _blank_follows(writer, at) else "", order=order)


def _early_returns(writer: ClassWriter, setup: Method) -> list[ast.Return]:
    """Where setup ends ahead of its last line; nothing that compact methods make is left out then, see `refusals`."""
    scope_of = writer.source.names.scope_of
    return [n for n in of_kind(setup.node, ast.Return) if scope_of(n) is setup.node]


def _first_use(lines: list[tuple[int, Parts]], name: str) -> int:
    """Where a list is to be made: before the statement that first says it, as an `if` with its `else` is one."""
    said = re.compile(rf"{re.escape(name)}\b")
    texts = ["".join(part if isinstance(part, str) else " " for part in parts) for _, parts in lines]
    at = next((index for index, text in enumerate(texts) if said.search(text)), 0)
    while at and (lines[at][0] or texts[at].startswith(_GOING_ON)):
        at -= 1
    return at


def _before_what_follows(writer: ClassWriter, at: int, order: int) -> int:
    """The place of an insertion among others: at the end of the class it comes before a comment of the next statement."""
    return -300 if at >= writer.source.line_span(writer.model.node).end else order


def _check_fields(writer: ClassWriter, stored: set[str]) -> None:
    """Refuse variables and modules that have a field's name where the field is read, too: an attribute holds one of them."""
    for site, place in writer.text.names.places.items():
        if place.kind == "attribute" and place.attribute in stored and not (site.held or site.in_setup):
            reason = f"a field and what is made under its name are both called {place.attribute}"
            raise Unmigratable("NNX156", reason, site.node)


def _stored(writer: ClassWriter, fields: Iterable[Field]) -> set[str]:
    """Fields that are read after construction, here or elsewhere."""
    kept: set[str] = set(writer.text.shadowed) | (post_init.read(writer) & {f.name for f in fields}) | writer.run.call_fields
    gone = [span for source, span in writer.moved if source is writer.source]
    kept_spans = [p for e in writer.edits if e.source is writer.source for p in e.parts if isinstance(p, Span)]
    deleted = [e.span for e in writer.edits if e.source is writer.source and not e.parts and not e.insert]
    names = {f.name for f in fields}
    kept |= overriding.names(writer.text) & names
    if kept_fields.handed_on(writer.model):
        return names | kept
    for owner in writer.model.mro():
        for node in of_kind(owner.node, ast.Attribute):
            if node.attr in names:
                if owner is writer.model and isinstance(node.value, ast.Name) and node.value.id == "self":
                    span = writer.source.span(node)
                    dropped = any(d.contains(span) for d in deleted) or unused_locals.is_gone(writer, span, gone, kept_spans)
                    if dropped and not any(k.contains(span) and k not in gone for k in kept_spans):
                        continue
                kept.add(node.attr)
    kept |= kept_fields.read_by_plain_bases(writer.text, names)
    for other in writer.text.analyser.classes.derived(writer.model):
        kept |= {n.attr for n in of_kind(other.node, ast.Attribute) if n.attr in names}
    # What is handed in stays an attribute even where nothing reads it: Linen stores its variables there.
    handed: frozenset[str] = writer.run.analyser.given_outside.handed.get(writer.model.qualname, frozenset())
    return kept | (names & (writer.loaded | writer.asked | writer.text.shadowed | set(writer.run.held) | handed))


def _stored_value(writer: ClassWriter, field: Field) -> Parts:
    """What is stored of a field: NNX refuses plain lists of modules."""
    if field.name in writer.run.analyser.given_outside.handed.get(writer.model.qualname, ()):
        return (f"{writer.namer.parity('handed')}({field.name})",)
    chain = outside_chains.chain(writer.text)
    if chain is not None and chain.field == field.name:
        size = writer.text.size_name(chain.argument)
        return (f"{writer.namer.parity('made_in_turn')}({field.name}, {size}, rngs=rngs)",)
    if isinstance(writer.run.held.get(field.name), Repeated):
        return (f"{writer.namer.name('flax.nnx.List')}({field.name})",)
    if array_fields.are_arrays(field):
        return (f"{writer.namer.name('flax.nnx.data')}({field.name})",)
    return (field.name,)


def _default(writer: ClassWriter, node: ast.expr, field: Field, deeper: str = "") -> Part:
    """A field's type or value; where it has several lines, those behind the first stand `deeper` than they did."""
    source = writer.source
    if field.source is not source:
        return inherited_fields.said(writer, node, field)
    span = source.span(node)
    breaks = [at for at in range(span.start, span.end) if source.text[at] == "\n"] if deeper else []
    strings = (n for n in subtree(node) if isinstance(n, ast.Constant | ast.JoinedStr))
    if any((n.end_lineno or 0) > n.lineno for n in strings):
        breaks = []
    edits = [Edit(Span(at + 1, at + 1), (deeper,)) for at in breaks]
    if source.is_bare_tuple(node):
        edits = [Edit(Span(span.start, span.start), ("(",)), *edits, Edit(Span(span.end, span.end), (")",))]
    return Overlay(span, tuple(edits)) if edits else span


def _annotation(writer: ClassWriter, field: Field, deeper: str) -> Parts:
    """`: type`, where the field has one that this file can say."""
    if field.annotation is None:
        return ()
    if field.name in writer.run.analyser.templates(writer.model.qualname):
        return (f": {writer.namer.imported('collections.abc.Callable')}[..., {writer.namer.name('flax.nnx.Module')}]",)
    if field.name in writer.run.analyser.given_outside.handed.get(writer.model.qualname, ()):
        return (f": {writer.namer.name('typing.Any')}",)
    if field.source is writer.source:
        return (": ", _default(writer, field.annotation, field, deeper))
    text = inherited_fields.annotation(writer, field)
    return (": ", text) if text is not None else ()


def _called(writer: ClassWriter, factory: ast.expr, field: Field) -> Parts:
    """What a field's `default_factory` gives."""
    said = _default(writer, factory, field)
    return (said, "()") if isinstance(factory, ast.Name | ast.Attribute | ast.Call) else ("(", said, ")()")


def _signature(writer: ClassWriter, fields: list[Field], indent: str, body: str) -> Parts:
    nnx_rngs = writer.namer.name("flax.nnx.Rngs")
    unit = writer.source.indent_unit
    deep = body + unit if len(unit) < 4 else body
    deeper = " " * (len(deep) - len(indent)) if unit != "\t" else unit
    plain: list[Parts] = []
    only: list[Parts] = []
    said: dict[Parts, field_comments.Comments] = {}
    stay = overriding.kept(writer.text)  # with their comments
    for field in fields:
        annotation = _annotation(writer, field, deeper)
        moved = call_fields.optional(field) if field.name in writer.run.call_fields and field.default is None else None
        if moved is not None and field.factory is None:
            annotation = (f": {moved}",)
        parts: list[Part] = [field.name, *annotation]
        if field.factory is not None:
            parts += [" | None = None" if annotation else "=None"]
        elif field.default is not None:
            made = handed_defaults.said(writer, field)
            parts += [" = " if annotation else "=", *(made or (_default(writer, field.default, field, deeper),))]
        elif field.name in writer.run.call_fields:  # its call is given it
            parts += [" = None" if annotation else "=None"]
        (only if field.kw_only else plain).append(tuple(parts))
        if field in writer.model.own_fields and field not in stay:
            said[tuple(parts)] = field_comments.of(writer.model, field)
    seen_default = False
    for field in fields:
        if field.kw_only:
            continue
        has = field.default is not None or field.factory is not None or field.name in writer.run.call_fields
        if seen_default and not has:
            raise Unmigratable("NNX174", f"the field {field.name} without a default follows one with", field.node)
        seen_default = has
    for added, _, index in writer.text.added():
        kind = "int" if index == -1 else "tuple[int, ...]"
        if added.whole or added.call:
            kind = writer.namer.name("typing.Any")
        if (writer.model.qualname, added.name) in writer.text.analyser.partial:
            kind = "tuple[int | None, ...]"
        optional = " | None" if added.origin.startswith("None if") else ""
        only.append((f"{added.name}: {kind}{optional}{f' = {added.default}' if added.default else ''}",))
    for name, dtype in writer.text.dtypes().items():
        any_type, default = writer.namer.name("typing.Any"), writer.namer.name(dtype)
        only.append((f"{name}: {any_type} = {default}",))
    only.append((f"rngs: {nnx_rngs}",))
    everything: list[Parts] = [("self",), *plain, ("*",), *only]
    total = sum(length(piece) + 2 for piece in everything) + len(indent) + 16
    out: list[Part] = ["def __init__("]
    if total <= 100 and not any(comments.above or comments.behind for comments in said.values()):
        for position, piece in enumerate(everything):
            out += [", " if position else "", *piece]
        return (*out, "):")
    newline = writer.source.newline
    out += [newline]
    for piece in everything:
        comments = said.get(piece)
        out += [part for line in (comments.above if comments else ()) for part in (deep, line, newline)]
        out += [deep, *piece, ",", f"  {comments.behind}" if comments and comments.behind else "", newline]
    return (*out, indent, "):")


def _remove_fields(writer: ClassWriter, setup: Method | None) -> None:
    """The fields go; with a setup, which the constructor stands in for, so do the blank lines that would double."""
    source, lines = writer.source, writer.source.text.split("\n")
    model = writer.model
    stay = overriding.kept(writer.text)
    fields = (*model.own_fields, *model.reserved)
    found = {field: field_comments.of(model, field).span for field in fields if field not in stay}
    firsts = {field: source.text.count("\n", 0, span.start) + 1 for field, span in found.items()}
    lasts = {field: field_comments.last_line(model, field) for field in found}
    gone = {n for field in found for n in range(firsts[field], lasts[field] + 1)}
    begins = next((firsts[field] for field in found if field.node is model.node.body[0]), 0)
    for field, span in found.items():
        behind, ahead = lasts[field], firsts[field] - 2
        while ahead + 1 in gone:
            ahead -= 1
        opens = ahead + 1 < begins  # nothing of the class stands before it
        if setup is not None and behind + 1 not in gone and (opens or not lines[ahead].strip()):
            while behind < len(lines) and not lines[behind].strip():
                span = Span(span.start, span.end + len(lines[behind]) + 1)
                behind += 1
        writer.put(span)


def _place(writer: ClassWriter) -> int:
    """Where `__init__` goes: in place of the last field, else before the first method, after class attributes."""
    source, body = writer.source, writer.model.node.body
    fields = writer.model.own_fields or writer.model.reserved
    if fields:
        return field_comments.of(writer.model, fields[-1]).span.end
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            return source.line_span(statement).start
    return source.line_span(body[-1]).end


def _is_close_below(writer: ClassWriter) -> bool:
    """Do fields that go stand on the line below a statement of the class that stays?"""
    body = writer.model.node.body
    going = {field.node for field in (*writer.model.own_fields, *writer.model.reserved)}
    last = max((at for at, statement in enumerate(body) if statement in going), default=0)
    above = next((at for at in range(last - 1, -1, -1) if body[at] not in going), None)
    if above is None or isinstance(body[above], ast.Expr):
        return False
    return bool(body[above + 1].lineno == (body[above].end_lineno or 0) + 1)


def _write_in_place(writer: ClassWriter, lines: list[Parts]) -> None:
    """The constructor in place of a `pass`, or of a body on the line of its head (`class Tiny(Base): width: int = 3`)."""
    source, statements = writer.source, writer.model.node.body
    first, last = source.span(statements[0]), source.span(statements[-1])
    if not source.shares_line(statements[0]):
        writer.put(Span(first.start, last.end), *lines[0][1:], *[p for line in lines[1:] for p in (source.newline, *line)])
        return
    going = {field.node for field in writer.model.own_fields if field not in overriding.kept(writer.text)}
    said: list[Parts] = [(source.indent_of(s), source.span(s)) for s in statements if s not in going and not _is_empty(s)]
    begins = source.text.rfind(":", 0, first.start) + 1
    ends = source.text.find("\n", last.end)
    ends = last.end if source.text[last.end : ends].strip(" ;\t\r") else ends
    writer.put(Span(begins, ends), *[p for line in (*said, *lines) for p in (source.newline, *line)])


def _is_empty(statement: ast.stmt) -> bool:
    """`pass` or `...`."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) and statement.value.value is ...
    return isinstance(statement, ast.Pass)


def _blank_follows(writer: ClassWriter, at: int) -> bool:
    line = writer.source.text[at : writer.source.text.find("\n", at) + 1]
    return not line.strip()


def _signature_end(source: SourceFile, node: ast.FunctionDef) -> int:
    return source.text.find(")", source.span(node).start)
