"""Lists of modules that a loop makes in its header, and items that are called apart from the others."""

from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn


class InHeader(nn.Module):
    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for i, layer in enumerate([nn.Dense(width) for width in self.features]):
            x = layer(x)
            if i != len(self.features) - 1:
                x = nn.relu(x)
        return nn.Dense(2)(x)


class InHeaderAlone(nn.Module):
    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for layer in [nn.Dense(width) for width in self.features]:
            x = nn.relu(layer(x))
        for norm, scale in zip([nn.LayerNorm() for _ in range(2)], (2.0, 3.0)):
            x = norm(x) * scale
        return x


class FiveInHeaders(nn.Module):
    features: Sequence[int] = (3, 4)

    @nn.compact
    def __call__(self, x):
        for layer in [nn.Dense(f) for f in self.features]:
            x = layer(x)
        for layer in [nn.LayerNorm() for _ in self.features]:
            x = layer(x)
        for layer in [nn.Dense(f) for f in self.features]:
            x = nn.relu(layer(x))
        for layer in [nn.Dense(f + 1) for f in self.features]:
            x = nn.tanh(layer(x))
        for layer in [nn.Dense(f + 2) for f in self.features]:
            x = layer(x)
        return x


class LastApart(nn.Module):
    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(f) for f in self.features]
        for i, layer in enumerate(layers[:-1]):
            x = nn.relu(layer(x)) + i
        x = nn.LayerNorm()(x)
        return layers[-1](x)


class FirstApart(nn.Module):
    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(2 * f, use_bias=f > 3) for f in self.features]
        x = layers[0](x)
        for layer in layers[1:]:
            x = layer(nn.relu(x))
        return jnp.tanh(x)


class Unpacked(nn.Module):
    features: Sequence[int]

    @nn.compact
    def __call__(self, x):
        *hidden, last = [nn.Dense(f) for f in self.features]
        for layer in hidden:
            x = nn.relu(layer(x))
        return last(x)


class UnpackedLater(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        blocks = [nn.Dense(4 + 2 * i, name=f"block_{i}") for i in range(self.depth)]
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        first, *rest = blocks
        x = first(x * scale)
        for block in rest:
            x = block(nn.relu(x))
        return x


CASES = [
    ("InHeader", {"features": (3, 5)}, [(2, 4)], {}),
    ("FiveInHeaders", {}, [(2, 4)], {}),
    ("LastApart", {"features": (3, 5, 2)}, [(2, 4)], {}),
    ("FirstApart", {"features": (3, 5, 2)}, [(2, 4)], {}),
    ("Unpacked", {"features": (3, 5, 2)}, [(2, 4)], {}),
    ("UnpackedLater", {}, [(2, 4)], {}),
    ("UnpackedLater", {"depth": 1}, [(2, 4)], {}),
    ("InHeaderAlone", {"features": (3, 5)}, [(2, 4)], {}),
    ("InHeaderAlone", {"features": ()}, [(2, 4)], {}),
    ("LastApart", {"features": (3,)}, [(2, 4)], {}),
    ("FirstApart", {"features": [4]}, [(2, 4)], {}),
]
