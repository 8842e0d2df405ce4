"""Lists of `setup` to which a pass adds several modules, gone through from their end; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class Coupling(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, mask, reverse=False):
        a, b = jnp.split(x, 2, axis=-1)
        shift = nn.Dense(b.shape[-1])(nn.relu(nn.Dense(self.width)(a))) * mask
        if not reverse:
            return jnp.concatenate([a, shift + b], -1), jnp.zeros(x.shape[0])
        return jnp.concatenate([a, b - shift], -1)


class Flip(nn.Module):
    def __call__(self, x, *args, reverse=False, **kwargs):
        x = jnp.flip(x, -1)
        return x if reverse else (x, jnp.zeros(x.shape[0]))


class Flow(nn.Module):
    """Both ways through one list."""

    steps: int = 2
    width: int = 6

    def setup(self):
        flows = []
        for _ in range(self.steps):
            flows.append(Coupling(self.width))
            flows.append(Flip())
        self.flows = flows

    def __call__(self, x, mask, reverse=False):
        if not reverse:
            for flow in self.flows:
                x, _ = flow(x, mask, reverse=reverse)
            return x
        for flow in reversed(self.flows):
            x = flow(x, mask, reverse=reverse)
        return x


class FromTheEnd(nn.Module):
    """From the end alone, along which the widths change."""

    steps: int = 2

    def setup(self):
        layers = []
        for i in range(self.steps):
            layers.append(nn.Dense(5 + i))
            layers.append(nn.LayerNorm())
        self.layers = layers

    def __call__(self, x):
        for layer in reversed(self.layers):
            x = layer(x)
        return x


class Counted(nn.Module):
    """With a number beside each, and modules that some passes add."""

    steps: int = 2

    def setup(self):
        layers = []
        for i in range(self.steps):
            layers.append(nn.Dense(5))
            if i > 0:
                layers.append(nn.Dense(6, use_bias=False))
        self.layers = layers

    def __call__(self, x):
        for i, layer in enumerate(self.layers[::-1]):
            x = nn.relu(layer(x)) + i
        return x


class Compact(nn.Module):
    """Made in the call, some of them in some passes alone."""

    depth: int = 2

    @nn.compact
    def __call__(self, x):
        layers = []
        for i in range(self.depth):
            layers += [nn.Dense(i + 2), nn.relu]
            if i > 0:
                layers.append(nn.LayerNorm())
        for layer in reversed(layers):
            x = layer(x)
        return x


CASES = [
    ("Flow", {}, [(2, 4), (2, 1)], dict(reverse=True)),
    ("Flow", {}, [(2, 4), (2, 1)], {}),
    ("FromTheEnd", {}, [(2, 4)], {}),
    ("FromTheEnd", dict(steps=3), [(2, 5)], {}),
    ("Compact", dict(depth=3), [(2, 4)], {}),
    ("Counted", dict(steps=3), [(2, 4)], {}),
]
