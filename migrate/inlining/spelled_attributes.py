"""Attributes that a class asks for by a text that it says itself: `getattr(nn, "Dense")(4)` is `nn.Dense(4)`."""

from __future__ import annotations

import ast
import keyword

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree


def with_spelled_attributes(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with the attributes of Linen as such; None where there are none."""
    edits, found = EditSet(source.text), False
    for node in subtree(model):
        if not isinstance(node, ast.Call) or len(node.args) != 2 or node.keywords or ast.unparse(node.func) != "getattr":
            continue
        held, name = node.args
        said = name.value if isinstance(name, ast.Constant) else None
        if not isinstance(said, str) or not said.isidentifier() or keyword.iskeyword(said):
            continue
        if project.qualname(source, held) == "flax.linen" and not source.names.is_hidden("getattr", node):
            edits.replace(source.span(node), f"{source.text_of(held)}.{said}")
            found = True
    return edits.render() if found else None


__all__ = ["with_spelled_attributes"]
