"""Fields whose defaults are computed from those of the fields above them."""

from typing import Any, Callable

import jax.numpy as jnp
from flax import linen as nn

width = 9


class Model(nn.Module):
    groups: int = 2
    width: int = 3 * groups
    deep: int = width + groups
    dtype: Any = jnp.float32
    kernel_init: Callable = nn.initializers.normal(stddev=0.02, dtype=dtype)
    same: Any = dtype
    HIDDEN = 2 * deep

    @nn.compact
    def __call__(self, x, more=deep):
        x = nn.Dense(self.width, name="first", dtype=self.same, kernel_init=self.kernel_init)(x)
        return nn.Dense(self.deep, name="second", kernel_init=self.kernel_init)(x) * self.HIDDEN * more


class Derived(Model):
    groups: int = 5
    other: int = width  # that of the file: a base's fields are no names of the body

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.other, name="third")(super().__call__(x))


class Before(nn.Module):
    deep: int = 2 * width
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.deep)(nn.Dense(self.width)(x))


class Evaluated(nn.Module):
    """Names of the body in what a comprehension goes through first, in a lambda's defaults and in an f-string."""

    width: int = 3
    widths: tuple = tuple(range(1, width))
    listed: tuple = tuple(i + 2 for i in range(width))
    scaled: Callable = lambda x, by=width: x * by
    of_file: Callable = lambda x: x + width
    label: str = f"by {width}"

    @nn.compact
    def __call__(self, x):
        for i, width in enumerate((*self.widths, *self.listed)):
            x = nn.Dense(width, name=f"layer_{i}")(x)
        return self.of_file(self.scaled(x)) + len(self.label) + (self.label == "by 3")


CASES = [
    ("Derived", {}, [(2, 3)], {}),
    ("Model", {}, [(2, 3)], {}),
    ("Model", {"groups": 3, "width": 4}, [(2, 3)], {}),
    ("Before", {}, [(2, 3)], {}),
    ("Evaluated", {}, [(2, 3)], {}),
]
