"""Numbers of dimensions that were taken for granted: which ones, and the lines by which a constructor checks them.

Sizes such as `in_shape[-2]` are right for one rank only. Where that rank was guessed, another one must fail where the
model is made, not give a model of other sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..edits import Parts
    from .class_text import ClassText


def guessed(text: ClassText) -> dict[str, int]:
    """Argument → rank, where neither the class nor an example or a trace of the project shows it."""
    name, analyser = text.model.qualname, text.analyser
    seen = analyser.seen.get(name, {})
    return {a: rank for a, rank in analyser.assumed.get(name, {}).items() if seen.get(a) != rank}


def lines(text: ClassText) -> list[Parts]:
    """Statements of the constructor that raise for another rank than the one guessed."""
    ranks = guessed(text)
    out: list[Parts] = []
    for added, argument, index in text.added():
        if argument not in ranks or index == -1:
            continue
        given = f"{added.name} is not None and " if added.origin.startswith("None if") else ""
        out.append((f"if {given}len({added.name}) != {ranks[argument]}:",))
        message = f"`{added.name}` must have {ranks[argument]} dimensions"
        out.append((text.source.indent_unit, f'raise ValueError(f"{message}: {{{added.name}}}")'))
    return out


def reads_batch(text: ClassText) -> bool:
    """Is the first dimension of a guessed rank, a batch as a rule, read as a size? Another guess may be better."""
    used = text.used
    return any(-rank in used.get(argument, ()) for argument, rank in guessed(text).items())


__all__ = ["guessed", "lines", "reads_batch"]
