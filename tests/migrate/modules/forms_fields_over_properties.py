"""Fields in the place of a property of a base, or of a class that is no module: the default stays with the class."""

import abc

import flax.linen as nn


class Base(nn.Module):
    @property
    @abc.abstractmethod
    def is_big(self) -> bool:
        """Is it?"""

    @property
    def width(self):
        return 3

    def double(self, x):
        return 2 * x if self.is_big else x


class Net(Base):
    size: int = 4
    is_big: bool = True

    @nn.compact
    def __call__(self, x):
        return self.double(nn.Dense(self.size)(x)) + self.width


class Wide(Base, abc.ABC):
    is_big = True
    width: int = 7
    """How wide."""

    @nn.compact
    def __call__(self, x):
        return self.double(nn.Dense(self.width)(x))


class Quick:
    @property
    def rate(self):
        return 0.5

    def scaled(self, x):
        return x * self.rate


class Mixed(Quick, nn.Module):
    size: int = 4
    # how fast
    rate: float = 0.25  # of it

    @nn.compact
    def __call__(self, x):
        return self.scaled(nn.Dense(self.size)(x))


class Deeper(Net):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.Dense(4)(x)
        return self.double(x)


class Only(Base):
    is_big: bool = True

    def setup(self):
        self.layer = nn.Dense(3)

    def __call__(self, x):
        return self.double(self.layer(x))


class Uses(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Net(is_big=False)(x), Wide(width=5)(x), Mixed(rate=0.5)(x), Only(is_big=False)(x)


CASES = [
    ("Uses", {}, [(2, 3)], {}),
    *[(name, {"is_big": big}, [(2, 3)], {}) for name in ("Net", "Deeper", "Only") for big in (False, True)],
    ("Net", {}, [(2, 3)], {}),
    ("Wide", {}, [(2, 3)], {}),
    ("Mixed", {}, [(2, 3)], {}),
]
