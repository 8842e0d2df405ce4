"""Classes that use, or call, what loops over modules of a base's `setup` make."""

import flax.linen as nn


class Base(nn.Module):
    depth: int = 2

    def setup(self):
        self.blocks = [nn.Dense(8) for _ in range(self.depth)]

    def __call__(self, x):
        for b in self.blocks:
            x = b(x)
        return x


class Headed(Base):
    def setup(self):
        super().setup()
        self.out = nn.Dense(2)

    def __call__(self, x):
        return self.out(super().__call__(x))


class Again(Base):
    def setup(self):
        super().setup()
        self.inp = nn.Dense(5)
        self.out = nn.Dense(2)

    def __call__(self, x):
        x = self.inp(x)
        for b in self.blocks:
            x = b(x)
        return self.out(x)


class Beside(Base):
    def __call__(self, y, x):
        for b in self.blocks:
            x = b(x) + y
        return x


class Wide(nn.Module):
    widths: tuple = (5, 6)

    def setup(self):
        self.blocks = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        for b in self.blocks:
            x = b(x)
        return x


class WideHeaded(Wide):
    def setup(self):
        super().setup()
        self.last = nn.Dense(2)

    def __call__(self, x):
        return self.last(super().__call__(x[..., :2]))


CASES = [
    ("Headed", {}, [(2, 3)], {}),
    ("Headed", {"depth": 3}, [(2, 3)], {}),
    ("Again", {}, [(2, 3)], {}),
    ("Beside", {}, [(2, 8), (2, 3)], {}),
    ("WideHeaded", {}, [(2, 3)], {}),
    ("WideHeaded", {"widths": (4, 3, 2)}, [(2, 3)], {}),
]
