"""Abstract methods without a body, which the base calls: what derived classes define in their place makes the layers."""

import abc

import jax.numpy as jnp
from flax import linen as nn


class Template(nn.Module, abc.ABC):
    """The sizes behind the abstract method are those of each derived class."""

    @abc.abstractmethod
    def block(self, x):
        """What comes first."""

    @abc.abstractmethod
    def scale(self): ...

    @nn.compact
    def __call__(self, x):
        x = self.block(x) * self.scale()
        return nn.Dense(2, name="last")(jnp.tanh(x))


class Plain(Template):
    width: int = 4

    def block(self, x):
        return nn.relu(nn.Dense(self.width)(x))

    def scale(self):
        return self.width / 2


class Deep(Template):
    width: int = 5

    def block(self, x):
        return nn.Dense(self.width)(nn.Dense(3)(x))

    def scale(self):
        return 1.0


class Below(Deep):
    """A base that has it, and one more."""

    def block(self, x):
        return jnp.concatenate([x, super().block(x)], -1)


class Optional(nn.Module, abc.ABC):
    """Its own text is what derived classes begin with."""

    @abc.abstractmethod
    def block(self, x):
        return nn.Dense(3)(x)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.block(x))


class OfText(Optional):
    def block(self, x):
        return nn.relu(super().block(x))


CASES = [
    ("Plain", {}, [(2, 4)], {}),
    ("Plain", {"width": 7}, [(2, 4)], {}),
    ("Deep", {}, [(2, 4)], {}),
    ("Below", {}, [(2, 4)], {}),
    ("OfText", {}, [(2, 4)], {}),
]
