"""Lists of arrays that a loop over modules of `setup` fills, joined for a layer of `setup`: its width is said in fields."""

from typing import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Head(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x, training=False):
        weights = nn.softmax(nn.Dense(self.size, use_bias=False)(x))
        return nn.Dropout(0.5, deterministic=not training)(weights * nn.Dense(self.size)(x))


class Heads(nn.Module):
    """Attention written by hand: one list, one projection."""

    size: int = 3
    count: int = 2

    def setup(self):
        self.heads = [Head(size=self.size) for _ in range(self.count)]
        self.projection = nn.Dense(self.count * self.size)

    def __call__(self, x, training: bool = False):
        outputs = []
        for head in self.heads:
            output = head(x, training)
            outputs.append(output)
        return self.projection(jnp.concatenate(outputs, axis=-1))


class Widths(nn.Module):
    sizes: Sequence[int] = (3, 5)

    def setup(self):
        self.heads = [Head(size) for size in self.sizes]
        self.projection = nn.Dense(4)

    def __call__(self, x):
        outputs = [x]
        for place, head in enumerate(self.heads):
            outputs.append(head(x) * place)
        return self.projection(jnp.concatenate(outputs, axis=-1))


class Several(nn.Module):
    """Two loops, and arrays beside them; two arrays in every pass of the second."""

    count: int = 2
    sizes: Sequence[int] = (3, 5)

    def setup(self):
        self.first = [Head(4) for _ in range(self.count)]
        self.second = [nn.Dense(size) for size in self.sizes]
        self.projection = nn.Dense(4)

    def __call__(self, x):
        outputs = [x]
        for i in range(self.count):
            outputs.append(self.first[i](x))
        outputs.append(x * 2)
        for layer in self.second:
            y = layer(x)
            outputs.append(y)
            outputs.append(jax.nn.relu(y))
        return self.projection(jnp.concatenate(outputs, axis=-1))


class Along(nn.Module):
    """What goes from one item to the next is kept at each step."""

    count: int = 3

    def setup(self):
        self.layers = [nn.Dense(4) for _ in range(self.count)]
        self.projection = nn.Dense(2)

    def __call__(self, x):
        outputs = [x]
        for layer in self.layers:
            x = nn.relu(layer(x))
            outputs.append(x)
        return self.projection(jnp.concatenate(outputs, axis=-1))


class InCompact(nn.Module):
    sizes: Sequence[int] = (3, 5)
    count: int = 2

    @nn.compact
    def __call__(self, x):
        outputs = [x]
        for size in self.sizes:
            outputs.append(nn.Dense(size)(x))
        for _ in range(self.count):
            outputs.append(Head(3)(x))
        return nn.Dense(4)(jnp.concatenate(outputs, axis=-1))


CASES = [
    ("Heads", {}, [(2, 6, 4)], {}),
    ("Widths", {}, [(2, 4)], {}),
    ("Several", {}, [(2, 4)], {}),
    ("Along", {}, [(2, 5)], {}),
    ("InCompact", {}, [(2, 5)], {}),
    ("Heads", {"count": 3}, [(2, 4)], {}),
]
