"""Arrays that are joined along an axis from the front have the rank that is asked of the result, here or in a class called."""

import flax.linen as nn
import jax.numpy as jnp


class Att(nn.Module):
    dim: int
    @nn.compact
    def __call__(self, inputs):
        b, n, c = inputs.shape
        q = nn.Dense(self.dim, name="q")(inputs[:, 0])
        return q.reshape(b, 1, self.dim)
class Block(nn.Module):
    dim: int = 8
    @nn.compact
    def __call__(self, x, x_cls):
        u = jnp.concatenate([x_cls, x], axis=1)
        h = nn.LayerNorm()(u)
        return x_cls + Att(self.dim)(h)
class Block2(nn.Module):
    dim: int = 8
    @nn.compact
    def __call__(self, x, x_cls):
        u = jnp.concatenate([x_cls, x], axis=1)
        b, n, c = u.shape
        return x_cls + nn.Dense(self.dim)(u).mean(1, keepdims=True)

class Either(nn.Module):
    dim: int = 8
    token: bool = True
    @nn.compact
    def __call__(self, x, x_cls):
        u = jnp.concatenate([x_cls, x], axis=1) if self.token else x
        return nn.Dense(self.dim)(u[..., None, :])


CASES = [
    ("Block", {}, [(2, 5, 8), (2, 1, 8)], {}),
    ("Block2", {}, [(2, 5, 8), (2, 1, 8)], {}),
    ("Either", {}, [(2, 5, 8), (2, 1, 8)], {}),
    ("Either", {"token": False}, [(2, 8), (2, 1)], {}),
    ("Either", {}, [(2, 5), (2, 1)], {}),
]
