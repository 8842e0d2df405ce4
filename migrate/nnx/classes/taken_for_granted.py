"""What a native class takes for granted, or does otherwise than Linen's `init`: notes that stand in the report."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.modules import named_factories
from ...linen.modules.by_sizes import BY_SIZES
from ...linen.modules.first_updates import updated_at_init
from ...linen.modules.made_later import NAMED
from ...linen.modules.made_under_flags import made_under_flags
from ...linen.modules.put_variables import PUT
from ...linen.shapes import filled
from ..lifted.lifted import used_by
from ..text import shared_names
from . import agreeing, asked_presence, asking, later_sizes, rank_checks

if TYPE_CHECKING:
    from ...linen.execution.analyser import Analyser
    from .class_text import ClassText


def notes(text: ClassText, analyser: Analyser) -> Iterator[tuple[str, str, ast.AST]]:
    """Code, message and place of each."""
    run, node = text.run, text.model.node
    for message in asking.notes(text):
        yield "NNX116", message, node
    for message in agreeing.notes(text):
        yield "NNX117", message, node
    for field, layer in named_factories.taken(analyser, text.model.qualname):
        message = f"nothing here gives `{field}` anything: it is taken to make a {layer}, and called as NNX's is"
        yield named_factories.CODE, message, node
    if text.call_example:
        yield later_sizes.CODE, later_sizes.note_of_handed(text), node
    elif text.later:
        yield later_sizes.CODE, later_sizes.note(text), node
    told_apart = [site for site, place in text.names.places.items() if place.only_at is not None]
    if told_apart:
        yield shared_names.CODE, shared_names.note(told_apart), told_apart[-1].node
    for site in (s for s in run.sites if s.renders.get(asked_presence.ASKED)):
        yield asked_presence.CODE, asked_presence.note(site), site.node
    for variable, update in updated_at_init(run):
        message = f"`{variable}` starts without this update, which Linen's init makes once: fresh models differ by it"
        yield "NNX118", message, update
    for site in run.sites:
        if site.lazy and PUT not in site.renders:
            message = f"the first call makes `{site.name.constant if site.name else site.target}`, as Linen's init did"
            yield "NNX207", message, site.node
    for site, calls in made_under_flags(run):
        if NAMED in site.renders or BY_SIZES in site.renders or (text.call_example and site in text.later):
            continue  # a call makes it
        if site.kind not in ("layer", "class") or used_by(text, site).collections:
            said = site.name.constant if site.name is not None and site.name.constant else site.target.rpartition(".")[2]
            message = f"`{said}` is always made, where Linen makes it at the first call {calls}"
            yield "NNX119", message, site.node
    for argument, rank in rank_checks.guessed(analyser, text.model.qualname).items():
        failing = "the constructor fails" if rank_checks.checked(text, argument) else "weights do not fit the sizes"
        yield "NNX115", f"`{argument}` is taken to have {rank} dimensions; with another number {failing}", node
    for argument, column in dict(filled.taken_for_columns(run)).items():
        message = f"`{argument}` is taken to be a number, or to have one column: with more, sizes do not fit"
        yield "NNX115", message, column
