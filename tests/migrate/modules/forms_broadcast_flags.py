"""Flags and numbers that a scanned method is given for all steps: Linen leaves them alone; `CASES` as in forms_basic."""

import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Step(nn.Module):
    width: int = 4

    @functools.partial(
        nn.scan,
        variable_broadcast="params",
        in_axes=(1, nn.broadcast, 1, nn.broadcast),
        out_axes=1,
        split_rngs={"params": False, "dropout": True},
    )
    @nn.compact
    def __call__(self, carry, x, train, mask, power):
        """One step."""
        h = nn.Dense(self.width)(x) + nn.Dense(self.width)(carry)
        # Only in training.
        if train:
            h = h * 2
        h = nn.Dropout(0.5)(h, deterministic=True) * mask[:, None]
        for _ in range(power):
            h = jnp.tanh(h)

        return h, h


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x, mask, train: bool = False):
        h, y = Step()(jnp.zeros((x.shape[0], 4)), x, train, mask, 2)
        return nn.Dense(2)(y) + h[:, None, :2]


class InSetup(nn.Module):
    width: int = 3

    def setup(self):
        self.cell = nn.GRUCell(self.width)

    @functools.partial(nn.scan, variable_broadcast="params", in_axes=(1, nn.broadcast), out_axes=1, split_rngs={"params": False})
    def unroll(self, carry, x, residual):
        carry, y = self.cell(carry, x)
        return carry, y + x if residual == "add" else y

    def __call__(self, x, residual="none"):
        return self.unroll(x[:, 0], x, residual)[1]


CASES: list[Any] = [
    ("Recurrent", {}, [(2, 5, 3), (2, 5)], {}),
    ("Recurrent", {}, [(2, 5, 3), (2, 5)], {"train": True}),
    ("InSetup", {}, [(2, 5, 3)], {}),
    ("InSetup", {}, [(2, 5, 3)], {"residual": "add"}),
]
