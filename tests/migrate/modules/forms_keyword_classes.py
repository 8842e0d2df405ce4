"""Classes of Linen that take all fields by keyword (`kw_only=True`), and classes derived from them."""

from flax import linen as nn


class Base(nn.Module, kw_only=True):
    width: int = 4
    depth: int

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = nn.Dense(self.width, name=f"base_{i}")(x)
        return x


class Derived(Base):
    out: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.out, name="head")(super().__call__(x))


class Mixed(Derived, kw_only=True):
    scale: float

    def __call__(self, x):
        return super().__call__(x) * self.scale


class Plain(nn.Module, kw_only=False):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Uses(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Base(depth=2)(x)
        x = Derived(5, depth=1)(x)
        return Mixed(2, depth=1, scale=0.5, width=7)(x) + Plain(2)(x)


CASES = [
    ("Uses", {}, [(2, 3)], {}),
    ("Base", {"depth": 1}, [(2, 3)], {}),
    ("Mixed", {"depth": 2, "scale": 2.0}, [(2, 3)], {}),
]
