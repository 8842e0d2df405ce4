"""First values whose scale is a number that follows from sizes: `1 / math.sqrt(n)`."""

from __future__ import annotations

import math

import flax.linen as nn
import jax
import numpy as np


class Noisy(nn.Module):
    features: int
    sigma: float = 0.5

    @nn.compact
    def __call__(self, x, deterministic=True):
        n = x.shape[-1]
        bound = 1 / math.sqrt(n)
        uniform = lambda key, shape: jax.random.uniform(key, shape, minval=-bound, maxval=bound)
        kernel = self.param("kernel", uniform, (n, self.features))
        noise = self.param("noise", nn.initializers.constant(self.sigma * bound), (n, self.features))
        if deterministic:
            return x @ kernel + noise.sum() * bound
        return x @ (kernel + noise * jax.random.normal(self.make_rng("noise"), noise.shape))


class InLoops(nn.Module):
    widths: tuple[int, ...] = (4, 6)

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            std = (2.0 / x.shape[-1]) ** 0.5
            x = nn.Dense(width, kernel_init=nn.initializers.normal(std))(x)
            x = x * std
        return x


class ByPowers(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, x):
        fan = x.shape[-1]
        limit = np.sqrt(6 / (fan + self.features))
        low, high = -limit, limit * fan**-0.5
        w = self.param("w", lambda k, s: jax.random.uniform(k, s, minval=low, maxval=high), (fan, self.features))
        scale = self.features / fan
        b = self.param("b", nn.initializers.normal(scale), (self.features,))
        return x @ w * limit + b * scale


class StillSizes(nn.Module):
    ratio: float = 1.5

    @nn.compact
    def __call__(self, x):
        wide = x.shape[-1] * self.ratio
        half = x.shape[-1] / 2
        x = nn.Dense(int(wide), kernel_init=nn.initializers.normal(1 / wide))(x)
        root = math.sqrt(x.shape[-1])
        w = self.param("w", nn.initializers.normal(root), (x.shape[-1], int(half) + math.ceil(root)))
        return x @ w / half


CASES = [
    ("Noisy", {"features": 3}, ((2, 4),), {}),
    ("InLoops", {}, ((2, 5),), {}),
    ("InLoops", {"widths": ()}, ((2, 5),), {}),
    ("ByPowers", {}, ((2, 5),), {}),
    ("StillSizes", {}, ((2, 6),), {}),
]
