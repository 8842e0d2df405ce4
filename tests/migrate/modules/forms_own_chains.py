"""Chain classes of the project's own that are given functions between modules, or lists that loops fill."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Chain(nn.Module):
    layers: Sequence[Callable]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Nested(nn.Module):
    act: Callable = nn.relu

    def setup(self):
        self.net = Chain([Chain([nn.Dense(8), self.act]), nn.LayerNorm(), nn.Dense(3)])

    def __call__(self, x):
        return x[..., :3] + self.net(x)


class Filled(nn.Module):
    n: int = 3

    def setup(self):
        layers = []
        for _ in range(self.n - 1):
            layers.extend([nn.Conv(8, (3, 3)), nn.relu])
        layers.append(nn.Conv(3, (3, 3)))
        self.net = Chain(layers)
        self.deep = Chain([nn.Conv(4, (1, 1)) for _ in range(self.n)])

    def __call__(self, x):
        return self.deep(x + self.net(x))


class Inline(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = Chain([nn.Dense(8), nn.BatchNorm(use_running_average=not train), lambda h: h * 2])(x)
        x = Chain([nn.Dense(4), nn.LayerNorm()])(x)
        return Chain(layers=[nn.Dense(2, name="out"), jnp.tanh])(x)


class Scale(nn.Module):
    """A parameter, or a layer that gives one for each input."""

    dim: int
    shared: bool = True

    def setup(self):
        self.mean = nn.Dense(self.dim)
        if self.shared:
            self.log_std = self.param("log_std", nn.initializers.ones, (self.dim,))
        else:
            self.log_std = nn.Dense(self.dim)

    def spread(self, x):
        return self.log_std if self.shared else self.log_std(x)

    def __call__(self, x):
        scale = self.log_std if self.shared else self.log_std(x)
        return self.mean(x) * jax.nn.softplus(scale) + self.spread(x)


class Either(nn.Module):
    dim: int
    shared: bool = False

    @nn.compact
    def __call__(self, x):
        if self.shared:
            offset = self.param("offset", nn.initializers.ones, (self.dim,))
        else:
            offset = nn.Dense(self.dim, name="offsets")
        if self.shared:
            return x[..., : self.dim] + offset
        return offset(x)


class Heads(nn.Module):
    """An activation that the call is given; a local variable with the name of the constructor's parameter."""

    width: int

    @nn.compact
    def __call__(self, x, activation):
        rngs = jax.random.split(jax.random.key(0), 2)
        actor = critic = x + jax.random.normal(rngs[0], x.shape)
        for _ in range(2):
            actor = activation(nn.Dense(self.width)(actor))
            critic = activation(nn.Dense(self.width)(critic))
        return nn.Dense(3)(actor), nn.Dense(1)(critic)


class UsesHeads(nn.Module):
    act: str = "relu"

    @nn.compact
    def __call__(self, x):
        activation = nn.relu if self.act == "relu" else nn.tanh
        return Heads(8)(nn.Dense(4)(x), activation)


CASES = [
    ("Nested", {}, [(2, 5)], {}),
    ("Filled", {}, [(1, 4, 4, 3)], {}),
    ("Inline", {}, [(4, 5)], {"train": False}),
    ("Scale", {"dim": 3}, [(2, 5)], {}),
    ("Scale", {"dim": 3, "shared": False}, [(2, 5)], {}),
    ("Either", {"dim": 3, "shared": True}, [(2, 5)], {}),
    ("Either", {"dim": 3}, [(2, 5)], {}),
    ("UsesHeads", {"act": "tanh"}, [(2, 5)], {}),
]
