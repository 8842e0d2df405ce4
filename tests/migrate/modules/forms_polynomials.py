"""Polynomials, choices by conditions, places among borders: what jax.numpy's less common functions give."""

import flax.linen as nn
import jax.numpy as jnp

class Rational(nn.Module):
    degrees: tuple = (3, 2)
    def setup(self):
        self.p = self.param("p", nn.initializers.normal(), (self.degrees[0] + 1,))
        self.q = self.param("q", nn.initializers.normal(), (self.degrees[1] + 1,))
    def __call__(self, x):
        return jnp.polyval(self.p, x) / (1 + jnp.abs(jnp.polyval(self.q, x)))

class Network(nn.Module):
    widths: tuple = (4, 5, 2)
    @nn.compact
    def __call__(self, x):
        for width in self.widths[:-1]:
            x = nn.Dense(width)(x)
            x = Rational()(x)
        return nn.Dense(self.widths[-1])(x)

class Chosen(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = jnp.select([x > 1, x > 0], [x, 2 * x], 0.0)
        x = nn.Dense(4)(jnp.astype(x, jnp.float32))
        near = jnp.searchsorted(jnp.linspace(-1, 1, 5), x)
        return nn.Dense(3)(x * near)

CASES = [("Network", {}, [(2, 3)], {}), ("Chosen", {}, [(2, 3)], {}), ("Rational", {}, [(2, 3)], {})]
