"""Columns that a field's numbers pick of an input; `CASES` as in forms_basic."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Seen(nn.Module):
    """In a method of a class with `setup`, whose cell takes what that gives."""

    columns: Sequence[int]
    width: int = 4

    def setup(self):
        self.embed = nn.Dense(self.width)
        self.cell = nn.GRUCell(5)

    def encode(self, obs):
        return nn.tanh(self.embed(obs[..., self.columns]))

    def __call__(self, carry, obs):
        return self.cell(carry, self.encode(obs))


class Critic(nn.Module):
    columns: tuple[int, ...]

    @nn.compact
    def __call__(self, obs, action):
        return nn.Dense(3)(jnp.concatenate([obs[..., self.columns], action], -1))


class Critics(nn.Module):
    """Under a transform, where no call on shapes can ask."""

    columns: tuple[int, ...]

    @nn.compact
    def __call__(self, obs, action):
        many = nn.vmap(
            Critic,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=0,
            axis_size=2,
        )
        return many(columns=self.columns)(obs, action)


class Middle(nn.Module):
    """Of an array whose rank the class says, in the middle."""

    rows: list[int]

    @nn.compact
    def __call__(self, x):
        b, _, c = x.shape
        return nn.Dense(3)(x[:, self.rows, :].reshape(b, -1))


CASES = [
    ("Seen", dict(columns=[0, 2, 3]), [(2, 5), (2, 6)], {}),
    ("Seen", dict(columns=(1,)), [(2, 5), (2, 6)], {}),
    ("Critics", dict(columns=(1, 4)), [(2, 6), (2, 2)], {}),
    ("Critic", dict(columns=(5, 4, 0)), [(3, 2, 6), (3, 2, 2)], {}),
    ("Middle", dict(rows=[1, 2]), [(2, 6, 3)], {}),
]
