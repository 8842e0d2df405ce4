"""`self.layers: list = [...]` in a `setup` is what `self.layers = [...]` is."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

PROGRAM = """from typing import Any, Optional, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    n: int = 2

    def setup(self):
        self.first: list = [nn.Dense(4)]
        layers: list[nn.Module] = []
        for _ in range(self.n):
            layers.append(nn.Dense(4))
        self.layers: Sequence[nn.Module] = layers  # a comment
        self.pair: tuple = (nn.Dense(4), nn.LayerNorm())
        self.named: dict[str, nn.Module] = {"a": nn.Dense(4)}
        self.rest: Sequence[nn.Module] = tuple(nn.Dense(4) for _ in range(2))
        self.maybe: Optional[nn.Module] = nn.Dense(4) if self.n > 1 else None
        self.w: jax.Array = self.param("w", nn.initializers.normal(), (4,))
        self.total: Any = self.variable("stats", "total", jnp.zeros, (4,))
        self.doubled: jax.Array = self.w * 2
        self.scales: list = [jnp.ones(4), jnp.arange(4.0)]
        self.width: int = self.n * 2

    def __call__(self, x):
        for layer in self.first:
            x = layer(x)
        for layer in self.layers:
            x = layer(x)
        for layer in self.pair:
            x = layer(x)
        for layer in self.rest:
            x = layer(x)
        x = self.named["a"](x)
        if self.maybe is not None:
            x = self.maybe(x)
        self.total.value = self.total.value + x.mean(0)
        return x * self.doubled * self.width + self.total.value * self.scales[1]
"""


@pytest.mark.parametrize("n", [2, 1])
def test_it_is_an_assignment(n: int) -> None:
    before, after = both_sides("annotated_attributes", PROGRAM)
    x = jax.random.normal(jax.random.key(1), (3, 5))
    linen = before.Net(n)
    variables = linen.init(jax.random.key(0), x)
    new = after.Net(n, in_features=5, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x, mutable=["stats"])
    assert "linen" not in vars(after)["Net"].__init__.__globals__ and not hasattr(after, "nn")  # also not in annotations
    assert jnp.shape(new.layers[0].kernel[...]) == (4, 4)
