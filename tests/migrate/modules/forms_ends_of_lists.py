"""Attention by the size of what stands last in a list (`hs[-1]`), strides by a condition, arrays of comprehensions one by
one, a class below another of its name; `CASES` as in forms_basic.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Block(nn.Module):
    out: int = 0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


class Block(nn.Module):
    """The one that counts: it stands below the other."""

    out: int = 0

    @nn.compact
    def __call__(self, x, embedding):
        out = self.out or x.shape[-1]
        h = nn.Conv(out, (3, 3))(nn.swish(nn.LayerNorm()(x)))
        h = h + nn.Dense(out)(embedding)[:, None, None, :]
        if x.shape[-1] != out:
            x = nn.Dense(out)(x)
        return x + h


class UNet(nn.Module):
    width: int = 4
    multipliers: Sequence[int] = (1, 2)
    blocks: int = 1
    attention: Sequence[int] = (4,)

    @nn.compact
    def __call__(self, x, embedding):
        levels = len(self.multipliers)
        hs = [nn.Conv(self.width, (3, 3))(x)]
        for level in range(levels):
            for _ in range(self.blocks):
                h = Block(self.width * self.multipliers[level])(hs[-1], embedding)
                if h.shape[1] in self.attention:
                    h = h + nn.Dense(h.shape[-1])(h)
                hs.append(h)
            if level != levels - 1:
                hs.append(nn.Conv(hs[-1].shape[-1], (3, 3), (2, 2))(hs[-1]))
        h = Block()(hs[-1], embedding)
        for level in reversed(range(levels)):
            for _ in range(self.blocks + 1):
                h = Block(self.width * self.multipliers[level])(jnp.concatenate([h, hs.pop()], axis=-1), embedding)
            if level != 0:
                h = jax.image.resize(h, (h.shape[0], h.shape[1] * 2, h.shape[2] * 2, h.shape[3]), "nearest")
        return nn.Conv(x.shape[-1], (3, 3))(h)


class Changed(nn.Module):
    """The list grows under a condition, by `+`, by `+=`, by `extend`, and is cut."""

    count: int = 2
    keep: bool = False
    attention: Sequence[int] = (4,)

    @nn.compact
    def __call__(self, x):
        hs, ts = [x], []
        for i in range(self.count):
            h = nn.Conv(4, (3, 3), (2, 2))(hs[-1])
            if self.keep:
                hs.append(h)
            if i == 1:
                continue
            if hs[-1].shape[1] in self.attention:
                hs = hs + [nn.Dense(5)(hs[-1])]
                hs += [nn.Dense(6)(hs[-1])]
            ts.extend([h, nn.Dense(3)(h)])
            if ts[-1].shape[2] == 2:
                ts.append(nn.Dense(7)(ts[-1]))
        hs = hs[:-1]
        return nn.Dense(2)(ts[-1])


class Learned(nn.Module):
    height: int
    width: int

    @nn.compact
    def __call__(self, x):
        return x * self.param("scale", nn.initializers.ones, (self.height, self.width, 1))


class Strided(nn.Module):
    out: int
    norm: Any
    strides: Any = (1, 1)

    @nn.compact
    def __call__(self, x):
        h = nn.Conv(self.out, (3, 3), self.strides)(nn.relu(self.norm()(x)))
        if x.shape != h.shape:
            x = nn.Conv(self.out, (1, 1), self.strides, name="proj")(x)
        return x + h


class ResNet(nn.Module):
    sizes: Sequence[int] = (1, 2)
    norm: str = "group"

    @nn.compact
    def __call__(self, x):
        norm = partial(nn.GroupNorm, num_groups=2) if self.norm == "group" else partial(nn.LayerNorm, epsilon=1e-5)
        steps = (2, 2, 1)
        x = nn.Conv(4, (3, 3), (steps[0], steps[0]))(x)
        for i, size in enumerate(self.sizes):
            for j in range(size):
                strides = (steps[i], steps[i]) if i > 0 and j == 0 else (1, 1)
                x = Strided(4 * 2**i, strides=strides, norm=norm)(x)
        height, width, _ = x.shape[-3:]
        return Learned(height=height, width=width)(x)


class Coordinates(nn.Module):
    @nn.compact
    def __call__(self, x):
        grid = np.stack(np.meshgrid(*[np.arange(s) / (s - 1) for s in x.shape[-3:-1]], indexing="ij"), axis=-1)
        if x.ndim == 4:
            grid = jnp.broadcast_to(grid, [x.shape[0], *grid.shape])
        return nn.Dense(3)(jnp.concatenate([x, grid], axis=-1))


class Pieces(nn.Module):
    widths: Sequence[int] = (3, 4)

    @nn.compact
    def __call__(self, x):
        parts = [x[..., :i] for i in (1, 2, 3) if i > 1]
        out = sum(nn.Dense(5)(nn.Dense(w)(p)) for p, w in zip(parts, self.widths))
        for part in parts:
            out = out + nn.Dense(5)(part)
        parts.append(out)
        return nn.Dense(2)(jnp.concatenate(parts, axis=-1))


CASES = [
    ("UNet", {}, [(2, 8, 8, 3), (2, 5)], {}),
    ("UNet", {"attention": (8, 2), "multipliers": (1, 2, 2), "blocks": 2}, [(2, 8, 8, 3), (2, 5)], {}),
    ("Changed", {"keep": True}, [(2, 8, 8, 3)], {}),
    ("Changed", {"count": 3, "keep": True, "attention": (8, 2)}, [(2, 8, 8, 3)], {}),
    ("ResNet", {}, [(2, 16, 12, 3)], {}),
    ("ResNet", {"sizes": (1, 1, 1), "norm": "layer"}, [(2, 9, 16, 3)], {}),
    ("Coordinates", {}, [(2, 3, 4, 3)], {}),
    ("Pieces", {}, [(2, 3)], {}),
    ("Pieces", {"widths": (3,)}, [(2, 3)], {}),
]
