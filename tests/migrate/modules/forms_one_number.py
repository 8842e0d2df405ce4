"""Modules of one class under conditions that exclude each other: they have one number, and one attribute each."""

from flax import linen as nn


class Norms(nn.Module):
    """Before what it normalizes, or behind it."""

    pre: bool = True
    n: int = 3

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x) if self.pre else x
        h = nn.Dense(self.n)(h)
        if not self.pre:
            h = nn.LayerNorm(epsilon=1e-3)(h)
        h = nn.relu(h)
        if self.pre:
            h = nn.LayerNorm()(h)
        h = nn.Dense(self.n)(h)
        return h if self.pre else nn.LayerNorm()(h)


class Between(nn.Module):
    """With modules of another class that are counted by the conditions, and with some of the same behind them."""

    pre: bool = True
    more: bool = True

    @nn.compact
    def __call__(self, x, train=False):
        if self.pre:
            x = nn.BatchNorm(use_running_average=not train)(x)
            if self.more:
                x = nn.Dense(3)(x)
        if not self.pre:
            x = nn.Dense(4)(x)
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        return nn.BatchNorm(use_running_average=True)(x)


class Three(nn.Module):
    mode: str = "a"

    @nn.compact
    def __call__(self, x):
        if self.mode == "a":
            x = nn.Dense(3)(x)
        x = nn.LayerNorm()(x)
        if self.mode == "b":
            x = nn.Dense(4)(x)
        if not self.mode == "a":
            x = nn.RMSNorm()(x)
        elif self.mode == "a":
            x = nn.Dense(2)(x)
        return x


class Given(nn.Module):
    """Some by what a call is given, too."""

    first: bool = True

    @nn.compact
    def __call__(self, x, y=None):
        if self.first:
            x = nn.LayerNorm()(x)
        else:
            x = nn.Dense(3)(x)
        if y is None and not self.first:
            x = nn.LayerNorm()(x)
        if not self.first:
            x = nn.LayerNorm(epsilon=1e-2)(x)
        return x


CASES = [
    ("Norms", {}, [(2, 4)], {}),
    ("Norms", {"pre": False}, [(2, 4)], {}),
    ("Between", {}, [(2, 5)], {}),
    ("Between", {"more": False}, [(2, 5)], {}),
    ("Between", {"pre": False}, [(2, 5)], {}),
    ("Three", {}, [(2, 5)], {}),
    ("Three", {"mode": "b"}, [(2, 5)], {}),
    ("Three", {"mode": "c"}, [(2, 5)], {}),
    ("Given", {}, [(2, 4)], {"y": None}),
    ("Given", {"first": False}, [(2, 4)], {"y": None}),
    ("Given", {"first": False}, [(2, 4), (2,)], {}),
]
