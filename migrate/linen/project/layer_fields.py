"""Classes that inherit from a Linen layer and say all that it computes anew: of the layer they have only its fields.

`class MaskedDense(nn.Dense)` with a `__call__` that never asks `super()` is a module of its own, constructed as the
layer is. `layer_fields` gives it the layer's fields; it becomes an nnx.Module that has them.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from pathlib import Path

from ...catalog import layers
from ...source import SourceFile
from ...trees import of_kind
from .index import ClassInfo

# Layers whose fields are all that a class with a `__call__` of its own takes from them. The words of theirs that
# outsiders may say, beside `__call__`, must be said by the class itself.
WHOLE = {
    "flax.linen.Dense": frozenset[str](),
    "flax.linen.DenseGeneral": frozenset[str](),
    "flax.linen.Einsum": frozenset[str](),
    "flax.linen.Conv": frozenset({"shared_weights"}),
    "flax.linen.ConvTranspose": frozenset[str](),
    "flax.linen.Embed": frozenset({"attend"}),
    "flax.linen.LayerNorm": frozenset[str](),
    "flax.linen.RMSNorm": frozenset[str](),
    "flax.linen.GroupNorm": frozenset[str](),
}
# Fields that few give or read: a class has them where the project does one or the other.
SELDOM = frozenset(
    {"promote_dtype", "dot_general", "dot_general_cls", "conv_general_dilated", "conv_general_dilated_cls"}
    | {"preferred_element_type", "reduction_axes", "feature_axes", "axis_index_groups", "force_float32_reductions"}
)
# The names in the catalog's defaults, as a file that imports flax.nnx says them.
_SAID = {
    "default_kernel_init": "nnx.initializers.lecun_normal()",
    "default_embed_init": "nnx.nn.linear.default_embed_init",
    "initializers.": "nnx.initializers.",
    "promote_dtype": "promote_dtype",
}
_HEAD = "import jax.numpy as jnp\nfrom flax import nnx\nfrom flax.linen.dtypes import promote_dtype\n\n\n"


def takes_fields_only(info: ClassInfo, foreign: tuple[str, ...]) -> bool:
    """Does the class take nothing but the fields of the one layer that it inherits from?"""
    names = {statement.name for statement in info.node.body if isinstance(statement, ast.FunctionDef)}
    if len(foreign) != 1 or len(info.node.bases) != 1 or "__call__" not in names or "param" in names:
        return False
    known = WHOLE.get(foreign[0])
    asks = any(node.id in ("super", "__class__") for node in of_kind(info.node, ast.Name))
    return known is not None and not asks


@functools.cache
def stub(layer: str) -> SourceFile:
    """The layer's fields as a class of a file of their own."""
    found = layers.lookup(layer)
    assert found is not None
    lines = [f"class {layer.rpartition('.')[2]}(nnx.Module):"]
    for parameter in found.parameters:
        default = parameter.default
        for name, text in _SAID.items():
            if default is not None and default.startswith(name):
                default = text + default[len(name) :]
                break
        kind = {"True": "bool", "False": "bool"}.get(default or "", "object")
        if parameter.name in ("features", "num_embeddings") and layer != "flax.linen.DenseGeneral":
            kind = "int"
        lines.append(f"    {parameter.name}: {kind}{f' = {default}' if default is not None else ''}")
    text = _HEAD + "\n".join(lines) + "\n"
    return SourceFile.parse(Path("<flax.linen>"), "flax.linen", text)


def said_somewhere(field: str, files: Iterable[SourceFile]) -> bool:
    """Does any file give an argument of this name, or read an attribute?"""
    for source in files:
        if field in source.words:
            read = [n for n in source.by_kind.get(ast.Attribute, ()) if n.attr == field]  # type: ignore[attr-defined]
            if any(source.names.raw_qualname(node) is None for node in read):  # not `jax.lax.dot_general`
                return True
            if any(node.arg == field for node in source.by_kind.get(ast.keyword, ())):  # type: ignore[attr-defined]
                return True
    return False


__all__ = ["SELDOM", "WHOLE", "said_somewhere", "stub", "takes_fields_only"]
