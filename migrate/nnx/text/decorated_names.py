"""What Linen calls a class that a decorator lifts: `@functools.partial(nn.vmap, ...) class Block` makes `VmapBlock_0`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...linen.lifted.lifted_aliases import lifted_kind
from ...linen.lifted.lifting import LIFTED
from ...linen.values.sites import Site, Unmigratable
from ..refused.class_decorators import lifts

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution


def prefix(run: Execution, site: Site, of_kinds: Mapping[str, str]) -> str:
    """What stands before the class's own name; nothing where no decorator lifts it.

    Raises:
        Unmigratable: where a decorator is a function of the project, whose class may be called anything.
    """
    model = run.analyser.classes.get(site.target)
    if model is None:
        return ""
    said = ""
    for decorator in model.node.decorator_list:
        kind = lifted_kind(run.project, model.source, decorator)
        kind = kind or LIFTED.get(run.project.qualname(model.source, decorator) or "", "")
        if kind and "partitioning" not in ast.unparse(decorator):
            said += of_kinds[kind]
        elif lifts(run.project, model.source, decorator):
            what = f"`{ast.unparse(decorator)}` lifts {model.node.name}, and what Linen calls its modules then is not known"
            raise Unmigratable("NNX130", what, site.node)
    return said


__all__ = ["prefix"]
