"""Members along the first axis of an input, whatever its rank is."""

import jax.numpy as jnp
from flax import linen as nn


class Layer(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x)


class Members(nn.Module):
    size: int = 3

    @nn.compact
    def __call__(self, x):
        members = nn.vmap(Layer, variable_axes={"params": 0}, split_rngs={"params": True})
        return members(self.size)(x)


class Flat(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        x = x.reshape(x.shape[0], -1)
        scale = self.param("scale", nn.initializers.normal(), x.shape[1:])
        return nn.Dense(self.size)(x * scale)


class Flattened(nn.Module):
    size: int = 3

    @nn.compact
    def __call__(self, x):
        members = nn.vmap(Flat, variable_axes={"params": 0}, split_rngs={"params": True}, out_axes=1)
        return members(self.size)(x)


class Heads(nn.Module):
    """An axis before all others, which the class itself adds."""

    @nn.compact
    def __call__(self, x):
        members = nn.vmap(Flat, variable_axes={"params": 0}, split_rngs={"params": True})
        return nn.Dense(2)(members(3)(jnp.stack([x, x])))


CASES = [
    ("Members", {}, [(2, 4)], {}),
    ("Members", {}, [(2, 3, 4)], {}),
    ("Members", {}, [(2, 3, 4, 5)], {}),
    ("Flattened", {}, [(2, 4, 5)], {}),
    ("Flattened", {}, [(2, 4, 5, 6)], {}),
    ("Heads", {}, [(4, 5)], {}),
    ("Heads", {}, [(4, 5, 6)], {}),
]
