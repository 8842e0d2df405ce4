"""Loops over several sequences at once that say `strict`."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn


class UNet1D(nn.Module):
    features: Sequence[int] = (4, 6, 8)

    @nn.compact
    def __call__(self, x):
        skips = []
        for i, size in enumerate(self.features):
            x = nn.relu(nn.Conv(size, (3,))(x))
            if i != 0:
                skips.append(x)
        for size, skip in reversed(list(zip(self.features[:-1], skips, strict=False))):
            x = jnp.concatenate((x, skip), axis=-1)
            x = nn.relu(nn.Conv(size, (3,))(x))
        return nn.Dense(self.features[0])(x)


class Zipped(nn.Module):
    widths: Sequence[int]
    scales: Sequence[float]

    @nn.compact
    def __call__(self, x):
        for width, scale in zip(self.widths, self.scales, strict=True):
            x = nn.Dense(width)(x) * scale
        return nn.Dense(2)(x)


class SkipsZipped(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        kept = []
        for width in self.widths:
            x = nn.Dense(width)(x)
            kept.append(x)
        total = x
        for width, old in zip(self.widths, kept, strict=True):
            total = jnp.concatenate([total, nn.Dense(width)(old)], axis=-1)
        return nn.Dense(3)(total)


CASES = [
    ("UNet1D", {}, [(2, 8, 3)], {}),
    ("UNet1D", {"features": (5, 4)}, [(2, 8, 3)], {}),
    ("Zipped", {"widths": (3, 4), "scales": (0.5, 2.0)}, [(2, 3)], {}),
    ("SkipsZipped", {"widths": (3, 4)}, [(2, 3)], {}),
]
