"""Grids of positions beside an image, and lists of arrays that a comprehension computes."""

from __future__ import annotations

import flax.linen as nn
import jax.numpy as jnp
import numpy as np


class WithCoordinates(nn.Module):
    dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, x):
        axes = [np.arange(s) / (s - 1) * 2 - 1 for s in x.shape[-3:-1]]
        grid = jnp.array(np.stack(np.meshgrid(*axes), axis=-1), dtype=self.dtype).transpose(1, 0, 2)
        if x.ndim == 4:
            grid = jnp.broadcast_to(grid, [x.shape[0], *grid.shape])
        return jnp.concatenate([x, grid], axis=-1)


class Encoder(nn.Module):
    coordinates: bool = True

    @nn.compact
    def __call__(self, x):
        x = x / 127.5 - 1.0
        if self.coordinates:
            x = WithCoordinates()(x)
        return nn.Conv(4, (3, 3))(x)


class Slots(nn.Module):
    width: int = 5

    @nn.compact
    def __call__(self, x):
        ranges = [np.linspace(0.0, 1.0, num=n) for n in x.shape[1:3]]
        grid = np.stack(np.meshgrid(*ranges, sparse=False, indexing="ij"), axis=-1)
        grid = np.expand_dims(np.reshape(grid, [x.shape[1], x.shape[2], -1]), axis=0)
        grid = np.concatenate([grid, 1.0 - grid], axis=-1)
        return nn.Dense(self.width)(x) + nn.Dense(self.width)(grid)


class Sums(nn.Module):
    @nn.compact
    def __call__(self, x):
        parts = [jnp.cumsum(x, axis=a) for a in (1, 2)]
        parts = [jnp.expand_dims(part, -1) for part in parts]
        return nn.Dense(5)(jnp.concatenate(parts, -1))


class Pieces(nn.Module):
    """Arrays of different widths, put together in several ways."""

    @nn.compact
    def __call__(self, x):
        wide = [jnp.pad(x, ((0, 0), (0, 0), (0, k))) for k in (1, 2)]
        first, *others = [jnp.roll(x, s, 1) for s in (-1, 0, 1)]
        y = nn.Dense(3)(jnp.concatenate(wide, -1))
        return y + nn.Dense(3)(first) + nn.Dense(3)(jnp.concatenate([*others, wide[1]], -1))


CASES = [
    ("WithCoordinates", {}, ((5, 6, 3),), {}),
    ("Encoder", {}, ((2, 5, 6, 3),), {}),
    ("Encoder", {"coordinates": False}, ((2, 5, 6, 3),), {}),
    ("Slots", {}, ((2, 5, 6, 3),), {}),
    ("Sums", {}, ((2, 4, 6),), {}),
    ("Pieces", {}, ((2, 4, 6),), {}),
]
