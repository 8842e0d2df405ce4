"""A transform or none, by a condition, that classes are given."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen.partitioning import remat


def config(checkpoint):
    return SimpleNamespace(checkpoint=checkpoint, vocab=7, width=3, n=2)


class Layer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, deterministic: bool = True, double: bool = False):
        x = nn.Dropout(0.1)(nn.relu(nn.Dense(self.width)(x)), deterministic=deterministic)
        return 2 * x if double else x


class OfSetup(nn.Module):
    config: Any

    def setup(self):
        if self.config.checkpoint:
            trans = remat
        else:
            trans = lambda x: x
        self.embed = trans(nn.Embed)(self.config.vocab, self.config.width)
        self.layer = trans(Layer)(self.config.width)

    def __call__(self, ids):
        return self.layer(self.embed(ids))


class Listed(nn.Module):
    config: Any

    def setup(self):
        if self.config.checkpoint:
            trans = partial(remat, static_argnums=(1, 2))
        else:
            trans = lambda x: x
        self.layers = [trans(Layer)(self.config.width) for i in range(self.config.n)]

    def __call__(self, x, deterministic: bool = True):
        for layer in self.layers:
            x = layer(x, deterministic, True)
        return x


class Compact(nn.Module):
    checkpoint: bool
    n: int = 2

    @nn.compact
    def __call__(self, x):
        wrap = nn.remat if self.checkpoint else (lambda cls: cls)
        for _ in range(self.n):
            x = wrap(Layer)(3)(x)
        Last = wrap(nn.Dense)
        return Last(2, name="last")(x)


class WithAPolicy(nn.Module):
    policy: str = "none"

    @nn.compact
    def __call__(self, x):
        def alone(cls):
            return cls

        wrap = alone
        if self.policy == "dots":
            wrap = partial(nn.remat, policy=jax.checkpoint_policies.dots_saveable)
        elif self.policy == "all":
            wrap = partial(nn.remat, prevent_cse=False)
        x = wrap(Layer)(3, name="a")(x)
        return wrap(Layer)(2, name="b")(x)


class BehindTheFirst(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            wrap = nn.remat if i > 0 else (lambda cls: cls)
            x = wrap(Layer)(3)(x)
        return x


class AnotherByThen(nn.Module):
    """The name that the condition asks for is another thing when the modules are made."""

    first: bool
    second: bool

    @nn.compact
    def __call__(self, x):
        flag = self.first
        wrap = nn.remat if flag else (lambda cls: cls)
        flag = self.second
        x = wrap(Layer)(3)(x)
        return wrap(nn.Dense)(2)(x) if flag else x


CASES = [
    ("BehindTheFirst", {}, [(2, 4)], {}),
    *[("AnotherByThen", {"first": a, "second": b}, [(2, 4)], {}) for a in (True, False) for b in (True, False)],
    *[("OfSetup", {"config": config(c)}, [jnp.array([[1, 2]])], {}) for c in (True, False)],
    *[("Listed", {"config": config(c)}, [(2, 4)], {}) for c in (True, False)],
    *[("Compact", {"checkpoint": c}, [(2, 4)], {}) for c in (True, False)],
    *[("WithAPolicy", {"policy": p}, [(2, 4)], {}) for p in ("none", "dots", "all")],
]
