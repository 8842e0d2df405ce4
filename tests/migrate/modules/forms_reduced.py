"""`functools.reduce` over what is not an array, and by functions that change the width."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn


class Twice(nn.Module):
    """As many times as a field says: no shape is known."""

    times: int = 1

    @nn.compact
    def __call__(self, x, y):
        double = lambda a, _: jnp.concatenate([a, a], axis=-1)  # noqa: E731
        x, y = functools.reduce(double, range(self.times), x), functools.reduce(double, range(self.times), y)
        a, b = jax.tree.leaves({"a": x, "b": y})
        return (
            nn.Dense(3)(a) + nn.Dense(3)(b) + nn.Dense(3)(jnp.concatenate([a, b], -1)) + nn.Dense(3)(b + 1) * nn.Dense(3)(a)
        )


class AsItIs(nn.Module):
    times: int = 2

    @nn.compact
    def __call__(self, x):
        x = functools.reduce(lambda a, i: nn.relu(a + i), range(self.times), x)
        return nn.Dense(3)(x)


class Layers(nn.Module):
    depth: int = 2

    def setup(self):
        self.layers = [nn.Dense(6) for _ in range(self.depth)]
        self.last = nn.Dense(3)

    def __call__(self, x):
        return self.last(functools.reduce(lambda a, layer: nn.relu(layer(a)), self.layers, x))


CASES = [
    ("Twice", {}, [(2, 4), (2, 3)], {}),
    ("Twice", {"times": 2}, [(2, 4), (2, 3)], {}),
    ("AsItIs", {}, [(2, 4)], {}),
    ("Layers", {}, [(2, 4)], {}),
]
