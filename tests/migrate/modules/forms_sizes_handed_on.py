"""Sizes of the call in fields of classes that hand them on to others, and keys that the call chooses."""

from typing import Any, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn


def encode(x, kind):
    if kind == "flat":
        return x, 2
    length = x.shape[1]
    return x.reshape(x.shape[0], -1, x.shape[-1]), length


class Split(nn.Module):
    frames: int
    width: int = 4

    @nn.compact
    def __call__(self, x):
        n, t, d = x.shape
        x = x.reshape(n, self.frames, t // self.frames, d)
        return nn.Dense(self.width)(x).cumsum(1).reshape(n, t, self.width)


class Blocks(nn.Module):
    frames: Optional[int]
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = Split(self.frames, name=f"block_{i}")(x)
        return x


class Deep(nn.Module):
    """Through another class."""

    frames: int | None = None
    wide: bool = False

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(8 if self.wide else 4)(x)
        x = Blocks(frames=self.frames, depth=1)(x)
        return x / self.frames if train else x


class Direct(nn.Module):
    @nn.compact
    def __call__(self, x):
        t = x.shape[1]
        return Split(frames=t)(x.reshape(x.shape[0], -1, x.shape[-1]))


class Chosen(nn.Module):
    kind: str = "flat"

    @nn.compact
    def __call__(self, x):
        x, t = encode(x, self.kind)
        return Split(frames=t)(x)


class Handing(nn.Module):
    kind: str = "flat"

    @nn.compact
    def __call__(self, x):
        x, t = encode(x, self.kind)
        return nn.Dense(3)(Blocks(frames=t)(x))


class Known(nn.Module):
    """One is given a number of its own."""

    kind: str = "flat"

    @nn.compact
    def __call__(self, x):
        x, t = encode(x, self.kind)
        x = Blocks(frames=t)(x)
        return Blocks(frames=2, depth=1)(x) + Blocks(t, 1)(x)


class Deeper(nn.Module):
    kind: str = "flat"

    @nn.compact
    def __call__(self, x, train: bool = False):
        x, t = encode(x, self.kind)
        return Deep(frames=t)(x, train=train) + Deep(3, True)(x)


class Noisy(nn.Module):
    key: jax.Array
    still: bool = False

    @nn.compact
    def __call__(self, x, features):
        w = self.param("w", nn.initializers.ones, (x.shape[-1], features))
        if self.still:
            return x @ w
        first, second = jax.random.split(self.key)
        return x @ (w + jax.random.normal(first, w.shape)) + jax.random.normal(second, (features,))


class Drawn(nn.Module):
    noisy: bool = True

    @nn.compact
    def __call__(self, x, key: Any = None, still: bool = False):
        if key is None:
            key = jax.random.key(3)

        def noise(x, features):
            return Noisy(key=key, still=still)(x, features)

        def plain(x, features):
            return nn.Dense(features)(x)

        layer = noise if self.noisy else plain
        return layer(nn.relu(layer(x, 5)), 3)


class Bare(nn.Module):
    @nn.compact
    def __call__(self, x, key=None):
        if key is None:
            key = jax.random.key(3)
        else:
            key = jax.random.fold_in(key, 1)
        return Noisy(key)(x, features=4) + Noisy(jax.random.key(5))(jnp.ones_like(x), 4)


CASES = [
    ("Handing", {}, [(2, 6, 3)], {}),
    ("Handing", {"kind": "tubes"}, [(2, 2, 5, 3)], {}),
    ("Direct", {}, [(2, 2, 5, 3)], {}),
    ("Chosen", {}, [(2, 6, 3)], {}),
    ("Known", {}, [(2, 6, 3)], {}),
    ("Known", {"kind": "tubes"}, [(2, 3, 2, 3)], {}),
    ("Deeper", {}, [(2, 6, 3)], {}),
    ("Deeper", {}, [(2, 6, 3)], {"train": True}),
    ("Drawn", {}, [(2, 3)], {}),
    ("Drawn", {"noisy": False}, [(2, 3)], {}),
    ("Drawn", {}, [(2, 3)], {"still": True}),
    ("Bare", {}, [(2, 3)], {}),
]
