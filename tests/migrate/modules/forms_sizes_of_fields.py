"""Heights, lengths and widths that submodules are given as numbers, where what they make shows them."""

from __future__ import annotations

import flax.linen as nn
import jax.numpy as jnp


class Positions(nn.Module):
    length: int
    scale: float = 1.0

    @nn.compact
    def __call__(self, x):
        table = self.param("table", nn.initializers.normal(), (self.length, x.shape[-1]))
        return x + table[: self.length] * self.scale


class MixedTokens(nn.Module):
    tokens: int

    def setup(self):
        self.mix = nn.Dense(self.tokens)

    def __call__(self, x):
        return self.mix(x.swapaxes(1, 2)).swapaxes(1, 2) / self.tokens


class Inner(nn.Module):
    length: int

    @nn.compact
    def __call__(self, x):
        return Positions(self.length, scale=0.5)(nn.Dense(4)(x)) / self.length


class Divided(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x) / jnp.sqrt(self.width)


class Whole(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Positions(x.shape[1])(x)
        x = MixedTokens(tokens=x.shape[-2])(x)
        x = Inner(x.shape[1])(x)
        return Divided(x.shape[-1])(x)


CASES = [("Whole", {}, ((2, 5, 3),), {}), ("Whole", {}, ((1, 2, 6),), {})]
