"""Each function's new name is the same object, or computes the same."""

from __future__ import annotations

import importlib
import types
from typing import Any

import flax.linen as nn
import flax.typing
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.catalog import functions, layers

from .sides import namespace, same


def resolve(dotted: str) -> Any:
    """The object of a canonical Linen name: defined in one of flax.linen's modules; or of a plain dotted name."""
    if dotted.startswith("flax.linen."):
        name = dotted.removeprefix("flax.linen.")
        for module in ("", ".linear", ".dtypes", ".attention", ".normalization", ".recurrent", ".pooling"):
            found: Any = importlib.import_module(f"flax.linen{module}")
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is not None:
                return found
        return getattr(flax.typing, name)
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise LookupError(dotted)


SAME_OBJECT = [
    (linen, target)
    for linen, target in functions.FUNCTIONS.items()
    if not target.startswith(("linen_parity.", "flax.nnx.nn.")) and "mask" not in linen
]
_SAME_CODE = {"flax.linen.initializers.zeros_init", "flax.linen.initializers.ones_init"}
_SAME_CODE |= {"flax.linen.zeros_init", "flax.linen.ones_init"}


@pytest.mark.parametrize("linen, target", SAME_OBJECT)
def test_same_object(linen: str, target: str) -> None:
    before, after = resolve(linen), resolve(target)
    assert before is after or (linen in _SAME_CODE and before() is after())


Q, K, V = (jnp.asarray(np.random.default_rng(i).normal(size=(2, 5, 3, 4)), jnp.float32) for i in range(3))
LOW = Q.astype(jnp.bfloat16)
KEY = jax.random.key(0)
MASK = jnp.tril(jnp.ones((5, 5)))
CALLS: list[tuple[str, str]] = [
    ("BatchApply", "f(lambda x: x.sum(-1), num_dims=3)(Q)"),
    ("make_attention_mask", "f(Q[0, 0, 0] > 0, Q[0, 0, 1] > 0, extra_batch_dims=1)"),
    ("make_causal_mask", "f(Q[..., 0, 0], extra_batch_dims=2)"),
    ("combine_masks", "f(MASK, None, MASK > 0, dtype=jnp.float32)"),
    ("combine_masks", "f(None)"),
    ("dot_product_attention", "f(Q, K, V, mask=MASK)"),
    ("dot_product_attention", "f(LOW, LOW, LOW, precision='highest')"),
    ("dot_product_attention", "f(Q, K, V, K[:, 0, :, :1, None], force_fp32_for_softmax=True, dtype=jnp.bfloat16)"),
    ("dot_product_attention", "f(Q, K, V, dropout_rng=KEY, dropout_rate=0.5)"),
    ("dot_product_attention", "f(Q, K, V, broadcast_dropout=False, dropout_rng=KEY, dropout_rate=0.5)"),
    ("dot_product_attention", "f(Q, K, V, qk_attn_weights_einsum=jnp.einsum, attn_weights_value_einsum=jnp.einsum)"),
    ("dot_product_attention_weights", "f(Q, K, mask=MASK, einsum_dot_general=jax.lax.dot_general)"),
    ("dot_product_attention_weights", "f(LOW, K, dropout_rate=0.5, deterministic=True)"),
    ("merge_param", "f('a', None, 3)"),
    ("merge_param", "f('a', False, None)"),
    ("promote_dtype", "f(LOW, Q, None)"),
    ("promote_dtype", "f(jnp.arange(3), dtype=jnp.bfloat16)"),
    ("dtypes.promote_dtype", "f(jnp.arange(3), inexact=False)"),
    ("canonicalize_dtype", "jnp.zeros((), f(LOW, Q))"),
    ("dtypes.canonicalize_dtype", "jnp.zeros((), f(jnp.arange(3)))"),
    ("default_kernel_init", "f(KEY, (4, 3))"),
    ("default_embed_init", "f(KEY, (4, 3))"),
    ("canonicalize_padding", "f((1, (2, 3)), 2)"),
    ("_conv_dimension_numbers", "tuple(f((1, 4, 4, 2)))"),
    ("_canonicalize_tuple", "f(3)"),
    ("_normalize_axes", "f((-1, 1), 4)"),
    ("_canonicalize_axes", "f(4, (-1, 1))"),
    ("_abs_sq", "f(Q)"),
    ("_l2_normalize", "f(Q, axis=-1)"),
    ("_compute_stats", "f(LOW, (-1, 0), None)"),
    ("_compute_stats", "f(Q, -1, jnp.bfloat16, use_mean=False, mask=Q > 0, force_float32_reductions=False)"),
    ("flip_sequences", "f(Q, jnp.asarray([3, 5]), num_batch_dims=1, time_major=False)"),
]


@pytest.mark.parametrize("name, call", CALLS)
def test_same_result(name: str, call: str) -> None:
    target = functions.FUNCTIONS[f"flax.linen.{name}"]
    before = resolve(f"flax.linen.{name}")
    if target.startswith("linen_parity."):
        part = target.partition(".")[2]
        after = getattr(namespace((part,))["linen_parity"], part)
    else:
        after = resolve(target)
    names = {"Q": Q, "K": K, "V": V, "LOW": LOW, "KEY": KEY, "MASK": MASK, "jnp": jnp, "jax": jax}
    same(eval(call, {**names, "f": before}), eval(call, {**names, "f": after}), name)


def test_every_function_is_tested() -> None:
    tested = {f"flax.linen.{name}" for name, _ in CALLS} | {linen for linen, _ in SAME_OBJECT}
    assert tested == set(functions.FUNCTIONS)


@pytest.mark.parametrize("a, b", [(None, None), (1, 2)])
def test_merge_param_raises(a: Any, b: Any) -> None:
    after = namespace(("merge_param",))["linen_parity"].merge_param
    for merge in (nn.merge_param, after):
        with pytest.raises(ValueError, match="flag"):
            merge("flag", a, b)


# Public names of flax.linen that other parts of the tool deal with.
ELSEWHERE = {
    "modules": "Module RNNCellBase Variable apply bind broadcast compact compact_name_scope disable_named_call "
    "enable_named_call init init_with_output intercept_methods kw_only_dataclasses nowrap override_named_call "
    "share_scope tabulate named_call DenyList FrozenDict",
    "transforms": "add_metadata_axis checkpoint cond custom_vjp fold_rngs grad jit jvp map_variables remat remat_scan "
    "scan switch value_and_grad vjp vmap while_loop",
    "sharding": "LogicallyPartitioned PARTITION_NAME Partitioned get_logical_axis_rules get_partition_spec "
    "get_sharding logical_axis_rules logical_to_mesh logical_to_mesh_axes logical_to_mesh_sharding "
    "set_logical_axis_rules unbox with_logical_constraint with_logical_partitioning with_partitioning",
    "submodules": "activation attention batch_apply combinators dtypes fp8_ops initializers linear meta module "
    "normalization pooling recurrent spmd stochastic summary transforms",
}


def test_nothing_public_is_forgotten() -> None:
    elsewhere = {name for names in ELSEWHERE.values() for name in names.split()}
    # A submodule is an attribute as soon as anything has imported it (`partitioning`).
    public = {name for name in dir(nn) if not name.startswith("_") and not isinstance(getattr(nn, name), types.ModuleType)}
    missing = [
        name
        for name in sorted(public - elsewhere)
        if not layers.lookup(f"flax.linen.{name}") and not functions.function(f"flax.linen.{name}")
    ]
    assert missing == []


def test_class_mentions_exist() -> None:
    for linen in layers.catalog():
        target = functions.class_name(linen)
        if target is None:
            assert "Fp8" in linen or functions.function(linen)
        elif target.startswith("linen_parity."):
            assert hasattr(namespace((target.partition(".")[2],))["linen_parity"], target.partition(".")[2])
        else:
            assert isinstance(resolve(target), type)
