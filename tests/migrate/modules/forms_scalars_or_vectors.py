"""Inputs that are given a rank where they have another one: times of a diffusion model."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np


class Schedule(nn.Module):
    @nn.compact
    def __call__(self, t):
        if jnp.isscalar(t) or len(t.shape) == 0:
            t = t * jnp.ones((1, 1))
        else:
            t = jnp.reshape(t, (-1, 1))
        return nn.Dense(4)(t) + nn.Dense(4)(2 * (t - 0.5))


class Score(nn.Module):
    @nn.compact
    def __call__(self, z, t):
        if np.ndim(t) == 0:
            t = jnp.full((z.shape[0],), t)
        return nn.Dense(3)(z) + nn.Dense(3)(t[:, None])


class AskedAgain(nn.Module):
    """A rank that is asked for once more may be any."""

    @nn.compact
    def __call__(self, x):
        if x.ndim == 2:
            x = x[:, None, :]
        if x.ndim == 4:
            x = nn.Conv(5, (3, 3))(x)
        return nn.Dense(3)(x)


CASES = [
    ("Schedule", {}, [(3,)], {}),
    ("Schedule", {}, [np.float32(0.5)], {}),
    ("Score", {}, [(3, 2), (3,)], {}),
    ("Score", {}, [(3, 2), np.float32(0.5)], {}),
    ("AskedAgain", {}, [(3, 2)], {}),
    ("AskedAgain", {}, [(2, 4, 4, 2)], {}),
]
