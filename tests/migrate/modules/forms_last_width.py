"""Widths after a loop: the last item of the sizes that it runs over, as the modules that take the result say it."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp


class Tower(nn.Module):
    """The usual tower of dense layers."""

    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.relu(nn.Dense(size)(x))
        return x


class Numbered(nn.Module):
    """The same with a number, which the last layer asks for."""

    sizes: Sequence[int]
    final: bool = False

    @nn.compact
    def __call__(self, x):
        for i, size in enumerate(self.sizes):
            if i + 1 == len(self.sizes) and self.final:
                x = nn.Dense(size, use_bias=False)(x)
            else:
                x = nn.Dense(size)(x)
            if i + 1 < len(self.sizes):
                x = nn.relu(x)
        return x


class Doubling(nn.Module):
    """A loop that gives its own name another meaning: the width is not the item."""

    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            size = 2 * size
            x = nn.Dense(size)(x)
        return x


class FromField(nn.Module):
    """Sizes handed on from a field."""

    sizes: Sequence[int]
    actions: int = 2

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(self.actions)(Tower(self.sizes)(x))
        return y + nn.Dense(self.actions)(Numbered(self.sizes, final=True)(x))


class FromLiteral(nn.Module):
    """Sizes written out, with a field among them."""

    actions: int = 2

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(self.actions)(Tower((5, 6))(x))
        return y + nn.Dense(self.actions)(Numbered((5, self.actions + 1))(x))


class Extended(nn.Module):
    """Sizes with one more at the end."""

    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x, y):
        both = jnp.concatenate([x, y], -1)
        value = Tower((*self.sizes, 7))(both)
        return jnp.squeeze(nn.Dense(1)(value), -1)


class OwnLoop(nn.Module):
    """The loop and the layer behind it in one method."""

    sizes: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for _, size in enumerate(self.sizes, start=1):
            x = nn.Dense(size)(x)
        return nn.Dense(2)(Tower(self.sizes)(x))


CASES = [
    ("FromField", {"sizes": (3, 4)}, [(2, 6)], {}),
    ("FromLiteral", {}, [(2, 6)], {}),
    ("Extended", {"sizes": (3, 4)}, [(2, 6), (2, 1)], {}),
    ("OwnLoop", {"sizes": [4, 3]}, [(2, 6)], {}),
    ("Doubling", {"sizes": (3, 4)}, [(2, 6)], {}),
]
