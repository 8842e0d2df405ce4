"""RNN, Bidirectional, Sequential and BatchApply made where they are called: keys as in Linen's compact methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.migrate.catalog import layers

from .sides import by_key, flat, namespace, randomized, same, transplant

X = jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, 6)), jnp.float32)
PARITY = namespace(("BatchApply", "GRUCell", "SimpleCell"))["linen_parity"]


def linen(body: Callable[[jax.Array], jax.Array]) -> nn.Module:
    class Linen(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            return body(x)

    return Linen()


def native(layers: dict[str, Callable[[nnx.Rngs], Any]], body: Callable[[Any, jax.Array], jax.Array]) -> nnx.Module:
    class Native(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            for name, make in layers.items():
                setattr(self, name, make(rngs))

        def __call__(self, x: jax.Array) -> jax.Array:
            return body(self, x)

    return Native(nnx.Rngs(0))


def norm(r: nnx.Rngs) -> nnx.BatchNorm:
    return nnx.BatchNorm(4, use_running_average=False, rngs=r)


CASES: dict[str, tuple[nn.Module, nnx.Module]] = {
    "RNN": (
        linen(lambda x: nn.RNN(nn.SimpleCell(3))(x)),
        native(
            {"SimpleCell_0": lambda r: PARITY.SimpleCell(6, 3, rngs=r)},
            lambda m, x: nnx.RNN(m.SimpleCell_0)(x),
        ),
    ),
    "Bidirectional": (
        linen(lambda x: nn.Bidirectional(nn.RNN(nn.LSTMCell(3)), nn.RNN(nn.GRUCell(4)))(x)),
        native(
            {
                "LSTMCell_0": lambda r: nnx.LSTMCell(6, 3, rngs=r),
                "GRUCell_0": lambda r: PARITY.GRUCell(6, 4, rngs=r),
            },
            lambda m, x: nnx.Bidirectional(nnx.RNN(m.LSTMCell_0), nnx.RNN(m.GRUCell_0))(x),
        ),
    ),
    "Sequential": (
        linen(lambda x: nn.Sequential([nn.Dense(4), nn.BatchNorm(use_running_average=False), nn.relu, nn.Dense(2)])(x)),
        native(
            {
                "Dense_0": lambda r: nnx.Linear(6, 4, rngs=r),
                "BatchNorm_0": norm,
                "Dense_1": lambda r: nnx.Linear(4, 2, rngs=r),
            },
            lambda m, x: nnx.Sequential(m.Dense_0, m.BatchNorm_0, nnx.relu, m.Dense_1)(x),
        ),
    ),
    "BatchApply": (
        linen(lambda x: nn.BatchApply(nn.Dense(4))(x)),
        native({"Dense_0": lambda r: nnx.Linear(6, 4, rngs=r)}, lambda m, x: PARITY.BatchApply(m.Dense_0)(x)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_made_where_it_is_called(name: str) -> None:
    """Keys, outputs, statistics and gradients, twice in a row, under nnx.jit."""
    layer = layers.lookup(f"flax.linen.{name}")
    assert layer is not None and layer.wrapper
    before, model = CASES[name]
    variables = randomized(jax.eval_shape(before.init, jax.random.key(0), X))
    transplant(variables, model)

    def loss(params: Any, variables: Any) -> Any:
        out, new = before.apply({**variables, "params": params}, X, mutable=["batch_stats"])
        return jnp.sum(jnp.sin(out)), new

    @nnx.jit
    def step(model: Any) -> Any:
        return nnx.value_and_grad(lambda m: jnp.sum(jnp.sin(m(X))))(model)

    for _ in range(2):
        (value, new), grads = jax.jit(jax.value_and_grad(loss, has_aux=True))(variables["params"], variables)
        native_value, native_grads = step(model)
        np.testing.assert_allclose(value, native_value, rtol=1e-6)
        got = {"/".join(map(str, path)).replace("if_", "if"): v[...] for path, v in nnx.to_flat_state(native_grads)}
        want = by_key(grads)
        assert got.keys() == want.keys()
        for key in want:
            np.testing.assert_allclose(want[key], got[key], rtol=1e-5, atol=1e-6)
        variables = {**variables, **new}
        for key, statistic in flat(model, "batch_stats").items():
            same(by_key(variables["batch_stats"])[key], statistic[...], key)
