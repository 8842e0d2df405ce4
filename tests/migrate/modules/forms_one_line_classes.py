"""Classes whose body stands on the line of their head, and classes of a `pass` alone."""

from flax import linen as nn


class Base(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Wide(Base): width: int = 6
class Deep(Base): kind = "deep"; width: int = 5; depth: int = 2  # both
class Same(Base): pass
class Empty(nn.Module): ...


class Nothing(nn.Module):
    pass


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        Empty(), Nothing()
        deep = Deep()
        return Wide()(x).sum() + deep(x).sum() * deep.depth + Same()(x).sum()


CASES = [("Model", {}, [(2, 3)], {}), ("Wide", {}, [(2, 3)], {}), ("Deep", {}, [(2, 3)], {}), ("Same", {}, [(2, 3)], {})]
