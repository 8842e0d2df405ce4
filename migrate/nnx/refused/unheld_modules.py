"""Modules that setup makes and puts where nothing shows them again: `tables.setdefault(key, []).append(nn.Dense(4))`.

Linen finds them in whatever container an attribute holds. NNX has to be told by `nnx.List` and `nnx.Dict`, which refuse
plain containers in them, and a module in no attribute would be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...linen.values.sites import Unmigratable
from ..text.text_parts import short

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def refuse(text: ClassText) -> None:
    run = text.run
    held = [found.value for found in run.attributes.values()]
    held += [argument.abs.value for site in run.sites for argument in site.bound.values()]
    shown = {site for value in held for site in run.modules_in(value)}
    for site in run.sites:
        is_module = site.kind in ("layer", "class") and site.in_setup and not site.lazy
        if is_module and not site.container and site not in shown:
            raise Unmigratable("NNX121", f"setup puts `{short(site.node)}` in a container that is not followed", site.node)


__all__ = ["refuse"]
