"""What is neither layer nor transform in flax.linen: functions, initializers, types. Linen name → today's name.

A value that starts with `linen_parity.` is a part of the generated module. tests/migrate/catalog checks that each pair
is one object or computes the same.
"""

from __future__ import annotations

import functools


def _words(*lines: str) -> list[str]:
    return " ".join(lines).split()


_ACTIVATIONS = _words(
    "celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax logsumexp",
    "one_hot relu relu6 selu sigmoid silu soft_sign softmax softplus standardize swish tanh",
)
_INITIALIZERS = _words(
    "constant delta_orthogonal glorot_normal glorot_uniform he_normal he_uniform kaiming_normal kaiming_uniform",
    "lecun_normal lecun_uniform normal ones ones_init orthogonal truncated_normal uniform variance_scaling",
    "xavier_normal xavier_uniform zeros zeros_init",
)
# What flax.linen's modules import from flax.typing, and what people import from there.
_TYPES = _words(
    "Array Axes ConvGeneralDilatedT DotGeneralT Dtype Initializer LaxPadding PRNGKey PaddingLike PrecisionLike Shape"
)

FUNCTIONS: dict[str, str] = {
    **{f"flax.linen.{name}": f"flax.nnx.{name}" for name in _ACTIVATIONS},
    "flax.linen.normalize": "flax.nnx.standardize",
    **{f"flax.linen.{name}": f"flax.nnx.{name}" for name in ("avg_pool", "max_pool", "min_pool", "pool")},
    **{f"flax.linen.initializers.{name}": f"flax.nnx.initializers.{name}" for name in _INITIALIZERS},
    "flax.linen.initializers.Initializer": "flax.nnx.Initializer",
    **{f"flax.linen.{name}": f"flax.nnx.initializers.{name}" for name in ("ones", "ones_init", "zeros", "zeros_init")},
    **{f"flax.linen.{name}": f"flax.typing.{name}" for name in _TYPES},
    "flax.linen.make_attention_mask": "flax.nnx.make_attention_mask",
    "flax.linen.make_causal_mask": "flax.nnx.make_causal_mask",
    "flax.linen.combine_masks": "flax.nnx.combine_masks",
    "flax.linen.dot_product_attention": "linen_parity.dot_product_attention",
    "flax.linen.dot_product_attention_weights": "linen_parity.dot_product_attention_weights",
    "flax.linen.BatchApply": "linen_parity.BatchApply",  # a plain class
    "flax.linen.merge_param": "linen_parity.merge_param",
    "flax.linen.promote_dtype": "linen_parity.promote_dtype",
    "flax.linen.dtypes.promote_dtype": "linen_parity.promote_dtype",
    "flax.linen.canonicalize_dtype": "flax.nnx.nn.dtypes.canonicalize_dtype",
    "flax.linen.dtypes.canonicalize_dtype": "flax.nnx.nn.dtypes.canonicalize_dtype",
    "flax.linen.default_kernel_init": "flax.nnx.nn.linear.default_kernel_init",
    "flax.linen.default_embed_init": "flax.nnx.nn.linear.default_embed_init",
    "flax.linen.canonicalize_padding": "flax.nnx.nn.linear.canonicalize_padding",
    "flax.linen._conv_dimension_numbers": "flax.nnx.nn.linear._conv_dimension_numbers",
    "flax.linen._canonicalize_tuple": "flax.nnx.nn.linear._canonicalize_tuple",
    "flax.linen._normalize_axes": "flax.nnx.nn.linear._normalize_axes",
    "flax.linen._canonicalize_axes": "flax.nnx.nn.normalization._canonicalize_axes",
    "flax.linen._abs_sq": "flax.nnx.nn.normalization._abs_sq",
    "flax.linen._l2_normalize": "flax.nnx.nn.normalization._l2_normalize",
    "flax.linen._compute_stats": "linen_parity.moments",
    "flax.linen.flip_sequences": "flax.nnx.nn.recurrent.flip_sequences",
}

# Modules, where they are used as values: `getattr(nn.initializers, name)`.
MODULES: dict[str, str] = {
    "flax.linen.initializers": "flax.nnx.initializers",
    "flax.linen.activation": "flax.nnx",
}

# Only where a class is meant, not made: annotations, isinstance.
_CLASSES: dict[str, str] = {
    "flax.linen.Module": "flax.nnx.Module",
    "flax.linen.RNNCellBase": "flax.nnx.RNNCellBase",
    "flax.linen.Dense": "flax.nnx.Linear",
    "flax.linen.DenseGeneral": "flax.nnx.LinearGeneral",
    "flax.linen.MultiHeadDotProductAttention": "flax.nnx.MultiHeadAttention",
    "flax.linen.SelfAttention": "flax.nnx.MultiHeadAttention",
    **{
        f"flax.linen.{name}": f"flax.nnx.{name}"
        for name in _words(
            "BatchNorm Bidirectional Conv ConvTranspose Dropout Einsum Embed GroupNorm InstanceNorm LSTMCell LayerNorm",
            "MultiHeadAttention PReLU RMSNorm RNN Sequential",
        )
    },
    **{
        f"flax.linen.{name}": f"linen_parity.{name}"
        for name in _words("ConvLSTMCell ConvLocal GRUCell MGUCell OptimizedLSTMCell SimpleCell SpectralNorm WeightNorm")
    },
}


def function(qualname: str) -> str | None:
    """Today's name of a Linen function, initializer or type; `linen_parity.<part>` for a generated one."""
    return FUNCTIONS.get(qualname)


@functools.cache
def class_name(qualname: str) -> str | None:
    """Today's name of a Linen class, for annotations and isinstance."""
    return _CLASSES.get(qualname)


def classes_named(target: str) -> list[str]:
    """The Linen classes of which this is today's name: of attention layers, NNX has one for all."""
    return [qualname for qualname, name in _CLASSES.items() if name == target]
