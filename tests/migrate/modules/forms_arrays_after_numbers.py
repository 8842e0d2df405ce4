"""Attributes of `setup` that are numbers, a list or None first, and an array later: NNX takes the attribute for static."""

import jax.numpy as jnp
from flax import linen as nn


class Blur(nn.Module):
    size: int = 3

    def setup(self):
        if self.size == 3:
            self.kernel = [1.0, 2.0, 1.0]
        else:
            self.kernel = [1.0, 3.0, 3.0, 1.0]
        self.kernel = jnp.array(self.kernel, dtype=jnp.float32)
        self.kernel = self.kernel[:, None] * self.kernel[None, :]
        self.kernel /= jnp.sum(self.kernel)

    def __call__(self, x):
        return x * jnp.max(self.kernel) + self.kernel.shape[0]


class Shifted(nn.Module):
    shifted: bool = False

    def setup(self):
        self.scale, self.shift = 2.0, None
        self.offset = 1.0
        if self.shifted:
            self.shift = jnp.arange(3.0)
            self.offset = jnp.ones((3,)) * self.offset
        self.dense = nn.Dense(3)

    def __call__(self, x):
        y = self.dense(x) * self.scale + self.offset
        return y if self.shift is None else y + self.shift


CASES = [
    ("Blur", {}, [(2, 3)], {}),
    ("Blur", {"size": 4}, [(2, 3)], {}),
    ("Shifted", {}, [(2, 4)], {}),
    ("Shifted", {"shifted": True}, [(2, 4)], {}),
]
