"""Initializers whose own text reads the call around them: its sizes, its dtypes, and names that are bound again."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Tanh(nn.Module):
    alpha: float = 0.5

    @nn.compact
    def __call__(self, x):
        alpha = self.param("alpha", lambda key: jnp.asarray(self.alpha, dtype=x.dtype))
        scale = self.param("scale", lambda key, shape: jnp.ones(shape, x.dtype) * self.alpha, (x.shape[-1],))
        bias = self.param("bias", lambda key: jnp.arange(x.shape[-1], dtype=x.dtype) / 4)
        return jnp.tanh(alpha * x) * scale + bias


class Waves(nn.Module):
    dim: int = 8
    trainable: bool = True

    @nn.compact
    def __call__(self, x):
        x = x[..., None] / 2
        if self.trainable:
            roots = self.param("roots", lambda key, dim: jnp.arange(1, dim + 1).astype(x.dtype)[None] * 2.0, self.dim)
        else:
            roots = jnp.arange(1, self.dim + 1, dtype=x.dtype)[None]
        return jnp.sin(x * roots)


class Table(nn.Module):
    size: int = 6
    kinds: str = "eye"
    trainable: bool = True

    @nn.compact
    def __call__(self, x):
        parts = []
        if "eye" in self.kinds:
            parts.append(np.eye(self.size))
        if "steps" in self.kinds:
            steps = np.zeros((self.size, 3))
            for i in range(self.size):
                steps[i, : i % 3] = 1
            parts.append(steps)
        table = np.concatenate(parts, axis=1)
        if self.trainable:
            table = self.param("table", lambda key: jnp.asarray(table, dtype=jnp.float32))
        else:
            table = jnp.asarray(table, dtype=jnp.float32)
        return x @ table


class Masked(nn.Module):
    masked: bool = False

    @nn.compact
    def __call__(self, x):
        mask = jnp.arange(x.shape[-1])[:, None] > 0

        def first(key, shape, dtype=jnp.float32):
            w = nn.initializers.ones(key, shape, dtype)
            return w * mask if self.masked else w

        return x @ self.param("w", first, (x.shape[-1], 4))


class OfWholeInput(nn.Module):
    @nn.compact
    def __call__(self, x):
        def first(key):
            return jax.random.normal(key, (x.shape[-1], 3), dtype=x.dtype)

        return x @ self.param("w", first)


class OfPart(nn.Module):
    strength: float = 2.0

    @nn.compact
    def __call__(self, inputs):
        rows = inputs[1] / 2.0
        return rows * self.param("strength", lambda key: jnp.array(self.strength, dtype=rows.dtype))


class Shaped(nn.Module):
    channelwise: bool = False

    @nn.compact
    def __call__(self, x):
        width = x.shape[-1]
        shape = (1, width) if self.channelwise else (1, 1)
        return x * self.param("alpha", nn.initializers.normal(1.0), shape)


class ShapedByBranches(nn.Module):
    channelwise: bool = False
    wide: bool = False

    @nn.compact
    def __call__(self, x):
        if self.channelwise:
            shape = (1, x.shape[-1])
        else:
            shape = (1, 1)
        alpha = self.param("alpha", nn.initializers.normal(1.0), shape)
        sizes = [shape[1], 2] if self.wide else [3, shape[1]]
        for size in sizes:
            x = nn.Dense(size)(x)
        return nn.Dense(1)(x) * alpha


class CalledLater(nn.Module):
    """What only the call runs sees in NNX what it sees in Linen."""

    def setup(self):
        n = 3
        self.act = lambda x: x * n + self.shift
        n = 5
        self.shift = 2.0
        self.dense = nn.Dense(n, kernel_init=lambda key, shape, dtype: jnp.full(shape, n, dtype))

    def __call__(self, x):
        return self.act(self.dense(x))


CASES = [
    ("Tanh", {}, [(2, 3)], {}),
    ("Tanh", {"alpha": 2.0}, [(4, 5)], {}),
    ("Waves", {}, [(2, 3)], {}),
    ("Waves", {"trainable": False}, [(2, 3)], {}),
    ("Table", {}, [(2, 6)], {}),
    ("Table", {"kinds": "eye+steps"}, [(2, 6)], {}),
    ("Table", {"trainable": False}, [(2, 6)], {}),
    ("Masked", {}, [(2, 3)], {}),
    ("Masked", {"masked": True}, [(2, 3)], {}),
    ("OfWholeInput", {}, [(2, 3)], {}),
    ("OfPart", {}, [(2, 3)], {}),
    ("CalledLater", {}, [(2, 3)], {}),
    ("Shaped", {}, [(2, 3)], {}),
    ("Shaped", {"channelwise": True}, [(2, 3)], {}),
    ("ShapedByBranches", {}, [(2, 3)], {}),
    ("ShapedByBranches", {"channelwise": True, "wide": True}, [(2, 3)], {}),
]
