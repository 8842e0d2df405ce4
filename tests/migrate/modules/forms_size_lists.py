"""Lists of arrays that loops fill and empty: the constructor keeps their widths along."""
from typing import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class UNet(nn.Module):
    features: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        skips = []
        for width in self.features:
            x = nn.relu(nn.Conv(width, (3, 3))(x))
            skips.append(x)
            x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.Conv(2 * self.features[-1], (3, 3))(x)
        for width in reversed(self.features):
            b, h, w, c = x.shape
            x = jax.image.resize(x, (b, 2 * h, 2 * w, c), 'nearest')
            x = jnp.concatenate([x, skips.pop()], axis=-1)
            x = nn.relu(nn.Conv(width, (3, 3))(x))
        return nn.Conv(1, (1, 1))(x)


class Zipped(nn.Module):
    features: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x):
        skips = [x]
        for width in self.features:
            x = nn.Dense(width)(x)
            skips += [x]
        for width, skip in zip(self.features, reversed(skips)):
            x = nn.Dense(width)(jnp.concatenate([x, skip], axis=-1))
        for i, skip in enumerate(skips[1:]):
            x = x + nn.Dense(x.shape[-1])(skip)
        return nn.Dense(3)(jnp.concatenate(skips, -1)) + nn.Dense(3)(x)


class DenseNet(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        outputs = [x]
        for i in range(self.depth):
            h = jnp.concatenate(outputs, axis=-1)
            outputs.append(nn.Dense(5)(nn.LayerNorm()(h)))
        return nn.Dense(2)(jnp.concatenate(outputs, axis=-1)), nn.Dense(3)(outputs[-1])


class Tuples(nn.Module):
    depth: int = 2
    deep: bool = True

    @nn.compact
    def __call__(self, x):
        results = ()
        for i in range(self.depth):
            x = nn.Dense(3 + i)(x)
            results = results + (x,)
            if self.deep:
                x = nn.Dense(7)(x)
                results += (x,)
        last = results[-1:]
        for i in range(self.depth):
            result = results[-1]
            results = results[:-1]
            x = nn.Dense(2)(jnp.concatenate([x, result], -1))
        for y in last:
            x = nn.Dense(2)(jnp.concatenate([x, y], -1))
        return x


class Popped(nn.Module):
    """Two in one statement, from either end, and without a loop."""

    depth: int = 2

    @nn.compact
    def __call__(self, x):
        stack = []
        for i in range(2 * self.depth):
            stack.append(nn.Dense(i + 2)(x))
        for i in range(self.depth):
            x = nn.Dense(4)(jnp.concatenate([stack.pop(), stack.pop(0), x], -1))
        pair = [nn.Dense(3)(x), nn.Dense(5)(x)]
        pair.append(x)
        first = pair.pop(0)
        return nn.Dense(2)(pair.pop()) + nn.Dense(2)(pair[0]) + nn.Dense(2)(first)


CASES = [
    ('UNet', {}, [(1, 8, 8, 3)], {}),
    ('UNet', dict(features=(4, 6, 8)), [(1, 8, 8, 3)], {}),
    ('Zipped', {}, [(2, 3)], {}),
    ('DenseNet', {}, [(2, 3)], {}),
    ('Tuples', {}, [(2, 3)], {}),
    ('Tuples', dict(deep=False), [(2, 3)], {}),
    ('Popped', {}, [(2, 3)], {}),
    ('Popped', dict(depth=3), [(2, 3)], {}),
]
