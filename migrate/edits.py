"""Text edits that nest: every untouched byte stays what it was.

Analysis works on `ast` nodes; a rewrite is a set of `Edit`s on the source text. A replacement is a list of parts,
each new text or a `Span` of the old text, and a kept span is rendered with the edits inside it. So a rule that
turns `pjit(f, in_axis_resources=A)` into `jax.jit(f, in_shardings=A)` keeps the spans of `f` and `A`, and another
rule's edit within `A` still takes effect, whatever the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .frozen import frozen


@frozen(order=True)
class Span:
    """Half-open range of character offsets into one file's text."""

    start: int
    end: int

    def contains(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@frozen
class Overlay:
    """A span of the old text, rendered with `edits` besides those of the file; where both touch a place these win.

    For code that stands in two places after the rewrite (a condition in `__init__` and in `__call__`), or moves to
    where its names mean something else.
    """

    span: Span
    edits: tuple[Edit, ...]


Part = str | Span | Overlay
Parts = tuple[Part, ...]


@frozen
class Edit:
    """Replace `span` by `parts`. An empty span inserts. `order` sorts insertions at one place."""

    span: Span
    parts: tuple[Part, ...]
    code: str = ""
    order: int = 0
    in_place: bool = False  # not carried out where an `Overlay` says the text a second time


class Conflict(Exception):
    """Two edits overlap without one containing the other, or replace the same span differently."""

    def __init__(self, first: Edit, second: Edit) -> None:
        super().__init__(f"edits {first.code or '?'} and {second.code or '?'} overlap at {second.span}")
        self.first = first
        self.second = second


class EditSet:
    """The edits of one file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._edits: dict[Span, list[Edit]] = {}

    def __bool__(self) -> bool:
        return bool(self._edits)

    def __iter__(self) -> Iterator[Edit]:
        for group in self._edits.values():
            yield from group

    def add(self, edit: Edit) -> None:
        """Add an edit; an equal one is ignored, a different one on the same non-empty span is a `Conflict`."""
        group = self._edits.setdefault(edit.span, [])
        if edit in group:
            return
        if edit.span.start != edit.span.end and group:
            raise Conflict(group[0], edit)
        group.append(edit)

    def replace(self, span: Span, *parts: Part, code: str = "") -> None:
        self.add(Edit(span, tuple(parts), code))

    def insert(self, at: int, *parts: Part, code: str = "", order: int = 0) -> None:
        self.add(Edit(Span(at, at), tuple(parts), code, order))

    def has(self, span: Span) -> bool:
        return span in self._edits

    def covers(self, span: Span) -> bool:
        """Does a replacement say anew what stands in `span`?"""
        return any(key.contains(span) for key in self._edits if key.start != key.end)

    def render(self, span: Span | None = None, extra: Sequence[Edit] = (), *, copy: bool = False) -> str:
        """The text of `span` (default: the whole file) with the edits inside it carried out, and `extra` on top.

        `copy`: this is a second rendering of the text, without the edits that belong to its own place.
        """
        whole = Span(0, len(self.text)) if span is None else span
        inside = sorted(
            [
                edit
                for key, group in self._edits.items()
                if whole.start <= key.start and key.end <= whole.end and not any(over.span.contains(key) for over in extra)
                for edit in group
                if not (copy and edit.in_place)
            ]
            + list(extra),
            # Outer before inner; insertions before a replacement that starts at the same place.
            key=lambda e: (e.span.start, e.span.start != e.span.end, -e.span.end, e.order),
        )
        return self._render(whole, inside, skip_self=False)

    def _render(self, span: Span, edits: Sequence[Edit], skip_self: bool) -> str:
        out: list[str] = []
        at = span.start
        index = 0
        while index < len(edits):
            edit = edits[index]
            index += 1
            if skip_self and edit.span == span and edit.span.start != edit.span.end:
                continue
            if edit.span.start < at:
                raise Conflict(edits[index - 2], edit)
            out.append(self.text[at : edit.span.start])
            inner: list[Edit] = []
            if edit.span.start != edit.span.end:
                while index < len(edits) and edits[index].span.start < edit.span.end:
                    if not edit.span.contains(edits[index].span):
                        raise Conflict(edit, edits[index])
                    inner.append(edits[index])
                    index += 1
            for part in edit.parts:
                if isinstance(part, str):
                    out.append(part)
                elif isinstance(part, Overlay):
                    out.append(self.render(part.span, part.edits, copy=True))
                else:
                    own = part == edit.span
                    kept = [e for e in inner if part.contains(e.span)]
                    if not edit.span.contains(part):  # text moved here from elsewhere: render it with its own edits
                        out.append(self.render(part))
                    else:
                        out.append(self._render(part, kept, skip_self=own))
            at = max(at, edit.span.end)
        out.append(self.text[at : span.end])
        return "".join(out)
