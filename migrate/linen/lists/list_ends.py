"""What stands last in a list of arrays that a loop fills: `hs = [h]`, `h = Block()(hs[-1])`, `hs.append(h)`.

The constructor's own list (`size_lists`) has widths alone. The last array is followed like a variable of the method, so
that its other sizes are known, too: it has a name of its own in the environment, which changes wherever the list does.
Where the list changes in a function within the method, nothing is known of its end any more.
"""

from __future__ import annotations

from typing import Any

from ..values.sites import Abs
from ..values.values import OPAQUE, Array, Tup, Value


def begun(env: Any, made: Value) -> None:
    """A list of arrays has got its name."""
    if isinstance(made, Tup) and made.variable:
        env.names[_name(made.variable)] = Abs(made.items[-1] if made.items else OPAQUE)


def changed(run: Any, variable: str, last: Value | None, env: Any) -> None:
    """A list has changed; `last`: what stands at its end now, as far as that is known."""
    name = _name(variable)
    if name in env.names:
        env.names[name] = Abs(last if isinstance(last, Array) else OPAQUE)
    else:
        run.lost_ends.add(variable)


def added(value: Value, one: bool) -> Value | None:
    """What stands last after `append(value)` (`one`) or `extend(value)`."""
    if one:
        return value
    return value.items[-1] if isinstance(value, Tup) and value.items else None


def last_of(run: Any, variable: str, env: Any) -> Array | None:
    """The array at the end of a list."""
    held = env.get(_name(variable))
    known = held is not None and isinstance(held.value, Array) and variable not in run.lost_ends
    return held.value if known else None


def _name(variable: str) -> str:
    return f"{variable}[-1]"


__all__ = ["added", "begun", "changed", "last_of"]
