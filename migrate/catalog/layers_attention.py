"""Attention layers: nnx.MultiHeadAttention with Linen's attention function.

NNX computes attention without dropout by another kernel, which ignores `precision`;
`linen_parity.dot_product_attention` is Linen's. NNX's `decode` must be set and its cache be made before the first
call, where Linen makes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from ..edits import Parts
from ..linen.values.values import Array, Const, Global, Unknown, Value
from .layers import (
    Arg,
    Built,
    Call,
    CallText,
    Draft,
    Layer,
    Ref,
    Unsupported,
    is_const,
    is_none,
    params,
    shape_of,
    size_of,
    split_call,
    why_of,
)
from .layers_linear import dot_general
from .layers_norm import keeps_order

_FIELDS = (
    "num_heads, dtype=None, param_dtype=jnp.float32, qkv_features=None, out_features=None, broadcast_dropout=True,"
    "dropout_rate=0.0, deterministic=None, precision=None, kernel_init=default_kernel_init, out_kernel_init=None,"
    "bias_init=initializers.zeros_init(), out_bias_init=None, use_bias=True, attention_fn=dot_product_attention,"
    "decode=False, normalize_qk=False, force_fp32_for_softmax=False, qkv_dot_general=None, out_dot_general=None,"
    "qkv_dot_general_cls=None, out_dot_general_cls=None, qk_attn_weights_einsum_cls=None,"
    "attn_weights_value_einsum_cls=None"
)


_ONE_WIDTH = "the keys and the values of attention must have one width; else its call fails"
_MASKS = ("mask", "make_attention_mask", "make_causal_mask", "combine_masks")


def _says_mask(node: ast.expr) -> bool:
    """`mask`, `self.decoder_mask`, `nn.make_causal_mask(tokens)`"""
    named = node.func if isinstance(node, ast.Call) else node
    name = named.id if isinstance(named, ast.Name) else named.attr if isinstance(named, ast.Attribute) else ""
    return name.lower() in _MASKS if isinstance(node, ast.Call) else name.lower().endswith("mask")


class MultiHeadDotProductAttention(Layer):
    linen = "flax.linen.MultiHeadDotProductAttention"
    parameters = params(_FIELDS)
    call_parameters = params(
        "inputs_q, inputs_k=None, inputs_v=None, *, inputs_kv=None, mask=None, deterministic=None, dropout_rng=None,"
        "sow_weights=False"
    )
    call_aliases: Mapping[str, str] = {"inputs_kv": "inputs_k"}
    collections = frozenset({"params", "cache"})
    streams = frozenset({"dropout"})
    call_time_fields: Mapping[str, str] = {"deterministic": "deterministic", "decode": "decode"}
    instead_of_moved: Mapping[str, str] = {"decode": "False"}

    def __init__(self, name: str = "") -> None:
        if name:
            self.linen = f"flax.linen.{name}"

    def collections_of(self, args: Mapping[str, Arg]) -> frozenset[str]:
        decode = args.get("decode")
        return frozenset({"params"}) if decode is None or is_const(decode, False) else self.collections

    def bind_call(self, call: Call) -> dict[str, Value]:
        if self._is_old_call(call.args):
            names = ("inputs_q", "inputs_k", "mask", "deterministic")
            return {**dict(zip(names, call.args)), **call.keywords}
        return super().bind_call(call)

    def named_today(self, node: ast.Call, values: Sequence[Value]) -> dict[int, str]:
        """Before flax 0.7.4 the third is the mask; today it is the values, as wide as the keys, whatever their name."""
        if len(node.args) != 3 or not _says_mask(node.args[2]) or all(p.name != "inputs_v" for p in self.call_parameters):
            return {}
        keys, third = shape_of(values[1]).dim(-1), shape_of(values[2]).dim(-1)
        return {} if keys is not None and keys == third else {2: "mask"}

    def _is_old_call(self, args: Sequence[object]) -> bool:
        """Before flax 0.7.4: `(inputs_q, inputs_kv, mask, deterministic)`; four by position cannot mean today's."""
        return len(args) == 4 and not any(p.name == "mask" and not p.keyword_only for p in self.call_parameters)

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        args = draft.args
        for field in ("qk_attn_weights_einsum_cls", "attn_weights_value_einsum_cls"):
            if not is_none(args.get(field)):
                raise Unsupported("NNX203", f"attention with {field}")
            draft.drop(field)
        query = call.get("inputs_q") if call else None
        draft.move("num_heads", "num_heads", positional=True)
        in_features = shape_of(query).dim(-1)
        draft.size("in_features", in_features, why_of(query))
        keys = self._keys(call or {})
        if keys is not None and not draft.is_partial:
            size = shape_of(keys).dim(-1)
            if size != in_features:
                draft.size("in_kv_features", size, why_of(keys), keyword=True)
            values = (call or {}).get("inputs_v")
            other = shape_of(values).dim(-1) if isinstance(values, Array) else None
            if size is not None and other not in (None, size):
                if size.single_atom() is None or other.single_atom() is None:
                    raise Unsupported("NNX203", "attention whose keys and values have different sizes")
                draft.notes.append(("NNX117", _ONE_WIDTH))
        draft.move("qkv_features", "qkv_features")
        draft.move("out_features", "out_features")
        self._flag(draft)
        self._attention(draft)
        decode = args.get("decode")
        caches = decode is not None and not is_const(decode, False)
        draft.drop("decode")
        if decode is None:
            draft.put("decode", "False")
        else:
            draft.put_parts("decode", decode.parts)
        dot_general(draft, "qkv_dot_general")
        dot_general(draft, "out_dot_general")
        draft.rest()
        normalize = args.get("normalize_qk")
        if normalize is not None and not is_const(normalize, False) and not keeps_order(args):
            draft.put("ln_promote_dtype", draft.need("keep"))
        if caches:
            draft.notes.append(("NNX207", "the first call of a decoding model makes its cache: give it the full length"))
        return draft.finish(draft.need("MultiHeadAttention") if caches else "flax.nnx.MultiHeadAttention")

    @staticmethod
    def _flag(draft: Draft) -> None:
        """Without dropout Linen needs no `deterministic`, and neither does NNX, whose default is None as well."""
        draft.move("deterministic", "deterministic")

    @staticmethod
    def _attention(draft: Draft) -> None:
        function, forced = draft.args.get("attention_fn"), draft.args.get("force_fp32_for_softmax")
        draft.drop("attention_fn", "force_fp32_for_softmax")
        plain = function is None or function.value == Global("flax.linen.dot_product_attention")
        fp32 = forced is not None and not is_const(forced, False)
        if plain and not fp32:
            draft.put("attention_fn", draft.need("dot_product_attention"))
            return
        if plain:
            inner: Parts = (draft.need("dot_product_attention"),)
        else:
            assert function is not None
            inner = function.parts
        if fp32:
            assert forced is not None
            inner = (*inner, ", force_fp32_for_softmax=", *forced.parts)
        draft.put_parts("attention_fn", (draft.need("attention_fn"), "(", *inner, ")"))

    @staticmethod
    def _keys(call: Mapping[str, Value]) -> Value | None:
        for name in ("inputs_kv", "inputs_k"):
            value = call.get(name)
            if value is not None and value != Const(None):
                return value
        return None

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        query = call.get("inputs_q")
        if not isinstance(query, Array):
            return Unknown(why_of(query))
        out = args.get("out_features")
        features = query.shape.dim(-1) if is_none(out) else size_of(out)
        return Array(query.shape.replace_last(1, features))

    def call(
        self, args: Mapping[str, Arg], positional: Sequence[Parts], keywords: Sequence[tuple[str | None, Parts]]
    ) -> CallText:
        if self._is_old_call(positional):
            old: list[tuple[str | None, Parts]] = [("mask", positional[2]), ("deterministic", positional[3])]
            positional, keywords = positional[:2], [*old, *keywords]
        kept, named = split_call(self.call_parameters, positional, keywords, 3)
        return kept, [self._keyword(name, parts) for name, parts in named], None

    def _keyword(self, name: str | None, parts: Parts) -> tuple[str | None, Parts]:
        if name == "dropout_rng":
            return "rngs", (Ref("linen_parity.use_key"), "(", *parts, ")")
        return self.call_aliases.get(name or "", name), parts

    def parity_of_call(self, args: Mapping[str, Arg], keywords: Iterable[str | None]) -> tuple[str, ...]:
        return ("use_key",) if "rngs" in keywords else ()


class SelfAttention(MultiHeadDotProductAttention):
    linen = "flax.linen.SelfAttention"
    call_parameters = params("inputs_q, mask=None, deterministic=None, dropout_rng=None, sow_weights=False")

    def call(
        self, args: Mapping[str, Arg], positional: Sequence[Parts], keywords: Sequence[tuple[str | None, Parts]]
    ) -> CallText:
        kept, named = split_call(self.call_parameters, positional, keywords, 1)
        return kept, [self._keyword(name, parts) for name, parts in named], None


LAYERS: tuple[Layer, ...] = (
    MultiHeadDotProductAttention(),
    MultiHeadDotProductAttention("MultiHeadAttention"),
    SelfAttention(),
)
