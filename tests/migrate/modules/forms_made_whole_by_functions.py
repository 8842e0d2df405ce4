"""Functions that make a whole of several modules for `setup`: what they hand over is no matter of other code."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Fourier(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        w = self.param("kernel", nn.initializers.normal(0.2), (self.size // 2, x.shape[-1]))
        return jnp.concatenate([jnp.cos(x @ w.T), jnp.sin(x @ w.T)], -1)


class Layers(nn.Module):
    sizes: Any

    @nn.compact
    def __call__(self, x, train=False):
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return x / 2 if train else x


class Score(nn.Module):
    before: nn.Module
    within: nn.Module
    behind: nn.Module

    def __call__(self, x, noisy, time, train=False):
        t = self.within(self.before(time), train=train)
        return self.behind(jnp.concatenate([t, x, noisy], -1), train=train)


def create(width, size):
    """A whole."""
    return Score(Fourier(size), Layers((2 * size, size)), Layers((8, width)))


class Of(nn.Module):
    horizon: int = 2

    def setup(self):
        self.model = create(3 * self.horizon, 4)

    def __call__(self, x, noisy, time, train=True):
        return self.model(x, noisy, time, train=train)


class Head(nn.Module):
    horizon: int = 2

    def setup(self):
        self.model = create(3 * self.horizon, size=4)
        self.last = nn.Dense(2)

    def __call__(self, tokens, noisy, time, train: bool = False):
        return self.last(self.model(tokens.mean(-2), noisy, time, train=train))


CASES = [
    ("Of", {}, [(2, 5), (2, 6), (2, 1)], {}),
    ("Of", {"horizon": 3}, [(2, 5), (2, 9), (2, 1)], {"train": False}),
    ("Head", {}, [(2, 3, 5), (2, 6), (2, 1)], {}),
]
