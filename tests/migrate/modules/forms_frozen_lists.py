"""Lists that setup keeps are tuples in Linen, which are added, compared and asked for their kind."""

from typing import Any

from flax import linen as nn


class Joined(nn.Module):
    depth: int = 2

    def setup(self):
        self.down = [nn.Dense(4) for _ in range(self.depth)]
        self.up = [nn.Dense(4), nn.Dense(4)]
        self.head = nn.Dense(3)

    def __call__(self, x):
        for layer in self.down + self.up + (self.head,):
            x = layer(x)
        return x


class Asked(nn.Module):
    sizes: Any = (3, 4)

    def setup(self):
        self.widths = [s + 1 for s in self.sizes]
        self.start = [2, -1]
        self.layers = [nn.Dense(4), nn.Dense(4)]
        self.plain = [0.5, 2.0]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        if isinstance(self.layers, list) or isinstance(self.widths, list) or self.plain != (0.5, 2.0):
            x = -x
        return x.reshape(self.start + x.shape[-1:]) * sum(self.widths + (1,))


CASES = [
    ("Joined", {}, ((2, 4),), {}),
    ("Asked", {}, ((2, 4),), {}),
]
