"""Modules of setup of which a method picks one by a field, under a name of its own: Linen makes variables for that one."""

from flax import linen as nn


class Named(nn.Module):
    n: int = 2

    def setup(self):
        self.a = nn.Dense(4)
        self.b = nn.Dense(3)
        self.c = nn.Dense(5)

    def __call__(self, x):
        layer = self.a if self.n > 1 else self.b if self.n > 0 else self.c
        return layer(x) + layer(x) * 2


class OneElsewhere(nn.Module):
    n: int = 2

    def setup(self):
        self.a = nn.Dense(4)
        self.b = nn.Dense(4)

    def __call__(self, x):
        layer = self.a if self.n > 1 else self.b
        return layer(x) + self.a(x)


class InBranches(nn.Module):
    n: int = 2

    def setup(self):
        self.a = nn.Dense(4)
        self.b = nn.LayerNorm()

    def __call__(self, x):
        if self.n > 1:
            layer = self.a
        else:
            layer = self.b
        return layer(x)


class Instead(nn.Module):
    n: int = 2

    def setup(self):
        self.a = nn.Dense(4)
        self.b = nn.Dense(5)

    def __call__(self, x):
        layer = self.a
        if self.n > 1:
            layer = self.b
        return layer(x)


class Returned(nn.Module):
    n: int = 2

    def setup(self):
        self.a = nn.Dense(4)
        self.b = nn.Dense(5)

    def pick(self):
        return self.a if self.n > 1 else self.b

    def __call__(self, x):
        return self.pick()(x)


class Read(nn.Module):
    """One of them is read for something else, too: both are there."""

    n: int = 2

    def setup(self):
        self.a = nn.Dense(4)
        self.b = nn.Dense(4)

    def __call__(self, x):
        layer = self.a if self.n > 1 else self.b
        return layer(x) * self.a.features


CASES = [
    (name, {"n": n}, [(2, 3)], {})
    for name in ("Named", "OneElsewhere", "InBranches", "Instead", "Returned")
    for n in (2, 1, 0)
]
CASES += [("Read", {}, [(2, 3)], {})]
