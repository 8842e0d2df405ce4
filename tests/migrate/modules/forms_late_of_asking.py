"""A class that asks for a size inside of its call, made where only a call on shapes shows its input: it finds that itself."""

import jax
from flax import linen as nn
from numpy.polynomial.chebyshev import chebval

SUM = [0.5, 2.0]


class Asks(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, mask=None):
        y = chebval(x, SUM)
        y = nn.Dense(self.width)(y)
        return y if mask is None else y * mask


class AsksInSetup(nn.Module):
    width: int

    def setup(self):
        self.out = nn.Dense(self.width)

    def __call__(self, x):
        y = chebval(x, SUM)
        return self.out(y) + 1.0


class Looped(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = Asks(i + 3, name=f"asks_{i}")(chebval(x, SUM))
        return x


class Listed(nn.Module):
    depth: int = 2

    def setup(self):
        self.layers = [AsksInSetup(i + 3) for i in range(self.depth)]
        self.chain = nn.Sequential([Asks(4), AsksInSetup(2)])

    def __call__(self, x):
        for layer in self.layers:
            x = layer(chebval(x, SUM))
        return self.chain(chebval(x, SUM))


class Sized(nn.Module):
    """By how many devices there are along an axis."""

    axis: str = "many"

    @nn.compact
    def __call__(self, x):
        count = jax.lax.psum(1, self.axis)
        mode = "many" if count > 1 else "one"
        if mode == "one":
            return nn.Dense(4)(x)
        return nn.Dense(12 // count)(x) * jax.lax.psum(1.0, self.axis)


CASES = [
    ("Looped", {}, [(2, 3)], {}),
    ("Listed", {}, [(2, 3)], {}),
]
