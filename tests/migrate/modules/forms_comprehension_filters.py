"""Modules that are made where a filter, or the other part of an `and` or `or`, lets it come to that; what loops leave behind."""

from typing import Any

from flax import linen as nn


class Filtered(nn.Module):
    """Numbered modules: Linen counts those that are made."""

    sizes: Any = (3, 4, 5)

    @nn.compact
    def __call__(self, x):
        odd = [nn.Dense(s)(x) for s in self.sizes if s % 2]
        return odd, [nn.Dense(7)(x) for i, s in enumerate(self.sizes) if i > 0 if s > 4]


class Named(nn.Module):
    sizes: Any = (3, 4, 5)
    last: bool = False

    @nn.compact
    def __call__(self, x):
        heads = {f"d{s}": nn.Dense(s, name=f"d{s}")(x) for s in self.sizes if s < 5 or self.last}
        scales = [self.param(f"p{s}", nn.initializers.ones, (s,)) for s in self.sizes if s > 3]
        return heads, scales


class Grid(nn.Module):
    sizes: Any = (3, 4, 5)

    @nn.compact
    def __call__(self, x):
        return {f"{s}{t}": nn.Dense(s + t, name=f"d{s}{t}")(x) for s in self.sizes if s > 3 for t in (1, 2) if s + t != 6}


class Either(nn.Module):
    """`and` and `or` come to their second part, or not."""

    use: bool = True
    more: bool = True

    @nn.compact
    def __call__(self, x, y=None):
        first = self.use and self.more and nn.Dense(4)(x)
        second = self.use or nn.Dense(5)(x)
        third = y is not None and nn.Dense(4, name="given")(y)
        x = nn.Dense(6)(x).sum(-1, keepdims=True)
        return [x * part for part in (first, second, third)]


class CalledAgain(nn.Module):
    """The loop has called each: the name is the last of them."""

    n: int = 2

    @nn.compact
    def __call__(self, x):
        again = []
        for _ in range(self.n):
            layer = nn.Dense(4)
            x = layer(x)
            again.append(lambda y: nn.relu(layer(y)))
        for act in again:
            x = act(x)
        return layer(x)


CASES = [
    ("Filtered", {}, ((2, 4),), {}),
    ("Named", {}, ((2, 4),), {}),
    ("Named", {"last": True}, ((2, 4),), {}),
    ("Grid", {}, ((2, 4),), {}),
    ("Either", {}, ((2, 4), (2, 3)), {}),
    ("Either", {"more": False}, ((2, 4), (2, 3)), {}),
    ("Either", {"use": False}, ((2, 4), (2, 3)), {}),
    ("CalledAgain", {}, ((2, 4),), {}),
]
