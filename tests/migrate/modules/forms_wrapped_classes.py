"""Classes that stay Linen inside of classes that become native: wrapped, initialized in the constructor."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Looped(nn.Module):
    """Lifted control flow has no counterpart: this class stays Linen."""

    features: int
    steps: int = 2

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(self.features, name="step")
        if self.is_initializing():
            dense(x)

        def more(module, carry):
            return carry[1] < self.steps

        def step(module, carry):
            return nn.tanh(module(carry[0])), carry[1] + 1

        return nn.while_loop(more, step, dense, (x, 0), broadcast_variables="params")[0]


class Positions(nn.Module):
    """Parameters whose shape follows from the whole input."""

    @nn.compact
    def __call__(self, x, mask=None):
        table = self.param("table", nn.initializers.normal(1.0), (1, *x.shape[1:]))
        x = nn.while_loop(lambda m, c: c[1] < 2, lambda m, c: (c[0] * 2, c[1] + 1), self, (x + table, 0))[0]
        x = nn.Dense(4)(x)
        return x if mask is None else jnp.where(mask, x, 0.0)


class Normed(nn.Module):
    """Statistics that change, and random numbers."""

    @nn.compact
    def __call__(self, x, train):
        y = nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(x))
        y = nn.cond(y.sum() > 0, lambda m, z: z * 2, lambda m, z: z * 3, self, y)
        return nn.Dropout(0.5)(y, deterministic=not train)


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

    def __call__(self, x, mask):
        return self.looped(x), self.positions(self.first(x), mask=mask)


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


CASES = [
    ("Residual", {}, [(2, 6)], {}),
    ("Twice", {}, [(2, 3, 3)], {}),
    ("Setup", {"width": 4}, [(2, 3, 4), [[[True], [False], [True]]]], {}),
    ("Outer", {}, [(2, 3)], {}),
    ("Outer", {}, [(2, 3)], {"train": False}),
]
