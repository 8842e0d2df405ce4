"""A flag that one caller gives from its call and that decides on modules stays with the constructor: others lack them."""

import flax.linen as nn

class Sum(nn.Module):
    project: bool = False
    @nn.compact
    def __call__(self, x, y):
        if self.project:
            y = nn.Dense(x.shape[-1])(y)
        return x + y

class Plain(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Sum()(x, x)

class Sized(nn.Module):
    width: int = 5
    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.width)(x)
        return Sum(project=h.shape[-1] != x.shape[-1])(h, x)

class Called(nn.Module):
    @nn.compact
    def __call__(self, x, up: bool = True):
        return Sum(project=up)(nn.Dense(5)(x), x)

CASES = [
    ("Plain", {}, [(2, 3)], {}), ("Sized", {}, [(2, 3)], {}), ("Sized", {"width": 3}, [(2, 3)], {}),
]
