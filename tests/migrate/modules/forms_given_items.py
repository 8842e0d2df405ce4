"""Lists of those of some arrays that a call gives."""

import jax.numpy as jnp
from flax import linen as nn


class Named(nn.Module):
    @nn.compact
    def __call__(self, x, y=None):
        inputs = [v for v in (x, y) if v is not None]
        return nn.Dense(3)(jnp.concatenate(inputs, -1))


class Inline(nn.Module):
    @nn.compact
    def __call__(self, x, y=None, z=None):
        h = jnp.concatenate([v for v in [x, y, z] if v is not None], axis=-1)
        return nn.Dense(3)(h)


class Last(nn.Module):
    @nn.compact
    def __call__(self, x, y=None, z=None):
        return nn.Dense(3)(jnp.concatenate([v for v in [y, z, x] if v is not None], axis=-1))


class Made(nn.Module):
    @nn.compact
    def __call__(self, x, y=None):
        a = nn.Dense(4)(x)
        b = nn.Dense(5)(y) if y is not None else None
        hs = [v for v in (a, b) if v is not None]
        return nn.Dense(3)(jnp.concatenate(hs, -1))


class Each(nn.Module):
    @nn.compact
    def __call__(self, x, y=None):
        return sum([nn.Dense(3)(v) for v in (x, y) if v is not None])


CASES = [(name, {}, [(2, 4), (2, 3)], {}) for name in ("Named", "Made", "Each")]
CASES += [(name, {}, [(2, 4)], {"y": None}) for name in ("Named", "Made", "Each")]
CASES += [(name, {}, [(2, 4), (2, 3), (2, 5)], {}) for name in ("Inline", "Last")]
CASES += [(name, {}, [(2, 4), (2, 3)], {"z": None}) for name in ("Inline", "Last")]
CASES += [(name, {}, [(2, 4)], {"y": None, "z": None}) for name in ("Inline", "Last")]
