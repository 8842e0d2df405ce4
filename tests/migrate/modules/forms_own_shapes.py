"""Initializers that are given the shape of an input, and make parameters of another one."""

import flax.linen as nn
import jax
import jax.numpy as jnp


def grid(sizes):
    steps = [jnp.linspace(-1.0, 1.0, n) for n in sizes]
    return jnp.stack(jnp.meshgrid(*steps, indexing="ij"), axis=-1)


class Positions(nn.Module):
    kind: str = "linear"
    bases: int = 3

    def _make(self, key, shape):
        if self.kind == "discrete":
            return jax.nn.one_hot(jnp.arange(shape[-2]), shape[-2])[None]
        places = grid(shape[1:-1])
        if self.kind == "fourier":
            places = jnp.sin(jnp.concatenate([places * (i + 1) for i in range(self.bases)], -1))
        return places[None]

    @nn.compact
    def __call__(self, x):
        places = self.param("places", self._make, x.shape)
        return x + nn.Dense(x.shape[-1], name="projection")(jax.lax.stop_gradient(places))


class Wider(nn.Module):
    """Of setup, in loops, under conditions."""

    width: int = 3
    on: bool = True

    def _wide(self, key, shape):
        rows, columns = shape
        return jnp.concatenate([jax.random.normal(key, (rows, columns)), jnp.ones((rows, 2))], -1)

    @nn.compact
    def __call__(self, x):
        if self.on:
            x = x @ self.param("first", self._wide, (x.shape[-1], self.width))
        y = 0
        for i in range(2):
            y += nn.Dense(2)(x @ self.param(f"w_{i}", self._wide, (x.shape[-1], 3)))
        return y


class Made(nn.Module):
    width: int = 3

    def _wide(self, key, shape):
        return jnp.ones((shape[0], 2 * shape[1]))

    def setup(self):
        self.w = self.param("w", self._wide, (self.width, 4))
        self.out = nn.Dense(2)

    def __call__(self, x):
        return self.out(x @ self.w)


class HandedOn(nn.Module):
    """The shape is the parameter's own."""

    @nn.compact
    def __call__(self, x):
        def init(key, shape, dtype=jnp.float32):
            return jax.random.normal(key, shape, dtype) / shape[0]

        return nn.Dense(2)(x @ self.param("w", init, (x.shape[-1], 5)))


CASES = [
    ("Positions", {}, [(2, 3, 4, 5)], {}),
    ("Positions", {"kind": "discrete"}, [(2, 3, 5)], {}),
    ("Positions", {"kind": "fourier"}, [(2, 3, 4, 5)], {}),
    ("Wider", {}, [(2, 4)], {}),
    ("Wider", {"on": False}, [(2, 4)], {}),
    ("Made", {}, [(2, 3)], {}),
    ("HandedOn", {}, [(2, 4)], {}),
]
