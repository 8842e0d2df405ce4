"""Vector fields with a time that is a number: `jnp.ones_like(h[..., :1]) * t` is one column."""

import jax.numpy as jnp
from flax import linen as nn


class Joined(nn.Module):
    """The time beside the state, made in four ways."""

    @nn.compact
    def __call__(self, h, t):
        a = nn.Dense(4)(jnp.concatenate([h, jnp.ones_like(h[..., :1]) * t], -1))
        b = nn.Dense(4)(jnp.concatenate([h, t * jnp.ones((h.shape[0], 1))], -1))
        c = nn.Dense(4)(jnp.concatenate([h, jnp.zeros_like(h[:, :1]) + t], -1))
        return a + b + c + nn.Dense(4)(jnp.ones_like(h) * t)


class Steps(nn.Module):
    """A field that is followed in steps of time."""

    width: int = 3

    @nn.compact
    def __call__(self, x):
        field = Joined()
        h = nn.Dense(4)(x)
        for i in range(2):
            h = h + 0.5 * field(h, 0.5 * i)
        return nn.Dense(self.width)(h)


class Spread(nn.Module):
    """An array of queries, spread over the batch: as wide as it is."""

    @nn.compact
    def __call__(self, x, queries):
        return nn.Dense(3)(jnp.ones((x.shape[0], 1)) * queries)


class Scaled(nn.Module):
    """No time: as wide as the argument is."""

    @nn.compact
    def __call__(self, x, scale):
        y = jnp.ones_like(x[..., :1]) * scale
        return y * self.param("w", nn.initializers.constant(2.0), (y.shape[-1],))


CASES = [
    ("Scaled", {}, [(2, 4), (5,)], {}),
    ("Scaled", {}, [(2, 4), (2, 1)], {}),
    ("Joined", {}, [(2, 4), ()], {}),
    ("Joined", {}, [(2, 4), (1,)], {}),
    ("Joined", {}, [(2, 4), (2, 1)], {}),
    ("Steps", {}, [(2, 5)], {}),
    ("Spread", {}, [(2, 4), (1, 5)], {}),
]
