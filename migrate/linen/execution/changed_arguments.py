"""Arguments of the call that hold arrays and that the call changes in place: `batch["image"] = self.embed(batch["image"])`.

What such a part is depends on when it is read, and under which of its names the argument was changed: the class is followed
once more with nothing known of the parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from ..values.bundles import argument_of
from ..values.values import Array, Value


def note(run: Any, names: Iterable[str], env: Any) -> None:
    """A statement changes what these names hold."""
    for name in names:
        held = env.get(name)
        argument = argument_of(held.value) if held is not None else ""
        if argument:
            run.changed_arguments.add(_root(argument))


def note_called(run: Any, called: Any, inputs: Mapping[str, Value]) -> None:
    """So does a module that is given the argument, and changes it."""
    for name in called.changed_arguments & inputs.keys():
        argument = argument_of(inputs[name])
        if argument:
            run.changed_arguments.add(_root(argument))


def learnt(run: Any, known: MutableMapping[str, set[str]]) -> bool:
    """Note what a run has seen to change, for the next; is there anything new?"""
    before = known.setdefault(run.model.qualname, set())
    new = run.changed_arguments - before
    before |= new
    return bool(new)


def is_part_known(run: Any, value: Value) -> bool:
    """May a part of an argument be said to be what the caller gives: does nothing change it?"""
    lead = value.shape.lead if isinstance(value, Array) else None
    argument = getattr(value, "argument", "") or (argument_of(value) if lead is None else lead.argument)
    return not argument or _root(argument) not in run.changed_arguments


def _root(argument: str) -> str:
    return argument.partition("[")[0].partition(".")[0]


__all__ = ["is_part_known", "learnt", "note", "note_called"]
