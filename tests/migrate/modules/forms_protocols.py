"""Modules that name a protocol among their bases."""

from typing import Any, Protocol, TypeVar, runtime_checkable

import jax.numpy as jnp
from flax import linen as nn

T = TypeVar("T")


class Head(Protocol):
    """What a head has."""

    features: int

    def __call__(self, inputs: jnp.ndarray, train: bool) -> jnp.ndarray: ...

    @property
    def width(self) -> int:
        """How wide it is."""
        raise NotImplementedError


@runtime_checkable
class Scaled(Protocol[T]):
    def scale(self, x: T) -> T:
        """Nothing here."""


class Both(Head, Scaled[Any], Protocol):
    pass


class DenseHead(Head, nn.Module):
    features: int = 3

    @property
    def width(self):
        return self.features

    @nn.compact
    def __call__(self, inputs, train):
        return nn.Dropout(0.0, deterministic=not train)(nn.Dense(self.features)(inputs))


class LastHead(nn.Module, Head):
    """A protocol behind the module class."""

    features: int = 2

    def setup(self):
        self.dense = nn.Dense(self.width)

    @property
    def width(self):
        return self.features

    def __call__(self, inputs, train):
        return self.dense(inputs)


class Sized(Protocol):
    features: int


class Several(
    Both,
    nn.Module,
    Sized,
):
    """Several, one of which derives from the others."""

    features: int = 2

    @property
    def width(self):
        return self.features

    @nn.nowrap
    def scale(self, x):
        return 2 * x

    @nn.compact
    def __call__(self, inputs, train):
        return nn.Dense(self.width)(self.scale(inputs))


class Derived(DenseHead):
    """What derives from such a class."""

    def scale(self, x):
        return x + 1

    @nn.compact
    def __call__(self, inputs, train):
        return self.scale(nn.Dense(self.width)(inputs))


class Again(DenseHead, Scaled):
    """The same with another protocol, whose method it inherits from no class of modules."""

    def scale(self, x):
        return x + 2

    @nn.compact
    def __call__(self, inputs, train):
        return self.scale(nn.Dense(self.width)(inputs))


class Model(nn.Module):
    head: Head

    @nn.compact
    def __call__(self, x, train=False):
        return self.head(nn.relu(nn.Dense(4)(x)), train)


class Inside(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        return Model(DenseHead(5))(x, train) + Model(DenseHead(5), name="two")(x, train)


CASES = [
    ("DenseHead", {}, [(2, 4), False], {}),
    ("DenseHead", {"features": 5}, [(2, 4), False], {}),
    ("LastHead", {}, [(2, 4), False], {}),
    ("Several", {}, [(2, 4), False], {}),
    ("Derived", {}, [(2, 4), False], {}),
    ("Again", {}, [(2, 4), False], {}),
    ("Inside", {}, [(2, 4)], {}),
]
