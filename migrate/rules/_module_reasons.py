"""How a reason for which a class stays Linen is documented."""

from __future__ import annotations

from ..rule import Rule

_SURE = "Diagnostic only: the class keeps its code, and gets a TODO comment above it."


def stays(code: str, name: str, summary: str, found: str, why: str, remedy: str) -> Rule:
    """A reason for which a class stays Linen: what was found, why it cannot be carried over, what a person can do."""
    return Rule(code, name, summary, what=f"{found} What to do: {remedy}", why=why, how_sure=_SURE)


AT_CALL = "Linen creates variables at the first call, NNX in the constructor, where the inputs are not there yet."
STRUCTURE = "The constructor has to create the same submodules, under the same names, as the first call did."
NO_COUNTERPART = "NNX has no counterpart that does the same, and an approximation would change results silently."
UNFOLLOWED = "What cannot be followed for certain is not guessed: a wrong guess would change keys or numbers silently."
