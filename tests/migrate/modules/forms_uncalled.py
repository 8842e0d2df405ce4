"""Submodules of `setup` that nothing calls: Linen makes no variables for them."""

import flax.linen as nn


class Left(nn.Module):
    width: int = 4

    def setup(self):
        self.first = nn.Dense(self.width)
        # for another version of this
        self.second = nn.Dense(self.width)
        self.table = nn.Embed(10, 3); size = 2
        self.last = nn.Dense(size)

    def __call__(self, x):
        return self.last(self.first(x))


class Gate(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, y):
        return (1 - nn.sigmoid(nn.Dense(self.width)(y))) * x


class UnderAFlag(nn.Module):
    gating: bool = False

    def setup(self):
        self.dense = nn.Dense(3)
        if self.gating:
            self.gate = nn.Dense(3)
            self.unused_gate = Gate(3)
        else:
            self.other = nn.Dense(2)
        self.unused = Gate(width=5)

    def __call__(self, x):
        x = self.dense(x)
        if self.gating:
            x = self.gate(x)
        return x


class BesideCompact(nn.Module):
    def setup(self):
        self.never = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


class First(nn.Module):
    def setup(self):
        """Two of them begin it, and one ends it."""
        # not called
        self.never = nn.Dropout(0.1)
        self.nor = nn.Dense(3)  # this one neither

        # called
        size = 4
        self.dense = nn.Dense(size)
        self.last = nn.Dense(2)

    def __call__(self, x):
        return self.dense(x)


class Only(nn.Module):
    features: int = 3

    def setup(self):
        self.never = nn.Dense(self.features)
        self.nor = nn.Dense(self.features)

    def __call__(self, x):
        return x * self.features


class Inherits(Left):
    def __call__(self, x):
        return self.last(self.first(x)) * 2


class Extends(Left):
    def setup(self):
        super().setup()
        self.more = nn.Dense(3)
        self.neither = nn.Dense(3)

    def __call__(self, x):
        return self.more(self.last(self.first(x)))


CASES = [
    ("Inherits", {}, ((2, 4),), {}),
    ("Extends", {}, ((2, 4),), {}),
    ("Left", {}, ((2, 4),), {}),
    ("UnderAFlag", {}, ((2, 4),), {}),
    ("UnderAFlag", {"gating": True}, ((2, 4),), {}),
    ("First", {}, ((2, 4),), {}),
    ("Only", {}, ((2, 4),), {}),
    ("BesideCompact", {}, ((2, 4),), {}),
]
