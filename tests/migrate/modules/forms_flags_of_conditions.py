"""Flags that setup, or the body, sets on the two sides of a condition of fields: asked later, they are that condition."""

import jax.numpy as jnp
from flax import linen as nn


class Gated(nn.Module):
    wide: int = 6
    gated: bool = True

    def setup(self):
        if self.gated:
            self.one = nn.Dense(2 * self.wide)
            self.two = nn.Dense(3)
            self.is_gated = True
        else:
            self.one = nn.Dense(self.wide)
            self.two = nn.Dense(3)
            self.is_gated = False
        self.act = nn.silu

    def __call__(self, x):
        if self.is_gated:
            a, b = jnp.split(self.one(x), 2, axis=-1)
            return self.two(self.act(a) * b)
        return self.two(self.act(self.one(x)))


class Plain(nn.Module):
    wide: int = 6
    kind: str = "plain"

    def setup(self):
        if self.kind == "plain":
            self.plain, self.one = True, nn.Dense(self.wide)
        else:
            self.plain, self.one = False, nn.Dense(2 * self.wide)
        self.two = nn.Dense(3)

    def __call__(self, x):
        h = self.one(x)
        if not self.plain:
            a, b = jnp.split(h, 2, axis=-1)
            h = a * nn.sigmoid(b)
        return self.two(h)


class Compact(nn.Module):
    wide: int = 6
    depth: int = 0

    @nn.compact
    def __call__(self, x):
        if self.depth > 1:
            deep = True
            h = nn.Dense(2 * self.wide)(x)
        else:
            deep = False
            h = nn.Dense(self.wide)(x)
        if deep:
            h = jnp.concatenate([h, h], axis=-1)
        y = nn.LayerNorm()(h)
        if not deep:
            y = nn.Dense(2)(y)
        return y


class Turned(nn.Module):
    wide: int = 6
    gated: bool = False

    def setup(self):
        if not self.gated:
            self.open = True
            self.one = nn.Dense(self.wide)
        else:
            self.open = False
            self.one = nn.Dense(3 * self.wide)
        if self.open:
            self.more = nn.Dense(4)
        self.two = nn.Dense(3)

    def __call__(self, x):
        h = self.one(x)
        if self.open:
            h = self.more(h)
        return self.two(h)


class AsNumber(nn.Module):
    gated: bool = False

    def setup(self):
        if self.gated:
            self.on = True
        else:
            self.on = False
        self.one = nn.Dense(4)

    def __call__(self, x):
        y = self.one(x) * self.on
        return y + (1 if self.on else 2) if self.on is True else y


class InMethod(nn.Module):
    gated: bool = True

    def setup(self):
        if self.gated:
            self.on = True
        else:
            self.on = False
        self.one = nn.Dense(8)
        self.two = nn.Dense(3)

    def part(self, h):
        if self.on:
            return h[..., :4]
        return h

    def __call__(self, x):
        return self.two(self.part(self.one(x)))


class Loop(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        first = True
        for i in range(self.n):
            if self.n > 2:
                first = False
            else:
                first = True
            x = nn.Dense(4 if first else 6)(x)
            if first:
                x = jnp.concatenate([x, x], -1)
        return nn.Dense(2)(x)


class OfCall(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        if train:
            on = True
        else:
            on = False
        h = nn.Dense(4)(x)
        if on:
            h = nn.Dropout(0.5)(h, deterministic=True)
        return nn.Dense(3)(h)


CASES = [
    ("Gated", {}, [(2, 4)], {}),
    ("Gated", {"gated": False}, [(2, 4)], {}),
    ("Plain", {}, [(2, 4)], {}),
    ("Plain", {"kind": "x"}, [(2, 4)], {}),
    ("Compact", {}, [(2, 4)], {}),
    ("Compact", {"depth": 2}, [(2, 4)], {}),
    ("Turned", {}, [(2, 4)], {}),
    ("Turned", {"gated": True}, [(2, 4)], {}),
    ("AsNumber", {}, [(2, 4)], {}),
    ("AsNumber", {"gated": True}, [(2, 4)], {}),
    ("InMethod", {}, [(2, 4)], {}),
    ("InMethod", {"gated": False}, [(2, 4)], {}),
    ("Loop", {}, [(2, 4)], {}),
    ("Loop", {"n": 2}, [(2, 4)], {}),
    ("OfCall", {}, [(2, 4)], {}),
]
