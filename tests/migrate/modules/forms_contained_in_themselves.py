"""Modules that contain their own class; two that contain each other are in `test_linen_copies`."""

from flax import linen as nn


class Nested(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4)(x)
        if self.depth == 0:
            return h
        return Nested(self.depth - 1)(h)


class Owner(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Nested(1)(x)


CASES = [
    ("Nested", {}, [(2, 3)], {}),
    ("Owner", {}, [(2, 3)], {}),
    ("Nested", {"depth": 0}, [(2, 3)], {}),
]
