"""Statements that share lines: what only fed the constructor goes, and the others stay."""

import jax.numpy as jnp
from flax import linen as nn


class Counted(nn.Module):
    widths: tuple = (4, 8)
    factors: tuple = (1, 2)

    @nn.compact
    def __call__(self, x):
        k = 0
        for w in self.widths:
            x = nn.Dense(w * self.factors[k])(x); k += 1
            x = nn.relu(x)
        return x


class Around(nn.Module):
    """What goes stands first, last, in the middle, and alone."""

    features: int = 4; scale: float = 2.0

    @nn.compact
    def __call__(self, x):
        n = self.features; y = nn.Dense(n)(x); m = 3
        y = nn.relu(y); k = m + 1; y = y * self.scale; j = 2
        z = nn.Dense(
            k
        )(y); h = self.features * 2; z = nn.Dense(h)(z)  # a comment
        a = 3; b = a + 1
        return nn.Dense(b)(z) + nn.Dense(m + 1)(y) + nn.Dense(j)(y).sum()


class InBranches(nn.Module):
    deep: bool = True

    @nn.compact
    def __call__(self, x):
        if self.deep: n = 5; x = nn.Dense(n)(x)
        else: n = 6; x = nn.Dense(n)(x); x = nn.relu(x)
        for i in range(2): w = n + 1; x = nn.Dense(w)(x); x = nn.tanh(x)
        return x


class OfSetup(nn.Module):
    n: int = 4

    def setup(self):
        a = nn.Dense(self.n); self.first = a; c = 3; self.second = nn.Dense(c); self.scale = 2.0
        self.third = nn.Dense(3); k = 5
        self.last = nn.Dense(k)

    def __call__(self, x):
        h = self.second(self.first(x) * self.scale); return self.last(self.third(h))


class OfParams(nn.Module):
    n: int = 4

    def setup(self):
        table = self.param("table", nn.initializers.normal(1.0), (self.n, 3)); self.scale = 2.0
        self.double = table * 2; self.dense = nn.Dense(self.n); self.bias = 0.5
        self.half = table / 2

    def __call__(self, x):
        return self.dense(x) * self.scale @ self.double + self.bias + x * self.half.sum(0)


class Recurrent(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3)(x); cell = nn.GRUCell(self.width); h = jnp.zeros((x.shape[0], self.width))
        for i in range(2):
            h, _ = cell(h, x); h = h * 0.5
        return h


class Steps(nn.Module):
    """What a variable needs before its line stands before it alone."""

    decode: bool = True

    @nn.compact
    def __call__(self, x):
        if self.decode:
            begun = self.has_variable("cache", "at"); at = self.variable("cache", "at", lambda: jnp.zeros((), jnp.int32))
            if begun:
                at.value = at.value + 1
            x = x + at.value
        return nn.Dense(2)(x)


CASES = [
    ("Steps", {}, [(2, 3)], {}),
    ("Counted", {}, [(2, 3)], {}),
    ("Around", {}, [(2, 3)], {}),
    ("InBranches", {}, [(2, 3)], {}),
    ("InBranches", {"deep": False}, [(2, 3)], {}),
    ("OfSetup", {}, [(2, 3)], {}),
    ("OfParams", {}, [(2, 3)], {}),
    ("Recurrent", {}, [(2, 3)], {}),
]
