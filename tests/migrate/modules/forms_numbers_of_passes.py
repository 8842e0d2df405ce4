"""Modules of setup that are called with the number of a pass, of which no weights depend."""

import jax.numpy as jnp
from flax import linen as nn


class Glu(nn.Module):
    experts: int = 3
    hidden: int = 6
    model: int = 4
    act: str = "silu"

    def setup(self):
        shape = (self.experts * self.hidden, self.model)
        init = nn.initializers.normal()
        self.w1 = self.param("w1", init, shape, jnp.float32)
        self.w2 = self.param("w2", init, shape, jnp.float32)
        self.fn = {"silu": nn.silu, "relu": nn.relu}[self.act]

    def __call__(self, x, idx: int):
        shape = (self.experts, self.hidden, self.model)
        w1 = self.w1.reshape(shape)[idx]
        w2 = self.w2.reshape(shape)[idx]
        x1 = self.fn(jnp.matmul(x, jnp.expand_dims(w1.T, 0)))
        return jnp.matmul(x1, jnp.expand_dims(w2, 0))


class Experts(nn.Module):
    experts: int = 3

    def setup(self):
        self.mlp = Glu(self.experts)

    def __call__(self, x, top):
        out = jnp.zeros_like(x)
        for index in range(self.experts):
            y = self.mlp(x, index)
            out += jnp.sum(index == top, axis=-1)[:, :, None] * y
        return out


class Router(nn.Module):
    experts: int = 3

    def setup(self):
        self.layer = nn.Dense(self.experts)

    def __call__(self, x, deterministic=True):
        return self.layer(x)


class Ffn(nn.Module):
    experts: int = 3

    def setup(self):
        self.router = Router(self.experts)
        self.moe = Experts(self.experts)

    def __call__(self, x, deterministic=False):
        w = self.router(x, deterministic=deterministic)
        return self.moe(x, jnp.argsort(w)[..., :2]), w


class Prompt(nn.Module):
    """Layers of setup that all passes call, and a number that a condition asks."""

    depth: int = 3

    def setup(self):
        self.part = Numbered()
        self.out = nn.Dense(2)

    def __call__(self, x):
        for i in range(self.depth):
            x = self.part(x, i, last=i == self.depth - 1)
        return self.out(x)


class Numbered(nn.Module):
    def setup(self):
        self.a = nn.Dense(4)
        self.b = nn.Dense(4)

    def __call__(self, x, i, last=False):
        y = self.a(x) + i
        if last:
            return y
        return nn.relu(y) * (i + 1)


class Scaled(nn.Module):
    def setup(self):
        self.a = nn.Dense(4)

    def __call__(self, x, count):
        return self.a(jnp.concatenate([x] * 2, -1)) * count


class ManyScaled(nn.Module):
    def setup(self):
        self.part = Scaled()

    @nn.compact
    def __call__(self, x):
        return sum(self.part(x, count=i) for i in range(1, 4))


CASES = [
    ("Experts", {}, [(2, 3, 4), (2, 3, 2)], {}),
    ("Ffn", {}, [(2, 3, 4)], {}),
    ("Prompt", {}, [(2, 4)], {}),
    ("ManyScaled", {}, [(2, 4)], {}),
]
