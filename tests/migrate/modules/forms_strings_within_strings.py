"""Functions given names with quotes of their own, which they put into names (`f"{name}_conv"`); `CASES` as in forms_basic."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Inception(nn.Module):
    c_red: dict[str, int]
    act: Callable = nn.relu

    @nn.compact
    def __call__(self, x, train=True):
        def conv_norm(x, f, k, name):
            x = nn.Conv(f, (k, k), use_bias=False, name=f"{name}_conv")(x)
            return self.act(nn.BatchNorm(use_running_average=not train, name=f"{name}_bn")(x))

        outs = [conv_norm(x, 2, 1, "a")]
        for k in (3, 5):
            outs.append(conv_norm(x, self.c_red[f"{k}x{k}"], 1, f"r{k}"))
        return jnp.concatenate(outs, axis=-1)


class ByMethod(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = self.part(x, f"stage{i}")
        return x

    def part(self, x, where):
        return nn.Dense(4, name=f'{where}_dense')(nn.LayerNorm(name=f'{where}_norm')(x))


class Keyed(nn.Module):
    names: Any = ("a", "b")

    @nn.compact
    def __call__(self, x):
        def dense(x, name):
            return nn.Dense(3, name=f"{name}_dense")(x)

        for pair in ({"n": "x"}, {"n": "y"}):
            x = dense(x, pair["n"])
        return x


class OtherQuotes(nn.Module):
    prefix: str = "p"

    @nn.compact
    def __call__(self, x):
        def dense(x, name):
            return nn.Dense(3, name=f"{name}_dense")(x)

        for i in range(2):
            x = dense(x, f'{self.prefix}{i}')
        return x


CASES = [
    ("OtherQuotes", {}, [(2, 3)], {}),
    ("Inception", {"c_red": {"3x3": 2, "5x5": 2}}, [(2, 4, 4, 3)], {"train": False}),
    ("ByMethod", {}, [(2, 3)], {}),
    ("Keyed", {}, [(2, 3)], {}),
]
