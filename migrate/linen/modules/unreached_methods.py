"""Methods that make modules and run only on behalf of a compact one, in classes where none calls them.

    def head(self, x):          # not compact: alone, Linen raises AssignSubModuleError
        return nn.Dense(3)(x)

Linen makes no variables for what such a method would make, and the constructor cannot make it either.
"""

from __future__ import annotations

from typing import Any

from ..project.classes import Method
from ..values.sites import Unmigratable
from .helpers_of_derived import says

_MADE = ("layer", "class", "param")


def refuse(run: Any, method: Method) -> None:
    """After such a method was followed as if code outside could call it."""
    if method.compact or method.decorators or method.node.decorator_list:
        return
    own = set(method.nodes)
    made = [s for s in run.sites_of(method.name) if s.kind in _MADE and s.node in own and not (s.held or s.passed)]
    if not made or says(run.model.mro(), method.name):
        return
    if any(says(model.mro(), method.name) for model in run.analyser.classes.derived(run.model)):
        return  # a base, whose other classes call it
    reason = f"`{method.name}` makes modules, is not compact, and no method calls it: Linen makes no variables for them"
    raise Unmigratable("NNX157", reason, made[0].node)


__all__ = ["refuse"]
