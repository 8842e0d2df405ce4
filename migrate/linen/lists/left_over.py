"""Names that a loop leaves behind: `for f in self.sizes: layer = nn.Dense(f)`, then `layer(x)`, calls the last module alone.

Linen makes no variables for the others, which the constructor would make. Where the loop called each of them, all exist.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...frozen import frozen
from ..values.arguments import stored_names
from ..values.merging import Either
from ..values.sites import Abs, Module, Site, Unmigratable
from ..values.values import Unknown


@frozen
class LeftOver(Unknown):
    """The module of a loop's last pass, of which the passes before left one each that nothing called."""


def leave_behind(run: Any, node: ast.For | ast.comprehension, *envs: Any) -> None:
    """After a loop: a module that it bound to a name, and did not call, is not to be called by that name.

    Neither here nor in functions that the loop made, which see the name's last value: `fs.append(lambda x: layer(x))`.
    """
    for env, name in ((env, name) for env in envs for name in stored_names(node)):
        bound = env.names.get(name)
        if bound is None or not isinstance(bound.value, Module | Either):
            continue
        if any(_is_left(run, site) for site in run.modules_in(bound.value)):
            env.names[name] = dataclasses.replace(bound, value=LeftOver(f"`{name}` is the last module of a loop"))


def check(node: ast.Name, bound: Abs) -> None:
    """Refuse a name under which a loop left its last module."""
    if isinstance(bound.value, LeftOver):
        raise Unmigratable("NNX157", f"`{node.id}` is the last module of a loop, which calls none of the others", node)


def _is_left(run: Any, site: Site) -> bool:
    around = [run.joined_loops.get(loop, loop) for loop in site.loops]
    return not site.calls and any(loop not in run.loops for loop in around)
