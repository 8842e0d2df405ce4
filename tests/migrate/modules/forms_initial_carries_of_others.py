"""A class whose method hands on what another class's static method says of a cell's carry, outside of any call."""

from __future__ import annotations

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


class Recurrent(nn.Module):
    @functools.partial(nn.scan, variable_broadcast="params", in_axes=0, out_axes=0, split_rngs={"params": False})
    @nn.compact
    def __call__(self, carry, x):
        ins, resets = x
        carry = jnp.where(resets[:, None], self.initialize_carry(ins.shape[0], 8), carry)
        return nn.GRUCell(features=8)(carry, ins)

    @staticmethod
    def initialize_carry(batch_size, hidden_size=8):
        cell = nn.GRUCell(features=8)
        return cell.initialize_carry(jax.random.PRNGKey(0), (batch_size, hidden_size))


def lstm_carry(batch_size):
    return nn.OptimizedLSTMCell(5).initialize_carry(jax.random.PRNGKey(0), (batch_size, 5))


class Policy(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, hidden, x, dones):
        hidden, h = Recurrent()(hidden, (nn.relu(nn.Dense(6)(x)), dones))
        return hidden, nn.Dense(self.n)(h)

    @staticmethod
    def initialize_carry(batch_size, hidden_size=8):
        return Recurrent.initialize_carry(batch_size, hidden_size)


class Further(nn.Module):
    """Through two classes, by a class method and a method."""

    def setup(self):
        self.policy = Policy(2)

    def __call__(self, hidden, x, dones):
        return self.policy(hidden, x, dones)

    @classmethod
    def initialize_carry(cls, batch_size):
        return Policy.initialize_carry(batch_size)

    def state(self, batch_size):
        return lstm_carry(batch_size)


CASES: list[Any] = [
    ("Policy", {}, [(2, 8), (5, 2, 4), (5, 2)], {}),
    ("Further", {}, [(2, 8), (5, 2, 4), (5, 2)], {}),
]
