"""Fields that make modules, with a layer or a partial of one as their default."""

import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class InSetup(nn.Module):
    features: int
    dense: Any = nn.Dense

    def setup(self):
        self.last = self.dense(self.features)

    def __call__(self, x):
        return self.last(x)


class Several(nn.Module):
    features: int = 4
    dense: Any = nn.Dense
    drop: Any = nn.Dropout
    norm: Any = nn.LayerNorm
    act: Any = nn.relu

    @nn.compact
    def __call__(self, x):
        x = self.act(self.dense(self.features)(x))
        x = self.drop(0.1)(x, deterministic=True)
        return self.norm()(x)


class Partials(nn.Module):
    dense: Any = functools.partial(nn.Dense, use_bias=False)
    norm: Any = functools.partial(nn.RMSNorm, epsilon=1e-3)

    @nn.compact
    def __call__(self, x):
        return self.norm()(self.dense(5)(x))


class Convolved(nn.Module):
    conv: Any = nn.Conv

    @nn.compact
    def __call__(self, x):
        return jnp.tanh(self.conv(3, (3, 3))(x))


class Outer(nn.Module):
    dense: Any = nn.Dense

    def setup(self):
        self.one = InSetup(3, dense=self.dense)
        self.two = Several(3, dense=self.dense)

    def __call__(self, x):
        return self.one(x) + self.two(x)


CASES = [
    ("InSetup", {"features": 3}, [(2, 4)], {}),
    ("Several", {}, [(2, 4)], {}),
    ("Partials", {}, [(2, 4)], {}),
    ("Convolved", {}, [(2, 6, 6, 3)], {}),
    ("Outer", {}, [(2, 4)], {}),
]
