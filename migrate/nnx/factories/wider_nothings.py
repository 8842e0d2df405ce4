"""Functions that make nothing and are handed to a class as a layer's factory: they take what NNX gives a layer.

norm = lambda: lambda x: x                          norm = lambda *args, **kwargs: lambda x: x
return Block(norm)(x)                       →       self.Block_0 = Block(norm, in_features=4, rngs=rngs)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...linen.modules.lost_factories import narrow_nothings

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def write(writer: ClassWriter) -> None:
    """The edits of those that a class hands on."""
    for site in writer.run.sites:
        for argument in site.bound.values() if site.kind == "class" else ():
            for nothing in narrow_nothings(argument.abs.value):
                wider = nothing.wider()
                if wider is not None:
                    function, span, said = wider
                    writer.put(span, said, source=function.source)


__all__ = ["write"]
