"""Fields that the body of the class reads itself, which has no fields in NNX: defaults of methods, class attributes."""

from collections.abc import Callable

from flax import linen as nn


class Rated(nn.Module):
    width: int = 4
    rate: float = 0.0
    hidden: int = width
    LIMIT = 2 * width

    @nn.compact
    def __call__(self, x, train: bool = True, rate=rate, count=hidden, *, scale=-width):
        x = nn.Dropout(rate, deterministic=not train)(nn.Dense(self.hidden)(x))
        return nn.Dense(self.width)(x) * count * scale + self.LIMIT


class Given(nn.Module):
    power: float = 1.0 + 1.0
    act: Callable = lambda x: x * 2

    def after(self, x, act=act):
        return act(x)

    @nn.compact
    def __call__(self, x, power=power):
        return self.after(nn.Dense(3)(x)) ** power


CASES = [
    ("Rated", {}, [(2, 3)], {"train": False}),
    ("Rated", {"width": 6, "hidden": 5}, [(2, 3)], {"train": False}),
    ("Given", {}, [(2, 3)], {}),
    ("Given", {"act": abs}, [(2, 3)], {}),
]
