"""Generic classes of which a base or a maker says the types: `class Encoder(Stage[int])`, `Stage[int](4)`."""

from typing import Generic, TypeVar

from flax import linen as nn

T = TypeVar("T")


class Scaled(Generic[T]):
    factor: float = 2.0

    def scaled(self, x):
        return x * self.factor


class Stage(nn.Module, Generic[T]):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Deeper(Stage[int]):
    other: int = 2

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.other)(nn.Dense(self.width)(x))


class Between(Stage[T]):
    more: int = 5


class Below(Between[int]):
    last: int = 1


class Mixed(Scaled[int], Stage[str]):
    extra: int = 3

    def __call__(self, x):
        return self.scaled(super().__call__(x)) + self.extra


class Prepared(nn.Module, Generic[T]):
    width: int = 3

    def setup(self):
        self.dense = nn.Dense(self.width)

    def __call__(self, x):
        return self.dense(x)


class MorePrepared(Scaled[T], Prepared[T]):
    def setup(self):
        super().setup()
        self.head = nn.Dense(5)

    def __call__(self, x):
        return self.head(self.scaled(super().__call__(x)))


class Given(nn.Module):
    stage: Stage[int]

    @nn.compact
    def __call__(self, x):
        return self.stage(x)


class Uses(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Given(Stage[int](4))(x) + Stage[str](width=4)(x) + Given(stage=Below(4))(x)


X = [(2, 3)]
CASES = [(name, {}, X, {}) for name in ("Stage", "Deeper", "Below", "Mixed", "Prepared", "Uses")]
