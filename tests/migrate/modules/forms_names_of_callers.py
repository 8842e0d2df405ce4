"""Functions that bind names anew which their callers have, too; shapes filled along one axis; `CASES` as in forms_basic."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import lax


class Norm(nn.Module):
    """A norm with its axes counted from the front, as in Linen's own."""

    epsilon: float = 1e-6
    dtype: Any = jnp.float32
    scale_init: Any = jax.nn.initializers.ones

    @nn.compact
    def __call__(self, x):
        axes = (-1,)
        features = (-1,)
        square = jnp.mean(lax.square(x), axes)
        return self._scaled(self, x, square, axes, features, self.dtype)

    def _scaled(self, module, x, square, axes, features, dtype):
        axes = nn.normalization._canonicalize_axes(x.ndim, axes)
        features = nn.normalization._canonicalize_axes(x.ndim, features)
        shape = list(x.shape)
        for axis in axes:
            shape[axis] = 1
        square = square.reshape(shape)
        wide = [1] * x.ndim
        sizes = []
        for axis in features:
            wide[axis] = x.shape[axis]
            sizes.append(x.shape[axis])
        scale = module.param('scale', self.scale_init, sizes, dtype).reshape(wide)
        return x * lax.rsqrt(square + self.epsilon) * scale


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        x = Norm()(x)
        return nn.Dense(3)(x)


def counted(rank, axes):
    return tuple([rank + axis if axis < 0 else axis for axis in axes])


class First(nn.Module):
    """Another axis, by a function of one's own."""

    axis: int = 1

    @nn.compact
    def __call__(self, x):
        axes = (self.axis,)
        return self.shifted(x, axes)

    def shifted(self, x, axes):
        axes = counted(x.ndim, axes)
        shape = [1] * x.ndim
        sizes = []
        for axis in axes:
            shape[axis] = x.shape[axis]
            sizes.append(x.shape[axis])
        return x + self.param('shift', nn.initializers.normal(), sizes).reshape(shape)


class Sizes(nn.Module):
    """A size that the caller has under the same name, and reads no more."""

    width: int = 4

    @nn.compact
    def __call__(self, x):
        width = self.width * 2
        x = nn.Dense(width)(x)
        return self.wider(x, width)

    def wider(self, x, size):
        width = size + 1
        return nn.Dense(width)(x)


class Read(nn.Module):
    """The caller goes on to read its own."""

    width: int = 4

    @nn.compact
    def __call__(self, x):
        width = self.width * 2
        x = self.wider(x, width)
        return nn.Dense(width)(x) + nn.Dense(width)(x)

    def wider(self, x, size):
        width = size + 1
        x = nn.Dense(width)(x)
        return nn.Dense(width + 1)(x)


class Twice(nn.Module):
    """In turn, and one within the other."""

    width: int = 2

    @nn.compact
    def __call__(self, x):
        n = self.width
        x = self.one(x, n)
        x = self.one(x, 5)
        return self.two(x)

    def one(self, x, k):
        n = k + 1
        x = nn.Dense(n)(x)
        return self.inner(x, n)

    def inner(self, x, k):
        n = k * 2
        return nn.Dense(n)(x)

    def two(self, x):
        n = self.width * 3
        for i in range(2):
            n = n + i
            x = nn.Dense(n)(x)
        return x


class Other(nn.Module):
    """A second name of the caller's for what its first one says."""

    width: int = 2

    @nn.compact
    def __call__(self, x):
        n = self.width + 1
        m = n * 2
        x = self.one(x, n, m)
        return nn.Dense(m)(x)

    def one(self, x, k, other):
        n = k + 7
        x = nn.Dense(other)(x)
        return nn.Dense(n)(x)


CASES = [
    ("Norm", {}, [(2, 5, 3)], {}),
    ("Norm", {}, [(2, 3)], {}),
    ("Block", {}, [(2, 3)], {}),
    ("First", {}, [(2, 5, 3)], {}),
    ("Sizes", {}, [(2, 3)], {}),
    ("Read", {}, [(2, 3)], {}),
    ("Twice", {}, [(2, 3)], {}),
    ("Other", {}, [(2, 3)], {}),
]
