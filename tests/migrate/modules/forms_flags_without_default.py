"""Flags that classes have in fields without a default, or that partials of them hold: `Block(4, train)(x)`."""

from functools import partial

from flax import linen as nn


class Blk(nn.Module):
    dim: int
    train: bool

    @nn.compact
    def __call__(self, x):
        y = nn.BatchNorm(use_running_average=not self.train)(x)
        return x + nn.Dense(x.shape[-1])(nn.relu(nn.Dense(self.dim)(y)))


class NoDefault(nn.Module):
    dim: int = 4

    @nn.compact
    def __call__(self, x, train=False):
        for i in range(2):
            x = Blk(self.dim, train)(x)
        return x


class Blk2(nn.Module):
    dim: int
    train: bool = True

    @nn.compact
    def __call__(self, x):
        y = nn.BatchNorm(use_running_average=not self.train)(x)
        return x + nn.Dense(x.shape[-1])(nn.relu(nn.Dense(self.dim)(y)))


class HeldByPartial(nn.Module):
    dim: int = 4

    @nn.compact
    def __call__(self, x, train=False):
        block = partial(Blk2, dim=self.dim, train=train)
        for i in range(2):
            x = block(name=f"block{i}")(x)
        return x


class Blk4(nn.Module):
    rate: float
    deterministic: bool

    @nn.compact
    def __call__(self, x):
        return nn.Dropout(self.rate, deterministic=self.deterministic)(nn.Dense(4)(x))


class OfField(nn.Module):
    train: bool = False

    @nn.compact
    def __call__(self, x):
        x = Blk4(0.5, not self.train)(x)
        return Blk4(rate=0.1, deterministic=not self.train)(x)


class PositionalToo(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic=True):
        block = partial(Blk4, 0.5, deterministic=deterministic)
        return block()(block(name="b")(x))


class OfFunction(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        def make(f):
            return partial(Blk2, dim=f, train=train)

        return make(5)()(make(4)()(x))


class Overridden(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        block = partial(Blk2, dim=4, train=train)
        x = block(dim=5)(x)
        return block(train=True)(x)


class EitherPartial(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x, train=False):
        block = partial(Blk2, dim=4, train=train) if self.n > 1 else partial(Blk2, dim=5, train=train)
        return block()(x)


CASES = [
    ("NoDefault", {}, [(2, 3)], {}),
    ("NoDefault", {}, [(2, 3)], {"train": True}),
    ("HeldByPartial", {}, [(2, 3)], {}),
    ("HeldByPartial", {}, [(2, 3)], {"train": True}),
    ("OfFunction", {}, [(2, 3)], {}),
    ("OfFunction", {}, [(2, 3)], {"train": True}),
    ("Overridden", {}, [(2, 3)], {}),
    ("Overridden", {}, [(2, 3)], {"train": True}),
    ("EitherPartial", {}, [(2, 3)], {}),
    ("EitherPartial", {}, [(2, 3)], {"train": True}),
    ("OfField", {}, [(2, 3)], {}),
    ("PositionalToo", {}, [(2, 3)], {}),
]
