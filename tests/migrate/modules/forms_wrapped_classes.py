"""Classes that stay Linen inside of classes that become native: wrapped, initialized in the constructor."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Looped(nn.Module):
    """Lifted gradients inside of a module: this class stays Linen."""

    features: int
    steps: int = 2

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(self.features, name="step")
        for _ in range(self.steps):
            x = nn.tanh(dense(x))
        return x + nn.vjp(lambda m, z: z * 2, self, x, vjp_variables=True)[1](x)[1]


class Positions(nn.Module):
    """Parameters whose shape follows from the whole input."""

    @nn.compact
    def __call__(self, x, mask=None):
        table = self.param("table", nn.initializers.normal(1.0), (1, *x.shape[1:]))
        x = x + nn.vjp(lambda m, z: z * 2, self, x + table, vjp_variables=True)[1](x)[1]
        x = nn.Dense(4)(x + table)
        return x if mask is None else jnp.where(mask, x, 0.0)


class Normed(nn.Module):
    """Statistics that change, and random numbers."""

    @nn.compact
    def __call__(self, x, train):
        y = nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(x))
        y = y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]
        return nn.Dropout(0.5)(y, deterministic=not train)


class Configured(nn.Module):
    """Told by fields what the call of its owner alone knows."""

    width: int
    deterministic: bool = True
    dtype: object = None
    param_dtype: object = jnp.float32

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width, dtype=self.dtype, param_dtype=self.param_dtype)(x)
        x = x + nn.vjp(lambda m, z: z * 2, self, x, vjp_variables=True)[1](x)[1]
        return nn.BatchNorm(use_running_average=self.deterministic, dtype=self.dtype)(x)


class Residual(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.relu(nn.Dense(6)(x))
        return Looped(6, steps=3)(y) + y


class Setup(nn.Module):
    width: int

    def setup(self):
        self.first = nn.Dense(self.width)
        self.looped = Looped(self.width)
        self.positions = Positions()

    def __call__(self, x):
        return self.looped(x), self.positions(self.first(x), mask=None)


class Twice(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        out = []
        for i in range(self.depth):
            out.append(Looped(3, name=f"looped_{i}")(x))
        return out


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return nn.Dense(3)(x) + 1, Normed()(nn.Dense(5)(x), train=train)


class Configuring(nn.Module):
    dtype: object = None

    @nn.compact
    def __call__(self, x, train: bool = False):
        dtype = self.dtype or x.dtype
        x = Configured(4, deterministic=not train, dtype=dtype)(x)
        for i in range(2):
            params = dict(width=5, dtype=dtype, deterministic=not train, name=f"configured_{i}")
            x = Configured(**params)(x)
        return nn.Dense(3)(x)


class Typing(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Configured(4, param_dtype=x.dtype)(x)


CASES = [
    ("Configuring", {}, [(2, 3)], {}),
    ("Configuring", {"dtype": jnp.bfloat16}, [(2, 3)], {}),
    ("Typing", {}, [(2, 3)], {}),
    ("Residual", {}, [(2, 6)], {}),
    ("Twice", {}, [(2, 3, 3)], {}),
    ("Setup", {"width": 4}, [(2, 3, 4)], {}),
    ("Outer", {}, [(2, 3)], {}),
    ("Outer", {}, [(2, 3)], {"train": False}),
]
