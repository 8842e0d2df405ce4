"""Layers that are made first and called where sizes say so: Linen makes their variables at the call, and else none."""

import jax.numpy as jnp
from flax import linen as nn


class Ternary(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        input_width = x.shape[-1]
        first = nn.Conv(self.width, kernel_size=(1, 1))
        second = nn.Conv(self.width, kernel_size=(3, 3))
        residual = first(x) if input_width != self.width else x
        return second(x) + residual


class Shapes(nn.Module):
    """The shapes are those of arrays that layers have made."""

    width: int
    strides: int = 1

    @nn.compact
    def __call__(self, x):
        conv, norm = nn.Conv(self.width, (3, 3), strides=self.strides), nn.LayerNorm()
        shortcut = nn.Conv(self.width, (1, 1), strides=self.strides)
        y = norm(conv(x))
        if x.shape != y.shape:
            x = shortcut(x)
        return x + y


class InSetup(nn.Module):
    width: int

    def setup(self):
        self.first = nn.Dense(self.width)
        self.second = nn.Dense(self.width)

    def __call__(self, x):
        residual = self.first(x) if x.shape[-1] != self.width else x
        return self.second(x) + residual


class SetupOtherwise(nn.Module):
    """Under the `else`, and beside a condition of the fields."""

    width: int
    project: bool = True

    def setup(self):
        self.first = nn.Dense(self.width)
        self.last = nn.Dense(self.width)

    def __call__(self, x):
        y = nn.relu(self.last(x))
        if x.shape[-1] == self.width:
            return x + y
        elif self.project:
            return self.first(x) + y
        return y


class Early(nn.Module):
    """What stands behind an early return is under its condition, too."""

    width: int

    @nn.compact
    def __call__(self, x):
        first, second = nn.Dense(self.width), nn.Dense(self.width)
        y = first(x)
        if x.shape[-1] == self.width:
            return y + 1
        return second(y)


class Nested(nn.Module):
    width: int
    hidden: int = 4

    @nn.compact
    def __call__(self, x):
        down, up = nn.Dense(self.hidden), nn.Dense(self.width)
        across = nn.Dense(self.width, use_bias=False)
        y = down(x)
        if self.hidden < self.width:
            if x.shape[-1] > y.shape[-1]:
                return up(y) + across(x)
            return up(y) - across(x)
        return across(y)


class Twice(nn.Module):
    """Called under a condition, and always."""

    width: int

    @nn.compact
    def __call__(self, x):
        first = nn.Dense(x.shape[-1])
        if x.shape[-1] != self.width:
            x = first(x)
        return first(x)


class OnBothSides(nn.Module):
    width: int

    def setup(self):
        self.shared = nn.Dense(self.width)
        self.other = nn.Dense(self.width)

    def __call__(self, x):
        if x.shape[-1] != self.width:
            return self.shared(x)
        return jnp.tanh(self.shared(x)) + self.other(x)


class Context(nn.Module):
    """An optional input that is brought to the width of the other."""

    width: int

    def setup(self):
        self.project = nn.Dense(self.width, use_bias=False)
        self.last = nn.Dense(self.width)

    def __call__(self, x, context=None):
        if context is not None:
            if context.shape[-1] != self.width:
                context = self.project(context)
            x = x + context
        return self.last(x)


CASES = [
    ("Ternary", {"width": 4}, [(2, 6, 6, 4)], {}),
    ("Ternary", {"width": 4}, [(2, 6, 6, 3)], {}),
    ("Shapes", {"width": 4}, [(2, 6, 6, 4)], {}),
    ("Shapes", {"width": 4, "strides": 2}, [(2, 6, 6, 4)], {}),
    ("Shapes", {"width": 4}, [(2, 6, 6, 3)], {}),
    ("InSetup", {"width": 4}, [(2, 4)], {}),
    ("InSetup", {"width": 4}, [(2, 3)], {}),
    ("SetupOtherwise", {"width": 4}, [(2, 4)], {}),
    ("SetupOtherwise", {"width": 4}, [(2, 3)], {}),
    ("SetupOtherwise", {"width": 4, "project": False}, [(2, 3)], {}),
    ("Early", {"width": 4}, [(2, 4)], {}),
    ("Early", {"width": 4}, [(2, 3)], {}),
    ("Nested", {"width": 5}, [(2, 6)], {}),
    ("Nested", {"width": 3}, [(2, 3)], {}),
    ("Twice", {"width": 3}, [(2, 3)], {}),
    ("Twice", {"width": 3}, [(2, 4)], {}),
    ("OnBothSides", {"width": 3}, [(2, 3)], {}),
    ("OnBothSides", {"width": 3}, [(2, 4)], {}),
    ("Context", {"width": 3}, [(2, 3)], {"context": None}),
    ("Context", {"width": 3}, [(2, 3), (2, 3)], {}),
    ("Context", {"width": 3}, [(2, 3), (2, 4)], {}),
]
