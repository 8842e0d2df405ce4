"""A class that is handed modules and asks which keys its input has, of a name that nothing says anything of."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

TEXT = """import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.core import FrozenDict


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x.reshape(x.shape[0], -1))


class Head(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


class Joined(nn.Module):
    encoder: nn.Module
    network: nn.Module

    @nn.compact
    def __call__(self, observations):
        observations = FrozenDict(observations)
        x = nn.Dense(3)(self.encoder(observations["pixels"]))
        if "states" in observations:
            x = jnp.concatenate([x, nn.LayerNorm()(observations["states"])], axis=-1)
        return self.network(x)


def run(observations, params=None):
    model = Joined(Encoder(), Head())
    made = model.init(jax.random.key(0), observations)
    return made, model.apply(made if params is None else params, observations)
"""
PIXELS = jnp.linspace(-1, 1, 18).reshape(2, 3, 3)


STATES = jnp.arange(10.0).reshape(2, 5)


@pytest.mark.parametrize("observations", [{"pixels": PIXELS}, {"pixels": PIXELS, "states": STATES}])
def test_the_first_call_says_which_modules_there_are(observations: dict[str, Any]) -> None:
    before, after = both_sides("handed_and_asked", TEXT)
    params, out = before.run(observations)
    new_params, new_out = after.run(observations, params)
    assert jax.tree.map(jnp.shape, new_params) == jax.tree.map(jnp.shape, params)
    assert jnp.allclose(out, new_out, atol=1e-6)


@pytest.mark.parametrize("observations", [{"pixels": PIXELS}, {"pixels": PIXELS, "states": STATES}])
def test_where_nothing_is_handed_over_an_example_says_it(observations: dict[str, Any]) -> None:
    text = TEXT.replace("    encoder: nn.Module\n    network: nn.Module\n\n", "")
    text = text.replace("self.encoder(", "Encoder()(").replace("self.network(", "Head()(")
    text = text.replace("Joined(Encoder(), Head())", "Joined()")
    before, after = both_sides("made_and_asked", text)
    linen = before.Joined()
    variables = linen.init(jax.random.key(0), observations)
    model = after.Joined(in_example=observations, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, model, observations)
    compat.from_linen(variables, model)
    assert jnp.array_equal(model(observations), linen.apply(variables, observations))
