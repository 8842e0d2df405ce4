"""Functions that are followed for what they give: methods that variables start from, properties, functions that are mapped."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn
class Block(nn.Module):
    hw: tuple
    window: int = 4
    shift: int = 0
    def get_mask(self, shift, window, height, width):
        if shift > 0:
            mask = jnp.zeros([1, height, width, 1])
            count = 0
            for h in (slice(0, -window), slice(-window, None)):
                for w in (slice(0, -shift), slice(-shift, None)):
                    mask = mask.at[:, h, w, :].set(count)
                    count += 1
            batch, height, width, channels = mask.shape
            m = mask.reshape(batch, height * width, channels)
        else:
            m = None
        return m
    @nn.compact
    def __call__(self, x):
        height, width = self.hw[0], self.hw[1]
        res = min(height, width)
        if res <= self.window:
            shift = 0
            window = res
        else:
            shift = self.shift
            window = self.window
        mask = self.variable("masks", "mask", self.get_mask, shift, window, height, width)
        y = nn.Dense(3)(x)
        if mask.value is not None:
            y = y + mask.value
        return y
class Mapped(nn.Module):
    n: int = 3
    def halved(self, v):
        size = self.n * 5
        width = size + 1
        return v[..., :2] * size
    @nn.compact
    def __call__(self, x):
        size = self.n * 2
        width = size + 4
        a, b = map(self.halved, (x, x * 2))
        return nn.Dense(size)(a) + nn.Dense(size)(b) + nn.Dense(width)(x)[..., :size]
class Prop(nn.Module):
    n: int = 3
    @property
    def wide(self):
        size = self.n * 5
        return size + 1
    @nn.compact
    def __call__(self, x):
        size = self.n * 2
        w = self.wide
        return nn.Dense(size)(nn.Dense(w)(x)) + nn.Dense(size)(x)
class Tree(nn.Module):
    n: int = 3
    @nn.compact
    def __call__(self, x):
        size = self.n * 2
        def cut(v):
            size = self.n * 5
            return v * size
        z = jax.vmap(cut)(x)
        z = z + jax.tree.map(cut, x)
        def cut2(c, v):
            size = self.n * 5
            return c, v * size
        _, w = jax.lax.scan(cut2, 0.0, x)
        p = functools.partial(cut)(x)
        return nn.Dense(size)(z) + nn.Dense(size)(w) + nn.Dense(size)(x + p)
class Grad(nn.Module):
    n: int = 3
    @nn.compact
    def __call__(self, x):
        size = self.n * 2
        def loss(v):
            size = self.n * 5
            return (v * size).sum()
        g = jax.grad(loss)(x)
        val, g2 = jax.value_and_grad(loss)(x)
        c = jax.lax.cond(True, lambda v: loss(v), lambda v: 0.0, x)
        return nn.Dense(size)(g + g2) + c
class Init(nn.Module):
    n: int = 3
    def make(self, key, shape, scale=2):
        size = self.n * 5
        return jnp.ones(shape) * size * scale
    def table(self, k):
        size = self.n * 5
        return jnp.ones((k, size))
    @nn.compact
    def __call__(self, x):
        size = self.n * 2
        w = self.param("w", self.make, (x.shape[-1], size))
        t = self.variable("tables", "t", self.table, 4)
        return nn.Dense(size)(x) + x @ w + t.value.sum() + nn.Dense(t.value.shape[-1])(x).sum()
class Energy(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        net = nn.Dense(1)
        force = jax.grad(lambda v: jnp.sum(jnp.tanh(net(v))))(x)
        value, other = jax.value_and_grad(lambda v, w: jnp.sum(v ** 2 * w.mean()), argnums=1)(x, y)
        return nn.Dense(4)(force) + nn.Dense(4)(other) + value
CASES = [("Block", {"hw": (6, 8), "shift": 2}, [(2, 48, 3)], {}), ("Mapped", {}, [(2, 8)], {}), ("Prop", {}, [(2, 8)], {}), ("Tree", {}, [(2, 8)], {}), ("Grad", {}, [(2, 8)], {}), ("Init", {}, [(2, 8)], {}), ("Energy", {}, [(2, 8), (2, 3)], {})]
