"""Classes that call the `setup` of `nn.Module`, which does nothing."""

from flax import linen as nn


class Base(nn.Module):
    width: int = 4

    def setup(self):
        super().setup()
        self.first = nn.Dense(self.width)

    def __call__(self, x):
        return self.first(x)


class Derived(Base):
    def setup(self):
        super().setup()
        self.second = nn.Dense(5)

    def __call__(self, x):
        return self.second(super().__call__(x))


class ByName(nn.Module):
    def setup(self):
        super(ByName, self).setup()
        self.first = nn.Dense(4)

    def __call__(self, x):
        return self.first(x)


CASES = [("Derived", {}, [(2, 3)], {}), ("Base", {}, [(2, 3)], {}), ("ByName", {}, [(2, 3)], {})]
