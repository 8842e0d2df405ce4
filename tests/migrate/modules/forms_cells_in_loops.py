"""Cells of any kind over sequences, whose first carries a loop asks for; `CASES` as in forms_basic."""

import functools
from collections.abc import Mapping
from typing import Any

import flax
import jax
import jax.numpy as jnp
from flax import linen as nn


@jax.vmap
def flip(inputs, lengths):
    count = inputs.shape[0]
    return inputs[(jnp.arange(count - 1, -1, -1) + lengths) % count]


class Encoder(nn.Module):
    """Options of the cell come in a mapping of any keys."""

    hidden: int
    cell_type: type[nn.RNNCellBase]
    options: Mapping[str, Any] = flax.core.FrozenDict()

    def setup(self):
        self.cell = self.cell_type(features=self.hidden, **self.options)

    @functools.partial(
        nn.transforms.scan,
        variable_broadcast="params",
        in_axes=(1, flax.core.axes_scan.broadcast),
        out_axes=1,
        split_rngs={"params": False},
    )
    def unroll(self, state, inputs, deterministic):
        state, output = self.cell(state, inputs)
        return state, (state, output)

    def __call__(self, inputs, lengths, first, reverse=False, deterministic=False):
        if reverse:
            inputs = flip(inputs, lengths)
        _, (states, outputs) = self.unroll(first, inputs, deterministic)
        last = jax.tree.map(lambda x: x[jnp.arange(inputs.shape[0]), lengths - 1], states)
        if reverse:
            outputs = flip(outputs, lengths)
        return outputs, last


class Stack(nn.Module):
    hidden: int = 4
    layers: int = 2
    both_ways: bool = False
    cell_type: Any = nn.OptimizedLSTMCell
    options: Mapping[str, Any] = flax.core.FrozenDict()

    @nn.compact
    def __call__(self, inputs, lengths, first=None):
        batch, last = inputs.shape[0], []
        count = self.layers * (2 if self.both_ways else 1)
        if first is None:
            key = jax.random.PRNGKey(0)
            first = [self.cell_type(self.hidden).initialize_carry(key, (batch, 1)) for _ in range(count)]
        at = 0
        for _ in range(self.layers):
            outputs, state = Encoder(self.hidden, self.cell_type, self.options, name=f"{self.name}Encoder_{at}")(
                inputs, lengths, first=first[at]
            )
            last.append(state)
            at += 1
            if self.both_ways:
                back, state = Encoder(self.hidden, self.cell_type, self.options, name=f"{self.name}Encoder_{at}")(
                    inputs, lengths, first=first[at], reverse=True
                )
                outputs = jnp.concatenate([outputs, back], axis=-1)
                last.append(state)
                at += 1
            inputs = outputs
        return outputs, last


class Reader(nn.Module):
    classes: int = 3
    options: Mapping[str, Any] = flax.core.FrozenDict()

    @nn.compact
    def __call__(self, x, lengths):
        y, _ = Stack(both_ways=True, options=self.options, name="LSTM")(x, lengths)
        y, _ = Stack(5, 1)(y, lengths)
        return nn.Dense(self.classes)(y)


class InAForLoop(nn.Module):
    """What Linen numbers in the loop has no number in NNX; other classes keep theirs."""

    hidden: int = 4

    @nn.compact
    def __call__(self, x):
        total = nn.Dense(self.hidden)(x)
        for scale in (1, 2):
            c, h = nn.LSTMCell(self.hidden * 1).initialize_carry(jax.random.key(scale), x.shape)
            total = total + scale * c + h
            total = nn.Dense(self.hidden)(total)
        return nn.GRUCell(self.hidden)(total, x)[1]


CASES: list[Any] = [
    ("Stack", {}, [(2, 5, 3), [5, 2]], {}),
    ("Reader", {}, [(2, 5, 3), [5, 2]], {}),
    ("Reader", {"options": {"gate_fn": jnp.tanh}}, [(2, 5, 3), [5, 2]], {}),
    ("InAForLoop", {}, [(2, 3)], {}),
    ("Stack", {"both_ways": True, "layers": 3}, [(2, 5, 3), [5, 2]], {}),
]
