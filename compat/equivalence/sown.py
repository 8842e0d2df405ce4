"""Sown values. NNX leaves them in the model; Linen hands them back where their collection is mutable, else drops them.

A native module that sows what its original sows is no other module for it, however the Linen call was made: the values are
compared with those that Linen would hand back. What only the native module sows is new state, and is reported as such.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import jax

from ..target import linen_key

Label = tuple[Any, ...]


@contextlib.contextmanager
def watched() -> Iterator[set[Label]]:
    """(collection, *path of the module, name) of everything that Linen modules sow in the meantime."""
    from flax import linen as nn

    found: set[Label] = set()
    original = nn.Module.sow

    def sow(self: Any, col: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        found.add((str(col), *self.path, name))
        return original(self, col, name, *args, **kwargs)

    nn.Module.sow = sow  # type: ignore[method-assign]
    try:
        yield found
    finally:
        nn.Module.sow = original  # type: ignore[method-assign]


def names(new: Mapping[str, str], function: Callable[..., Any], *args: Any) -> set[Label]:
    """What the Linen program sows, of the collections that the native one leaves new state in (`new`: path → collection)."""
    if not new:
        return set()
    with watched() as found:
        # A function of its own: jax would else give this trace again where the collection is mutable.
        jax.eval_shape(lambda *given: function(*given), *args)
    return {label for label in found if label[0] in set(new.values())}


def label_of(group: str, path: Sequence[Any], known: Collection[Label], sown: Collection[Label]) -> Label | None:
    """Linen's label of a new leaf of the native state; None for one that Linen sows and drops.

    Args:
        group: the collection that the leaf belongs to.
        path: of the leaf in the NNX state; sown values are a tuple, whose index ends it, or stands before the leaf's place
            in what was sown.
        known: the labels of Linen's outputs.
        sown: what Linen sows.
    """
    options: list[Label] = [(group, *linen_key(path))]
    for at in (i for i, step in enumerate(path) if isinstance(step, int)):
        options.insert(0, (group, *linen_key(path[:at]), *path[at:]))
    for option in options:
        if option in known:
            return option
    if any(option[:count] in sown for option in options for count in range(2, len(option) + 1)):
        return None  # under a transform that leaves the collection out
    return ("new state", repr(tuple(path)))
