"""Logical names that Linen keeps in a collection beside the parameters (`params_axes`) are compared with NNX's own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn
from flax import nnx
from flax.linen import partitioning
from nnx_migrate import compat


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x):
        kernel = partitioning.param_with_axes(
            "kernel", nn.initializers.lecun_normal(), (x.shape[-1], 3), jnp.float32, axes=("embed", "mlp")
        )
        return x @ kernel


class Native(nnx.Module):
    def __init__(self, names: tuple[str, ...], *, rngs: nnx.Rngs) -> None:
        value = nnx.initializers.lecun_normal()(rngs.params(), (4, 3))
        self.kernel = nnx.Param(value, out_sharding=names, eager_sharding=False)

    def __call__(self, x: jax.Array) -> jax.Array:
        return x @ self.kernel[...]


@pytest.mark.parametrize(("names", "verdict"), [(("embed", "mlp"), "proved"), (("mlp", "embed"), "different")])
def test_names_of_params_axes_are_compared(names: tuple[str, ...], verdict: str) -> None:
    x = jnp.ones((2, 4))
    module = Linen()
    variables = module.init(jax.random.key(0), x)
    assert "params_axes" in variables
    model = Native(names, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    report = compat.check_equivalence(module, variables, model, x)
    assert str(report.verdict) == verdict
