"""Modules given to `jax.vmap` as they are."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Encoder(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.width, (3, 3))(x)
        return nn.Dense(5)(x.reshape(x.shape[0], -1))


class Gate(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        return nn.Dense(3)(x) * nn.Dense(3)(y)


class OverTime(nn.Module):
    @nn.compact
    def __call__(self, x):
        encode = Encoder()
        x = jax.vmap(encode)(x)
        return nn.Dense(3)(x)


class Named(nn.Module):
    def setup(self):
        self.gate = Gate()
        self.out = nn.Dense(2)

    def __call__(self, x, y):
        return self.out(jax.vmap(self.gate, in_axes=(1, None), out_axes=1)(x, y))


class Block(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(x.shape[-1])(nn.Conv(self.width, (3, 3))(x))


class Frames(nn.Module):
    """Chains and layers of setup, each frame by itself."""

    width: int = 4

    def setup(self):
        self.encoder = nn.Sequential([nn.Conv(self.width, (3, 3)), nn.relu, Block(), lambda x: x * 2, nn.GroupNorm(2)])
        self.up = nn.ConvTranspose(3, (2, 2), strides=(2, 2), padding="VALID", use_bias=False)
        self.act = nn.PReLU()
        self.out = nn.Dense(2)

    def encode(self, x):
        return jax.vmap(self.encoder, 1, 1)(x)

    def __call__(self, x):
        x = jax.vmap(self.up, 1, 1)(self.encode(x))
        return self.out(jax.vmap(self.act, 1, 1)(x))


class MadeThere(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = jax.vmap(nn.Sequential([nn.Dense(4), jnp.tanh, nn.Dense(3)]), in_axes=1, out_axes=1)(x)
        return jax.vmap(nn.Dense(3, dtype=x.dtype))(x)


class AsAWholeToo(nn.Module):
    def setup(self):
        self.proj = nn.Sequential([nn.Dense(4), nn.LayerNorm(), nn.gelu])
        self.out = nn.Dense(2)

    def __call__(self, x):
        y = jax.vmap(self.proj, in_axes=(0,))(x)
        return self.out(self.proj(x) + y)


CASES = [
    ("OverTime", {}, [(2, 3, 6, 6, 2)], {}),
    ("Named", {}, [(2, 3, 4), (5,)], {}),
    ("Frames", {}, [(2, 3, 6, 6, 2)], {}),
    ("MadeThere", {}, [(2, 3, 6)], {}),
    ("AsAWholeToo", {}, [(2, 3, 6)], {}),
]
