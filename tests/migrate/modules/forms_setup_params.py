"""Parameters made in setup: under their own name, under another attribute, by way of a local name, in tuples and branches."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class OtherAttribute(nn.Module):
    def setup(self):
        self.weight = self.param("w", nn.initializers.ones, (3,))
        self.dense = nn.Dense(3)

    def __call__(self, x):
        return self.dense(x * self.weight) + jnp.exp(self.weight)


class ByWayOfALocal(nn.Module):
    def setup(self):
        w = self.param("w", nn.initializers.ones, (3,))
        self.w = w
        self.width = w.shape[0]

    def __call__(self, x):
        return x * self.w / self.width


class Tuples(nn.Module):
    def setup(self):
        self.a, self.b = self.param("a", nn.initializers.ones, (3,)), self.param("b", nn.initializers.ones, (3,))

    def __call__(self, x):
        return x * self.a + self.b


class Maybe(nn.Module):
    use: bool = True
    gain: Any = None

    def setup(self):
        self.w = self.param("w", nn.initializers.ones, (3,)) if self.use else None
        if self.gain is not None:
            self.g = self.param("g", nn.initializers.ones, (3,))

    def __call__(self, x):
        if self.use:
            x = x + self.w
        return x * self.g if self.gain is not None else x


class ChangedAttribute(nn.Module):
    """Another array under the same name for every call; the parameter is what is trained."""

    scale: bool = True

    def setup(self):
        self.w = self.param("w", nn.initializers.normal(1.0), (3,))
        if self.scale:
            self.w *= 2

    def __call__(self, x):
        return x * self.w


class ChangedLocal(nn.Module):
    def setup(self):
        w = self.param("w", nn.initializers.normal(1.0), (3,))
        w += 1
        self.shift = w

    def __call__(self, x):
        return x * self.shift


CASES = [
    ("ChangedAttribute", {}, [(2, 3)], {}),
    ("ChangedAttribute", {"scale": False}, [(2, 3)], {}),
    ("ChangedLocal", {}, [(2, 3)], {}),
    ("OtherAttribute", {}, [(2, 3)], {}),
    ("ByWayOfALocal", {}, [(2, 3)], {}),
    ("Tuples", {}, [(2, 3)], {}),
    ("Maybe", {}, [(2, 3)], {}),
    ("Maybe", {"use": False, "gain": 1}, [(2, 3)], {}),
]
