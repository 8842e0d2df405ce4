"""Comments between the arguments of what `setup` makes, which is written anew: they go above its statement.

self.head = nn.Dense(                           # starts at zero
    self.width,                            →    self.head = nnx.Linear(in_features, width, kernel_init=zeros, rngs=rngs)
    kernel_init=zeros,  # starts at zero
)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..text import comments

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def keep(writer: ClassWriter) -> None:
    """Put the comments that the edits of `setup` would lose above their statements."""
    method = writer.model.own_methods.get("setup")
    if method is None or "#" not in method.source.text_of(method.node):
        return
    source = method.source
    edits = [edit for edit in writer.edits if edit.source is source and not edit.insert]
    for statement in method.nodes:
        if not isinstance(statement, ast.stmt) or isinstance(statement, comments.COMPOUND):
            continue
        writer.put_before(source, statement, [(said,) for said in comments.lost(source, statement, edits)])
