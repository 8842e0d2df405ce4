"""Norms of one's own with flags of the call in partials, made for what the call shows; `CASES` as in forms_basic."""

import functools
from typing import Optional

import flax.linen as nn
import jax.numpy as jnp
from flax.linen.module import merge_param


class Renorm(nn.Module):
    averaged: Optional[bool] = None
    momentum: float = 0.9

    @nn.compact
    def __call__(self, x, averaged: Optional[bool] = None):
        averaged = merge_param("averaged", self.averaged, averaged)
        mean = self.variable("batch_stats", "mean", lambda: jnp.zeros(x.shape[-1]))
        bias = self.param("bias", nn.initializers.normal(), (x.shape[-1],))
        found = mean.value if averaged else x.mean(0)
        if not averaged and not self.is_initializing():
            mean.value = self.momentum * mean.value + (1 - self.momentum) * found
        return x - found + bias


class Late(nn.Module):
    @nn.compact
    def __call__(self, x, pairs, train: bool = False):
        norm = functools.partial(Renorm, averaged=not train)
        h = jnp.stack([jnp.convolve(a, b) for a, b in zip(x, pairs)])
        return nn.Dense(3)(norm(momentum=0.5)(h))


CASES = [("Late", {}, [(3, 4), (3, 2)], {"train": train}) for train in (True, False)]
