"""Initializers that functions make, which are given an array of the call and read its sizes; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

full_of = lambda x: (lambda rng, shape, dtype: jnp.full(shape, 1 / np.sqrt(x.shape[1]), dtype))


def ramp_of(x, scale=1.0):
    """A ramp up to the width."""
    bound = scale / np.sqrt(x.shape[-1])

    def init(rng, shape, dtype=jnp.float32):
        return jnp.linspace(-bound, bound, int(np.prod(shape)), dtype=dtype).reshape(shape)

    return init


class Tower(nn.Module):
    sizes: tuple = (5, 4)

    @nn.compact
    def __call__(self, x):
        x = x.reshape(x.shape[0], -1)
        for size in self.sizes:
            x = nn.Dense(size, kernel_init=full_of(x), bias_init=ramp_of(x, scale=2.0))(x)
            x = nn.relu(x)
        return nn.Dense(3, kernel_init=full_of(x))(x)


class Named(nn.Module):
    @nn.compact
    def __call__(self, x):
        init = ramp_of(x)
        x = nn.Dense(7, kernel_init=init)(x)
        x = x * self.param('scale', ramp_of(scale=3.0, x=x), (x.shape[-1],))
        return nn.Dense(2, kernel_init=init)(x)


class Sigmoid(nn.Module):
    def __call__(self, x):
        return 1 / (1 + jnp.exp(-x))


class Handed(nn.Module):
    """What is handed in may give any width."""

    act: nn.Module
    sizes: tuple = (5, 4)

    @nn.compact
    def __call__(self, x):
        x = x.reshape(x.shape[0], -1)
        for size in self.sizes:
            x = nn.Dense(size, kernel_init=full_of(x), bias_init=ramp_of(x))(x)
            x = self.act(x)
        return nn.Dense(3, kernel_init=full_of(x))(x)


class Leaky(nn.Module):
    def __call__(self, x):
        return jnp.where(x > 0, x, 0.1 * x)


ACTS = {'sigmoid': Sigmoid, 'leaky': Leaky}


def run(x):
    found = {}
    for name in ACTS:
        act = ACTS[name]()
        model = Handed(act=act)
        found[name] = model.init(jax.random.key(0), x)['params']
    return found


class Within(nn.Module):
    """What is around a class that needs the whole shape has it."""

    @nn.compact
    def __call__(self, x):
        return Ranked()(nn.Dense(6)(x))


class Ranked(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, kernel_init=full_of(x))(x)


CASES = [
    ('Within', {}, [(2, 6)], {}),
    ('Tower', {}, [(2, 3, 4)], {}),
    ('Named', {}, [(2, 6)], {}),
]
