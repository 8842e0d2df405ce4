"""Modules that both sides of a condition call, and inputs of which not even the number of dimensions is known, or of which one
method gives an array or a pair; `CASES` as in forms_basic.
"""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from numpy.polynomial.chebyshev import chebval  # of a package that is not followed


class Coder(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class BothSides(nn.Module):
    def setup(self):
        self.out = Coder(4)

    def __call__(self, x, last=False):
        h = chebval(x, [1.0, 2.0])
        if len(h.shape) == 3:
            y = self.out(jnp.sin(h))
        else:
            h = h * 2
            y = self.out(h)
        return y


class InHelpers(nn.Module):
    def setup(self):
        self.out = Coder(4)
        self.last = nn.Dense(2)

    def decode(self, h, last):
        is_image = len(h.shape) == 3
        if is_image and last:
            return self.last(self.out(h))
        return self.last(self.out(h + 1) if last else self.out(h - 1))

    def __call__(self, x, last=False):
        return self.decode(chebval(x, [1.0, 2.0]), last)


class Pieces(nn.Module):
    """Slices of what has an unknown number of dimensions."""

    def setup(self):
        self.coder = Coder(4)
        self.out = nn.Dense(3)

    def encode(self, x):
        parts = []
        for i in range(0, 4, 2):
            parts.append(self.coder(x[i : i + 2]))
        return jnp.concatenate(parts)

    def __call__(self, x):
        return self.out(self.encode(x))


class Codes(nn.Module):
    size: int = 5

    @nn.compact
    def __call__(self, x, codes=None):
        table = self.param("table", nn.initializers.normal(), (self.size, 3))
        if codes is not None:
            return table[codes]
        codes = jnp.argmin(((x[..., None, :] - table) ** 2).sum(-1), -1)
        return table[codes], codes


class OfCodes(nn.Module):
    """What another module gives where it is given codes is no pair."""

    def setup(self):
        self.codes = Codes()
        self.before = nn.Dense(4)
        self.after = nn.Dense(2)

    def lookup(self, codes):
        return self.codes(None, codes)

    def __call__(self, x, last=False):
        _, found = self.codes(jax.lax.stop_gradient(x))
        h = self.lookup(found)
        if last:
            return self.after(self.before(2 * h))
        return self.after(self.before(h))


def started(x):
    """Code outside of modules that constructs them: it could not say a width."""
    key = jax.random.key(0)
    return BothSides().init(key, x), InHelpers().init(key, x), Pieces().init(key, x), OfCodes().init(key, x)


CASES: list[Any] = [
    ("BothSides", dict(), [(2, 3)], dict()),
    ("BothSides", dict(), [(2, 3, 4)], dict()),
    ("InHelpers", dict(), [(2, 3)], dict()),
    ("InHelpers", dict(), [(2, 3, 4)], dict(last=True)),
    ("Pieces", dict(), [(4, 3)], dict()),
    ("OfCodes", dict(), [(2, 3)], dict()),
]
