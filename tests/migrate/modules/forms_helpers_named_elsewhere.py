"""Methods whose text stands in place of their calls, where other code says their name, of something else; and carries of cells
that other classes ask for."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp

class Repeating(nn.Module):
    width: int = 4
    depth: int = 2
    def normalize(self, x, train):
        return nn.BatchNorm(use_running_average=not train)(x)
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = self.normalize(x, train)
        for _ in range(self.depth):
            x = nn.Dense(self.width)(x)
            x = self.normalize(x, train)
        return nn.Dense(3)(x)

def rewards(statistics, x):
    return statistics.normalize(x)

class ScannedCell(nn.Module):
    @partial(nn.scan, variable_broadcast="params", in_axes=0, out_axes=0, split_rngs={"params": False})
    @nn.compact
    def __call__(self, carry, x):
        new, y = nn.GRUCell(carry.shape[-1])(carry, x)
        return new, y
    @staticmethod
    def initialize_carry(width, *batch):
        return nn.GRUCell(width, parent=None).initialize_carry(jax.random.key(0), (*batch, width))

class Recurrent(nn.Module):
    width: int = 4
    @nn.compact
    def __call__(self, carry, x):
        x = nn.Dense(self.width)(x)
        carry, x = ScannedCell()(carry, x)
        return carry, nn.Dense(3)(x)
    def initialize_carry(self, *batch):
        return ScannedCell.initialize_carry(self.width, *batch)
    def carries(self, count, *batch):
        return [ScannedCell.initialize_carry(self.width, *batch) for _ in range(count)]

CASES = [
    ("Repeating", {}, [(2, 3)], {}), ("Repeating", {}, [(2, 3)], {"train": True}),
    ("Recurrent", {}, [(2, 4), (5, 2, 3)], {}), ("Repeating", {"depth": 0}, [(2, 3)], {}),
]
