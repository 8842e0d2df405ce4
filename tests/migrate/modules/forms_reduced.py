"""`functools.reduce` over numbers and modules, by functions that keep the shape."""

import functools

from flax import linen as nn


class AsItIs(nn.Module):
    times: int = 2

    @nn.compact
    def __call__(self, x):
        x = functools.reduce(lambda a, i: nn.relu(a + i), range(self.times), x)
        return nn.Dense(3)(x)


class Layers(nn.Module):
    depth: int = 2

    def setup(self):
        self.layers = [nn.Dense(6) for _ in range(self.depth)]
        self.last = nn.Dense(3)

    def __call__(self, x):
        return self.last(functools.reduce(lambda a, layer: nn.relu(layer(a)), self.layers, x))


CASES = [
    ("AsItIs", {}, [(2, 4)], {}),
    ("Layers", {}, [(2, 4)], {}),
]
