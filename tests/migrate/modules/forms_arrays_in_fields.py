"""Arrays in fields that modules are called with."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Table(nn.Module):
    table: np.ndarray
    width: int = 4

    @nn.compact
    def __call__(self, x):
        q = nn.Dense(self.width)(self.table)
        return nn.Dense(self.width)(x) @ q.T


class Attributes(nn.Module):
    """In setup, through a class of the project's."""

    queries: jax.Array

    def setup(self):
        self.keys = Inner(3)
        self.out = nn.Dense(3)

    def __call__(self, x):
        return self.out(x) @ self.keys(x=self.queries).T


class Inner(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(jnp.tanh(nn.Dense(2)(x)))


class Outer(nn.Module):
    """Handed on by the class around it."""

    codes: jax.Array

    @nn.compact
    def __call__(self, x):
        return Attributes(self.codes)(x)


ARRAY = np.linspace(0, 1, 10, dtype=np.float32).reshape(2, 5)
CASES = [
    ("Attributes", {"queries": ARRAY}, [(4, 7)], {}),
    ("Outer", {"codes": ARRAY}, [(4, 7)], {}),
    ("Table", {"table": ARRAY[:, :3]}, [(4, 7)], {}),
]
