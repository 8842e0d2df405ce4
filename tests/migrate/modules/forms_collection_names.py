"""Collections of variables that a field names."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class Features(nn.Module):
    features: int = 4
    collection_name: str = 'random_features'

    @nn.compact
    def __call__(self, x):
        kernel = self.variable(
            self.collection_name, 'kernel', nn.initializers.normal(), jax.random.key(0), (x.shape[-1], self.features)
        )
        bias = self.variable(self.collection_name, 'bias', jnp.zeros, (self.features,))
        return jnp.cos(x @ kernel.value + bias.value)


class Counts(nn.Module):
    collection: Any = 'counts'

    def setup(self):
        self.count = self.variable(self.collection, 'count', jnp.zeros, ())
        self.dense = nn.Dense(3)

    def __call__(self, x):
        self.count.value += 1
        return self.dense(x) * self.count.value


class Around(nn.Module):
    state: str = 'random_features'

    @nn.compact
    def __call__(self, x):
        x = Features()(x)
        x = Features(3, collection_name='random_features')(x)
        x = Features(features=2, collection_name=self.state)(x)
        return Counts(collection='counts')(x)


class Held(nn.Module):
    """Statistics of its own, read and written by name."""

    stats: str = 'stats'

    @nn.compact
    def __call__(self, x):
        mean = self.variable(self.stats, 'mean', lambda: jnp.zeros(x.shape[-1]))
        mean.value = 0.9 * mean.value + 0.1 * x.mean(0)
        return x - self.get_variable(self.stats, 'mean')


CASES = [
    ("Features", {}, [(2, 3)], {}),
    ("Counts", {}, [(2, 3)], {}),
    ("Around", {}, [(2, 3)], {}),
    ("Held", {}, [(2, 3)], {}),
]
