"""Scanned functions and methods with arguments that every step gets whole: arrays, None, and what they never read."""

import functools
from typing import Optional

import flax
import jax.numpy as jnp
from flax import linen as nn


class MaskOfEveryStep(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, xs):
        def body(cell, carry, x, scale, nothing):
            carry, y = cell(carry, x)
            return carry * scale, y * scale

        cell = nn.GRUCell(self.features)
        scale = jnp.linspace(0.5, 1.0, self.features)
        scan = nn.scan(
            body,
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=(1, flax.core.broadcast, nn.broadcast),
            out_axes=1,
        )
        carry = jnp.zeros((xs.shape[0], self.features))
        return scan(cell, carry, xs, scale, None)[1]


class DecoratedUnroll(nn.Module):
    """A flag that the method does not read."""

    features: int = 3

    def setup(self):
        self.cell = nn.GRUCell(features=self.features)

    @functools.partial(
        nn.transforms.scan,
        variable_broadcast="params",
        in_axes=(1, flax.core.axes_scan.broadcast, flax.core.axes_scan.broadcast),
        out_axes=1,
        split_rngs={"params": False},
    )
    def unroll(self, state, inputs, mask: Optional[jnp.ndarray], deterministic):
        state, output = self.cell(state, inputs)
        return state, (state, output)

    def __call__(self, inputs, state, deterministic: bool = False):
        mask = None
        _, (states, outputs) = self.unroll(state, inputs, mask, deterministic)
        return states + outputs


class ScaleOfTheCaller(nn.Module):
    @nn.compact
    def __call__(self, xs, scale):
        def body(dense, carry, x, scale):
            carry = jnp.tanh(dense(x) + carry * scale)
            return carry, carry

        dense = nn.Dense(2)
        scan = nn.scan(body, variable_broadcast="params", split_rngs={"params": False}, in_axes=(0, nn.broadcast))
        return scan(dense, jnp.zeros((2,)), xs, scale)[1]


CASES = [
    ("MaskOfEveryStep", {}, [(2, 5, 4)], {}),
    ("DecoratedUnroll", {}, [(2, 5, 4), (2, 3)], {}),
    ("DecoratedUnroll", {}, [(2, 5, 4), (2, 3)], {"deterministic": True}),
    ("ScaleOfTheCaller", {}, [(5, 3), (2,)], {}),
]
