"""Arrays of a tuple, or of a list, whose number of dimensions a part tells that they are given to."""

import jax.numpy as jnp
from flax import linen as nn


class Flat(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x):
        batch, height, width, channels = x.shape
        return nn.Dense(self.width)(x.reshape(batch, height * width, channels))


class Head(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, inputs):
        a, b = inputs
        h = Flat(self.width)(a)
        h = jnp.reshape(h, (a.shape[0], a.shape[1], a.shape[2], -1))
        g = Flat(self.width)(b)
        g = jnp.reshape(g, (b.shape[0], b.shape[1], b.shape[2], -1))
        g = jnp.repeat(jnp.repeat(g, 2, axis=1), 2, axis=2)
        y = jnp.concatenate([h, g], axis=-1)
        return nn.Conv(3, (1, 1))(nn.relu(y))


class Picked(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, inputs):
        h = Flat(self.width)(inputs[1])
        h = h.reshape(inputs[1].shape[0], inputs[1].shape[1], inputs[1].shape[2], -1)
        return nn.Dense(2)(h) + inputs[0].sum()


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        outs = []
        x = nn.Conv(4, (3, 3))(x)
        outs.append(x)
        x = nn.Conv(8, (3, 3), strides=(2, 2))(x)
        outs.append(x)
        return Head()(outs), Picked()(outs)


CASES = [
    ("Model", {}, [(2, 4, 4, 3)], {}),
]
