"""Modules that are called themselves on one side of a condition, and by what holds them on the other; `CASES` as in
forms_basic.
"""

from typing import Any, Sequence

import flax.linen as nn
import jax.numpy as jnp


class Wrap(nn.Module):
    inner: nn.Module

    @nn.compact
    def __call__(self, x):
        return self.inner(jnp.concatenate([x, x], -1))


class MLP(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = nn.relu(nn.Dense(width)(x))
        return x


class Pixels(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3))(x)
        return x.reshape((*x.shape[:-3], -1))


class Policy(nn.Module):
    """What is given pixels has another module before it."""

    widths: Sequence[int] = (4, 5)
    encoder: Any = None

    @nn.compact
    def __call__(self, x):
        body = MLP(self.widths)
        if self.encoder is not None:
            body = nn.Sequential([self.encoder(), body])
        return nn.Dense(2)(body(x))


class Chained(nn.Module):
    flag: bool = True

    @nn.compact
    def __call__(self, x):
        m = nn.Dense(4)
        m = nn.Sequential([nn.Dense(7), m]) if self.flag else m
        return m(x)


class ChainedBySetup(nn.Module):
    flag: bool = True

    def setup(self):
        m = nn.Dense(4)
        if self.flag:
            m = nn.Sequential([nn.Dense(7), m])
        self.m = m

    def __call__(self, x):
        return self.m(x)


class ChainedInTheCall(nn.Module):
    flag: bool = True

    def setup(self):
        self.d = nn.Dense(4)
        self.e = nn.Dense(7)

    @nn.compact
    def __call__(self, x):
        if self.flag:
            return nn.Sequential([self.e, nn.relu, self.d])(x)
        return self.d(x)


class Wrapped(nn.Module):
    flag: bool = True

    @nn.compact
    def __call__(self, x):
        m = nn.Dense(4)
        if self.flag:
            m = Wrap(m)
        return m(x)


class WrappedBySetup(nn.Module):
    flag: bool = True

    def setup(self):
        self.d = nn.Dense(4)
        self.w = Wrap(self.d)

    def __call__(self, x):
        if self.flag:
            return self.w(x)
        return self.d(x)


class WrappedAlone(nn.Module):
    """One of two, on either side, and none of them without the other."""

    flag: bool = True

    def setup(self):
        self.d = nn.Dense(4)
        self.e = nn.Dense(5)

    @nn.compact
    def __call__(self, x):
        return Wrap(inner=self.e)(x) if self.flag else Wrap(self.d)(x)


def policies(x, kind):
    encoder = Pixels if kind == "pixels" else None
    return Policy(encoder=encoder)


CASES: list[Any] = [
    ("Policy", dict(encoder=Pixels), [(2, 6, 6, 3)], dict()),
    ("Policy", dict(), [(2, 1, 1, 3)], dict()),
    ("Chained", dict(), [(2, 3)], dict()),
    ("Chained", dict(flag=False), [(2, 3)], dict()),
    ("ChainedBySetup", dict(), [(2, 3)], dict()),
    ("ChainedBySetup", dict(flag=False), [(2, 3)], dict()),
    ("ChainedInTheCall", dict(), [(2, 3)], dict()),
    ("ChainedInTheCall", dict(flag=False), [(2, 3)], dict()),
    ("Wrapped", dict(), [(2, 3)], dict()),
    ("Wrapped", dict(flag=False), [(2, 3)], dict()),
    ("WrappedBySetup", dict(), [(2, 3)], dict()),
    ("WrappedBySetup", dict(flag=False), [(2, 3)], dict()),
    ("WrappedAlone", dict(), [(2, 3)], dict()),
    ("WrappedAlone", dict(flag=False), [(2, 3)], dict()),
]
