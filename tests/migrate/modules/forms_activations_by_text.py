"""Activations that are looked up by a text, also in helper functions and in setup: they keep the shape; `CASES` as in forms_basic."""

import jax
from flax import linen as nn


def layer(x, width, activation=None, name=None):
    x = nn.Dense(width, name=name)(x)
    if activation is not None:
        x = getattr(nn.activation, activation.lower())(x)
    return x


def short(x, width, kind):
    return getattr(nn, kind)(nn.Dense(width)(x))


class Expanded(nn.Module):
    """A width behind such functions and a condition of the fields."""

    ratio: int = 2
    kind: str = "RELU"

    @nn.compact
    def __call__(self, x):
        if self.ratio != 1:
            x = layer(x, 3 * self.ratio, activation=self.kind, name="expand")
        x = layer(x, x.shape[-1], activation=self.kind, name="depth")
        return layer(x, 2, name="out")


class Written(nn.Module):
    """Texts that the calls say."""

    kind: str = "gelu"

    @nn.compact
    def __call__(self, x):
        x = layer(x, 4, activation="SiLU".strip())
        x = short(x, x.shape[-1], "tanh")
        x = layer(x, x.shape[-1] + 1, "Tanh")
        x = getattr(jax.nn, "log_softmax")(x, axis=-1)
        return short(x, x.shape[-1], self.kind)


class InSetup(nn.Module):
    kind: str = "relu"

    def setup(self):
        self.f = getattr(nn.activation, self.kind)
        self.first = nn.Dense(5)
        self.second = nn.Dense(3)

    def __call__(self, x):
        return self.second(self.f(self.first(x)))


def block(x, width, kind):
    kind = kind.lower()
    if kind == "dense":
        return nn.Dense(width)(x)
    elif kind == "norm":
        return nn.LayerNorm()(x)
    raise ValueError(kind)


class Kinds(nn.Module):
    """Which layer a helper function makes follows from a text that its call says."""

    @nn.compact
    def __call__(self, x):
        x = block(x, 4, "Dense")
        x = block(x, 7, "NORM")
        return block(x, 3, " dense".strip())


CASES = [
    ("Expanded", {}, [(2, 3)], {}),
    ("Expanded", {"ratio": 1}, [(2, 3)], {}),
    ("Expanded", {"kind": "Gelu", "ratio": 3}, [(2, 3)], {}),
    ("Written", {}, [(2, 3)], {}),
    ("InSetup", {}, [(2, 3)], {}),
    ("InSetup", {"kind": "gelu"}, [(2, 3)], {}),
    ("Kinds", {}, [(2, 3)], {}),
]
