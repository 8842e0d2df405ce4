"""Norms of one's own in partials that hold a flag of the call; `CASES` as in forms_basic."""

import functools
from typing import Any, Optional

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
        scale = self.param("scale", nn.initializers.ones_init(), (x.shape[-1],))
        if averaged:
            found = mean.value
        else:
            found = x.mean(0)
            if not self.is_initializing():
                mean.value = self.momentum * mean.value + (1 - self.momentum) * found
        return (x - found) * scale


class Block(nn.Module):
    width: int
    norm: Any

    @nn.compact
    def __call__(self, x):
        y = self.norm()(x)
        y = nn.relu(nn.Dense(self.width)(y))
        return x + self.norm(momentum=0.5)(nn.Dense(x.shape[-1])(y))


class Outer(nn.Module):
    norm: Any
    act: Any = nn.relu

    @nn.compact
    def __call__(self, x):
        return self.act(Block(6, self.norm)(self.norm()(x)))


class InOneMethod(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(Renorm, averaged=not train, momentum=0.7)
        x = norm()(x)
        for width in (4, 5):
            x = norm(name=f"norm_{width}")(nn.Dense(width)(x))
        return norm(momentum=0.2)(x)


class Handed(nn.Module):
    widths: tuple = (4, 4)

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(
            Renorm,
            averaged=not train,
            momentum=0.8,
        )
        x = nn.Dense(self.widths[0])(norm()(x))
        for width in self.widths:
            x = Block(width, norm)(x)
        return nn.Dense(2)(norm()(x))


class HandedOn(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return Outer(functools.partial(Renorm, averaged=not train))(x)


class Alone(nn.Module):
    """The partial holds the flag and nothing else, and is extended."""

    averaged: bool = False

    @nn.compact
    def __call__(self, x, train: bool):
        averaged = not train
        norm = functools.partial(Renorm, averaged=averaged)
        more = functools.partial(norm, momentum=0.3)
        x = Block(3, more)(x)
        return Block(3, norm)(more()(x))


class OwnOrLayer(nn.Module):
    """One of two by a field."""

    own: bool = True

    @nn.compact
    def __call__(self, x, train: bool = False):
        if self.own:
            norm = functools.partial(Renorm, averaged=not train)
            x = norm()(x)
        else:
            norm = functools.partial(nn.BatchNorm, use_running_average=not train)
            x = norm()(x)
        return nn.Dense(3)(x)


class InSequence(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(Renorm, averaged=not train)
        return nn.Sequential([nn.Dense(4), norm(), nn.relu])(x)


class UnderRemat(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(Renorm, averaged=not train)
        for _ in range(2):
            x = nn.remat(Block)(5, norm)(x)
        return x


class Critic(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(Renorm, averaged=not train)
        return nn.Dense(1)(Block(self.width, norm)(norm()(x)))


class Ensemble(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        critics = nn.vmap(
            Critic,
            variable_axes={"params": 0, "batch_stats": 0},
            split_rngs={"params": True},
            in_axes=None,
            out_axes=0,
            axis_size=3,
        )
        return critics(width=5)(x, train)


CASES = [
    (name, {}, [(3, 4)], {"train": train})
    for name in (
        "InOneMethod",
        "Handed",
        "HandedOn",
        "Alone",
        "OwnOrLayer",
        "InSequence",
        "UnderRemat",
        "Critic",
        "Ensemble",
    )
    for train in (True, False)
] + [("OwnOrLayer", {"own": False}, [(3, 4)], {"train": True})]
