"""Loops of helper methods and functions whose counters have the names of what their callers use behind them."""

from flax import linen as nn


class OfMethod(nn.Module):
    widths: tuple = (4, 6)

    @nn.compact
    def __call__(self, x):
        f = 3
        x = self.tower(x)
        return nn.Dense(f)(x)

    def tower(self, x):
        for f in self.widths:
            x = nn.Dense(f)(x)
        return x


class OfFunction(nn.Module):
    @nn.compact
    def __call__(self, x):
        f = 3

        def tower(x):
            for f in (4, 5):
                x = nn.Dense(f)(x)
            return x

        x = tower(x)
        return nn.Dense(f)(x)


class SetBetween(nn.Module):
    @nn.compact
    def __call__(self, x):
        def tower(x, f):
            for i in range(f):
                x = nn.Dense(3 + i)(x)
            return x

        x = tower(x, 2)
        i = 8
        x = tower(x, 3)
        return nn.Dense(i)(x)


CASES = [
    ("OfMethod", {}, [(2, 4)], {}),
    ("OfMethod", {"widths": (5,)}, [(2, 4)], {}),
    ("OfFunction", {}, [(2, 4)], {}),
    ("SetBetween", {}, [(2, 4)], {}),
]
