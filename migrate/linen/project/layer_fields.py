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
    "flax.linen.BatchNorm": frozenset[str](),
    "flax.linen.Dropout": frozenset[str](),
    "flax.linen.MultiHeadDotProductAttention": frozenset[str](),
}
# Fields that few give or read: a class has them where the project does one or the other.
SELDOM = frozenset(
    {"promote_dtype", "dot_general", "dot_general_cls", "conv_general_dilated", "conv_general_dilated_cls"}
    | {"preferred_element_type", "reduction_axes", "feature_axes", "axis_index_groups", "force_float32_reductions"}
    | {"axis", "decode", "force_fp32_for_softmax", "qkv_dot_general", "out_dot_general", "qkv_dot_general_cls"}
    | {"out_dot_general_cls", "qk_attn_weights_einsum_cls", "attn_weights_value_einsum_cls", "attention_fn"}
)
# Whose arguments are no fields: `x.mean(axis=1)`, `jnp.stack(parts, axis=-1)`.
_LIBRARIES = ("jax.", "numpy.", "einops.", "optax.")
_OF_ARRAYS = frozenset(
    {"all", "any", "argmax", "argmin", "argsort", "cumsum", "max", "mean", "min", "prod", "repeat", "sort", "squeeze"}
    | {"std", "sum", "take", "var"}
)
# The names in the catalog's defaults, as a file that imports flax.nnx says them.
_SAID = {
    "default_kernel_init": "nnx.initializers.lecun_normal()",
    "default_embed_init": "nnx.nn.linear.default_embed_init",
    "initializers.": "nnx.initializers.",
    "dot_product_attention": "dot_product_attention",
    "promote_dtype": "promote_dtype",
}
_HEAD = "import jax.numpy as jnp\nfrom flax import nnx\nfrom flax.linen.dtypes import promote_dtype\n"
_HEAD += "from flax.linen import dot_product_attention\n\n\n"


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
            given = [n for n in source.by_kind.get(ast.keyword, ()) if n.arg == field]  # type: ignore[attr-defined]
            if not all(_is_of_library(source, node) for node in given):
                return True
    return False


def _is_of_library(source: SourceFile, keyword: ast.AST) -> bool:
    """Is it an argument of a function or method of arrays?"""
    call = source.parents.get(keyword)
    func = call.func if isinstance(call, ast.Call) else None
    name = source.names.raw_qualname(func) if isinstance(func, ast.Name | ast.Attribute) else None
    if name is not None:
        return name.startswith(_LIBRARIES)
    return isinstance(func, ast.Attribute) and func.attr in _OF_ARRAYS


__all__ = ["SELDOM", "WHOLE", "said_somewhere", "stub", "takes_fields_only"]
