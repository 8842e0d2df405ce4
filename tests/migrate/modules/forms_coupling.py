"""Halves of an input: their widths add up to its own, whichever of them comes first."""

import jax.numpy as jnp
from flax import linen as nn


class Coupling(nn.Module):
    hidden: int = 8
    flip: bool = False

    @nn.compact
    def __call__(self, x, reverse=False):
        d = x.shape[-1]
        a, b = x[..., : d // 2], x[..., d // 2 :]
        if self.flip:
            a, b = b, a
        scale, shift = (nn.Dense(b.shape[-1], name=name)(nn.Dense(self.hidden)(a)) for name in ("scale", "shift"))
        b = (b - shift) * jnp.exp(-scale) if reverse else b * jnp.exp(scale) + shift
        if self.flip:
            a, b = b, a
        return jnp.concatenate([a, b], -1), scale.sum(-1)


class Flow(nn.Module):
    steps: int = 3

    @nn.compact
    def __call__(self, x):
        total = 0
        for i in range(self.steps):
            x, change = Coupling(flip=i % 2 == 1)(x)
            total += change
        return nn.Dense(2)(x), total


CASES = [
    ("Coupling", {}, [(3, 5)], {}),
    ("Coupling", {"flip": True}, [(3, 5)], {"reverse": True}),
    ("Flow", {}, [(3, 5)], {}),
]
