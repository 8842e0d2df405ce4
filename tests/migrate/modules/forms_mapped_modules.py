"""Modules of the project given to `jax.vmap` as they are."""

import jax
from flax import linen as nn


class Encoder(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.width, (3, 3))(x)
        return nn.Dense(5)(x.reshape(x.shape[0], -1))


class Gate(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        return nn.Dense(3)(x) * nn.Dense(3)(y)


class OverTime(nn.Module):
    @nn.compact
    def __call__(self, x):
        encode = Encoder()
        x = jax.vmap(encode)(x)
        return nn.Dense(3)(x)


class Named(nn.Module):
    def setup(self):
        self.gate = Gate()
        self.out = nn.Dense(2)

    def __call__(self, x, y):
        return self.out(jax.vmap(self.gate, in_axes=(1, None), out_axes=1)(x, y))


CASES = [
    ("OverTime", {}, [(2, 3, 6, 6, 2)], {}),
    ("Named", {}, [(2, 3, 4), (5,)], {}),
]
