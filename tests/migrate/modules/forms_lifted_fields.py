"""Lifted factories of fields, whose partials count, and inputs that `*args` hands on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Head(nn.Module):
    width: int = 8
    scale: float = 1.0

    @nn.compact
    def __call__(self, x):
        return self.scale * nn.Dense(self.width)(x)


class Critic(nn.Module):
    base_cls: Callable[..., nn.Module]

    @nn.compact
    def __call__(self, observations, actions, *args, **kwargs):
        x = self.base_cls()(jnp.concatenate([observations, actions], -1), *args, **kwargs)
        return nn.Dense(1)(x).squeeze(-1)


class Mapped(nn.Module):
    net_cls: type[nn.Module]
    number: int = 2

    @nn.compact
    def __call__(self, *args):
        ensemble = nn.vmap(
            self.net_cls,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=0,
            axis_size=self.number,
        )
        return ensemble()(*args)


class MappedHeads(nn.Module):
    head: Any
    number: int = 4

    @nn.compact
    def __call__(self, x):
        heads = nn.vmap(self.head, {"params": 0}, {"params": True}, in_axes=None, axis_size=self.number)
        return heads(name="heads")(x)


class Twins(nn.Module):
    critic: Any

    @nn.compact
    def __call__(self, observations, actions):
        return Mapped(self.critic, 3)(observations, actions) * Mapped(self.critic)(observations, actions).sum()


class Remade(nn.Module):
    head: Any
    times: int = 2

    @nn.compact
    def __call__(self, x):
        block = nn.remat(self.head, prevent_cse=False)
        for _ in range(self.times):
            x = block(scale=0.5)(x)
        return nn.remat(self.head)(name="last")(x)


class CalledAtOnce(nn.Module):
    head: Any

    @nn.compact
    def __call__(self, x):
        return partial(self.head, scale=0.5)()(x)


class Scanned(nn.Module):
    cell: Any

    @nn.compact
    def __call__(self, carry, xs):
        make = nn.scan(
            self.cell, variable_broadcast="params", split_rngs={"params": False}, in_axes=1, out_axes=1
        )
        return make()(carry, xs)


class Step(nn.Module):
    width: int = 4
    gain: float = 1.0

    @nn.compact
    def __call__(self, carry, x):
        carry = nn.tanh(nn.Dense(self.width)(jnp.concatenate([carry, x], -1))) * self.gain
        return carry, carry.sum(-1)


class Holder(nn.Module):
    def setup(self):
        self.twins = Twins(partial(Critic, base_cls=partial(Head, 4, scale=2.0)))
        self.remade = Remade(partial(Head, 6, scale=3.0))
        self.scanned = Scanned(partial(Step, gain=3.0))
        self.at_once = CalledAtOnce(partial(Head, 4, scale=7.0))
        self.heads = MappedHeads(partial(Head, 2))

    def __call__(self, observations, actions):
        carry, ys = self.scanned(observations, jnp.stack([actions, actions * 2], 1))
        return (
            self.twins(observations, actions).sum(),
            self.remade(observations),
            self.heads(actions),
            self.at_once(actions),
            carry,
            ys,
        )


class HandedOn(nn.Module):
    @nn.compact
    def __call__(self, x, *rest):
        return Critic(Head)(x, *rest) + nn.Dense(1)(x).squeeze(-1)


class TakenApart(nn.Module):
    @nn.compact
    def __call__(self, *inputs):
        x, y = inputs
        return nn.Dense(3)(x) + nn.Dense(3)(y)


class Picked(nn.Module):
    @nn.compact
    def __call__(self, *inputs):
        return nn.Dense(3)(inputs[0]) * nn.Dense(3)(inputs[1])


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        return HandedOn()(nn.Dense(5)(x), y), TakenApart()(x, nn.Dense(2)(y)), Picked()(y, x)


CASES = [
    ("Holder", {}, ((2, 4), (2, 3)), {}),
    ("Outer", {}, ((2, 4), (2, 3)), {}),
]
