"""Arrays that a module keeps beside its variables: `self.mask = nn.make_causal_mask(...)` in setup."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linen.modules.self_calls import SetupParam
from ...linen.values.sites import Repeated, Table, items_of
from ...linen.values.values import Array, Tup, Value
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def keeps_arrays(text: ClassText) -> bool:
    """Has the constructor's module arrays of its own, which a split by the types of its variables leaves over?"""
    run = text.run
    computed = text.computed.attributes if text.computed is not None else ()
    kept = {name: list(_leaves(held.value)) for name, held in run.attributes.items() if name not in computed}
    if any(isinstance(value, Array) and value.shape.rank for values in kept.values() for value in values):
        return True
    setup = text.model.method("setup")
    for node in subtree(setup.node) if setup is not None else ():
        if isinstance(node, ast.Assign):  # what has no dimensions, or an unknown number of them, may be Python's own
            names = {t.attr for t in node.targets if isinstance(t, ast.Attribute)} & kept.keys()
            if any(isinstance(value, Array) for name in names for value in kept[name]) and setup is not None:
                calls = [n for n in subtree(node.value) if isinstance(n, ast.Call)]
                if any(
                    (run.project.qualname(setup.source, call.func) or "").startswith(("jax.", "numpy.")) for call in calls
                ):
                    return True
    return False


def _leaves(held: Value) -> Iterator[Value]:
    """What is held, but for parameters, which are variables."""
    if not isinstance(held, Tup | Table | Repeated | SetupParam):
        yield held
    for item in items_of(held):
        yield from _leaves(item)


__all__ = ["keeps_arrays"]
