"""Functions of jax under `jax.vmap`: a product for each of a batch, a polynomial for each feature."""

import jax
import jax.numpy as jnp
from flax import linen as nn

squared = jax.vmap(jnp.square)


class Polynomials(nn.Module):
    features: tuple = (4, 6)

    @nn.compact
    def __call__(self, x):
        for number, features in enumerate(self.features):
            x = nn.Dense(features)(x)
            rows = self.param(f"rows_{number}", nn.initializers.normal(), (x.shape[-1], 4))
            polynomial = jax.vmap(jnp.polyval, in_axes=(0, -1), out_axes=-1)
            x = polynomial(rows, x)
        return nn.Dense(2)(x)


class Products(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        batch, _ = x.shape
        _, width = y.shape
        x = nn.Dense(4)(x)
        outer = jax.vmap(jnp.outer)(x, nn.Dense(3)(y))
        x = jax.vmap(jnp.concatenate)([x, y])
        h = nn.LayerNorm()(outer) + nn.Dense(3)(squared(x)).reshape((batch, 1, width))
        return nn.Dense(2)(h)


class FirstValue(nn.Module):
    """Said by the constructor as it stands."""

    size: int = 3

    @nn.compact
    def __call__(self, x):
        table = self.param("table", lambda *_: jax.vmap(jnp.dot)(jnp.ones((self.size, 4)), jnp.ones((self.size, 4))))
        return nn.Dense(self.size)(x) + table


CASES = [
    ("Polynomials", {}, [(2, 5)], {}),
    ("Products", {}, [(2, 5), (2, 3)], {}),
    ("FirstValue", {}, [(2, 5)], {}),
    ("Polynomials", {}, [(2, 3, 5)], {}),
]
