"""Wrapped classes whose results go on: layers behind them, wrapped ones behind wrapped ones; what a wrapped class may do."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Masked(nn.Module):
    """Its mask is a logical one."""

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(4)(x)
        mask = jnp.logical_and(y > 0, jnp.logical_not(y > 1))
        y = y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]
        return jnp.where(mask, y, 0.0)


class UsesMasked(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Masked()(x))


class Attends(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.SelfAttention(2)(x)
        y = y + nn.MultiHeadDotProductAttention(num_heads=2, decode=False, deterministic=True)(x, x)
        return y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]


class UsesAttends(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x) * jnp.sum(Attends()(x))


class Averages(nn.Module):
    """Averages that are not moved while the parameters are made."""

    rate: float
    size: int = 4

    @nn.compact
    def __call__(self, x, train=False):
        mean = self.variable("batch_stats", "mean", jnp.zeros, x.shape[-1:])
        initializing = self.is_mutable_collection("params")
        y = nn.Dense(self.size)(x - mean.value)
        if train and not initializing:
            mean.value = self.rate * mean.value + 0.1 * x.mean(0)
        return y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]


class WithOptions(nn.Module):
    options: Any

    @nn.compact
    def __call__(self, x, train=False):
        return nn.Dense(3)(Averages(**self.options)(x, train=train))


class WithMoreOptions(nn.Module):
    options: Any

    def setup(self):
        self.a = Averages(0.5, **self.options)
        self.b = nn.Dense(3)

    def __call__(self, x, train=False):
        return self.b(self.a(x, train=train))


class Chain(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = Averages(0.5)(x, train)
        x = nn.relu(x)
        x = Averages(0.5)(x, train=train)
        return nn.Dense(x.shape[-1] + 2)(x)


class InSetup(nn.Module):
    def setup(self):
        self.odd = Masked()
        self.second = Masked()
        self.norm = nn.LayerNorm()
        self.out = nn.Dense(3)

    def __call__(self, x, train=False):
        y = self.odd(x)
        return self.out(jnp.concatenate([self.norm(y), self.second(y + 1.0)], -1))


class Cond(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x, train=False):
        if self.n > 2:
            x = Averages(0.5, size=2)(x)
        return nn.Dense(4)(x)


class OwnNorm(nn.Module):
    """Averages that are not moved in the call that makes them."""

    @nn.compact
    def __call__(self, x, train):
        initializing = not self.has_variable("batch_stats", "mean")
        mean = self.variable("batch_stats", "mean", lambda s: jnp.ones(s), x.shape[-1:])
        if train and not initializing:
            mean.value = 0.9 * mean.value + 0.1 * x.mean(0)
        y = x - mean.value if self.has_variable("params", "scale") else x
        y = y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]
        return y * self.param("scale", nn.initializers.ones, x.shape[-1:])


class UsesOwnNorm(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        x = OwnNorm()(nn.Dense(4)(x), train)
        return nn.Dense(2)(OwnNorm()(x, train=train))


class Again(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Averages(0.1)(x)


class Around(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = Again()(nn.Dense(6)(x))
        return nn.relu(x) + jnp.sum(y)


CASES = [
    ("UsesMasked", {}, ((2, 5),), {}),
    ("UsesAttends", {}, ((2, 3, 4),), {}),
    ("WithOptions", {"options": {"rate": 0.2}}, ((2, 5),), {}),
    ("WithOptions", {"options": {"rate": 0.2, "size": 3}}, ((2, 5),), {"train": True}),
    ("WithMoreOptions", {"options": {"size": 2}}, ((2, 5),), {"train": True}),
    ("Chain", {}, ((2, 5),), {}),
    ("Chain", {}, ((2, 3, 5),), {"train": True}),
    ("InSetup", {}, ((2, 3, 5),), {"train": True}),
    ("Cond", {}, ((2, 5),), {}),
    ("Cond", {"n": 2}, ((2, 5),), {}),
    ("UsesOwnNorm", {}, ((2, 5),), {"train": False}),
    ("UsesOwnNorm", {}, ((2, 5),), {"train": True}),
    ("Again", {}, ((2, 5),), {}),
    ("Around", {}, ((2, 5),), {}),
]
