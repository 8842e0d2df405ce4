"""Modules that call themselves on inputs with a dimension more, as those of agents do for batches of sequences."""

from typing import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Torso(nn.Module):
    """`BatchApply(self.__call__)` under a question about the rank, which a convolution settles."""

    channels: Sequence[int] = (4, 5)
    kernels: Sequence[int] = (3, 2)
    channel_first: bool = False

    @nn.compact
    def __call__(self, observation):
        x = observation
        if observation.ndim > 4:
            return nn.batch_apply.BatchApply(self.__call__)(observation)
        if self.channel_first:
            x = x.transpose((0, 2, 3, 1))
        for channel, kernel in zip(self.channels, self.kernels):
            x = nn.relu(nn.Conv(channel, (kernel, kernel), (2, 2))(x))
        x = x.reshape(*observation.shape[:-3], -1)
        return nn.Dense(3)(x)


class Attributes(nn.Module):
    """The same with setup."""

    def setup(self):
        self.conv = nn.Conv(3, (3, 3))
        self.head = nn.Dense(2)

    def __call__(self, x):
        if x.ndim == 5:
            return nn.BatchApply(self.__call__)(x)
        return self.head(self.conv(x).mean((1, 2)))


class Perceptron(nn.Module):
    """Of an input whose rank nothing else tells; the flag is handed on, and three dimensions are merged."""

    width: int = 4

    @nn.compact
    def __call__(self, x, train: bool = False):
        if x.ndim > 3:
            return nn.BatchApply(self.__call__, num_dims=3)(x, train=train)
        x = nn.Dense(self.width)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dropout(0.0, deterministic=not train)(x)


class Directly(nn.Module):
    """By hand: the module calls itself, by either name."""

    named: bool = False

    @nn.compact
    def __call__(self, x):
        if x.ndim > 2:
            flat = x.reshape((-1, x.shape[-1]))
            y = self.__call__(flat) if self.named else self(flat)
            return y.reshape((*x.shape[:-1], y.shape[-1]))
        return nn.Dense(4)(nn.relu(nn.Dense(3)(x)))


class Agent(nn.Module):
    """What follows such a module takes its sizes from it."""

    @nn.compact
    def __call__(self, x):
        y = Perceptron(6, name="torso")(x)
        return nn.Dense(2, name="policy")(y), nn.Dense(1, name="value")(y)[..., 0]


class Around(nn.Module):
    """A layer of the method's own, and one of another method, within BatchApply; the rank is not known."""

    def setup(self):
        self.inner = nn.Dense(5)
        self.outer = nn.Dense(3)

    def one(self, x):
        return nn.relu(self.inner(x))

    def __call__(self, x):
        y = nn.BatchApply(self.one)(x)
        return self.outer(jnp.tanh(y))


class Lambda(nn.Module):
    """A function of the call's within BatchApply."""

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(5)
        norm = nn.LayerNorm()
        return nn.Dense(2)(nn.BatchApply(lambda y: norm(dense(y)))(x))


class Mapped(nn.Module):
    """The same by jax.vmap, for a layer that only computes."""

    @nn.compact
    def __call__(self, x):
        if x.ndim > 2:
            return jax.vmap(self.__call__)(x)
        return nn.Dense(3)(x)


class Methods(nn.Module):
    """Methods of the module's own that are given to functions of jax's: they take what these hand over behind `self`."""

    def setup(self):
        self.inner = nn.Dense(5)
        self.outer = nn.Dense(3)

    def step(self, carry, x):
        carry = carry + x
        return carry, jnp.concatenate([carry, x], -1)

    def one(self, x):
        return self.inner(x)

    @staticmethod
    def twice(x):
        return jnp.concatenate([x, x], -1)

    def __call__(self, x):
        _, y = jax.lax.scan(self.step, jnp.zeros_like(x[0]), x)
        return self.outer(jax.vmap(self.one)(jax.lax.map(self.twice, y)))


CASES = [
    ("Torso", {}, [(2, 8, 8, 3)], {}),
    ("Torso", {"channel_first": True}, [(2, 3, 8, 8)], {}),
    ("Attributes", {}, [(2, 8, 8, 3)], {}),
    ("Attributes", {}, [(3, 2, 8, 8, 3)], {}),
    ("Perceptron", {}, [(2, 3)], {}),
    ("Perceptron", {}, [(2, 3, 4, 3)], {}),
    ("Directly", {}, [(2, 3)], {}),
    ("Directly", {}, [(2, 5, 3)], {}),
    ("Directly", {"named": True}, [(2, 5, 3)], {}),
    ("Agent", {}, [(2, 3)], {}),
    ("Agent", {}, [(2, 3, 4, 3)], {}),
    ("Around", {}, [(2, 3, 4)], {}),
    ("Around", {}, [(2, 3, 6, 4)], {}),
    ("Lambda", {}, [(2, 3, 4)], {}),
    ("Methods", {}, [(3, 4, 2)], {}),
    ("Mapped", {}, [(5, 4)], {}),
    ("Mapped", {}, [(2, 5, 4)], {}),
]
