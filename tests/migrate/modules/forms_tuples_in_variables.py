"""Parameters and variables that hold tuples or dicts of arrays, which indexing would reach into."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import linen as nn


def factored(init, mean):
    def start(key, shape):
        kernel = init(key, shape)
        scale = mean * jnp.ones((shape[-1],))
        return scale, kernel / scale

    return start


class Factored(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        g, v = self.param("kernel", factored(nn.initializers.lecun_normal(), 0.5), (x.shape[-1], self.features))
        y = jnp.dot(x, g * v)
        both = self.param("both", lambda key: {"scale": jnp.ones((4,)), "rest": [jnp.zeros(())]})
        return nn.Dense(2)(x) + y[..., :2] * both["scale"].sum() + both["rest"][0]


class Kept(nn.Module):
    def setup(self):
        self.pair = self.param("pair", lambda key: (jnp.ones((4,)), jnp.zeros((4,))))
        self.cell = nn.LSTMCell(3)
        self.state = self.variable("state", "state", lambda: (jnp.zeros((2, 3)), jnp.ones((2, 3))))

    def __call__(self, x):
        scale, offset = self.pair
        state, y = self.cell(self.state.value, x * scale + offset)
        self.state.value = jax.tree.map(lambda a: a + 1, state)  # for the next call
        return y + self.state.value[0]


class Assigned(nn.Module):
    """Tuples without parentheses of their own, of one item, over several lines, beside other statements."""

    @nn.compact
    def __call__(self, x):
        pair = self.variable("state", "pair", lambda: (jnp.zeros((4,)), jnp.ones((4,))))
        one = self.variable("state", "one", lambda: (jnp.zeros((4,)),))
        both = self.variable("state", "both", lambda: {"h": jnp.zeros((4,)), "c": jnp.ones((4,))})
        h, c = pair.value
        pair.value = h + x.mean(0), c * 2
        one.value = one.value[0] + 1,
        both.value = {
            "h": both.value["h"] + h,  # the first
            "c": (both.value["c"]),
        }; y = both.value["h"]
        pair.value = (pair.value[0]), (pair.value[1] + one.value[0])
        return x * pair.value[1] + pair.value[0] + y


def window(key, channels, size):
    return jnp.full((channels,), size / 2), jnp.linspace(0.1, 1.0, channels)


def one(key, channels, size):
    return jnp.full((channels, 1), size / 2).T


class Windowed(nn.Module):
    """Its field decides what the parameter holds."""

    start: Callable
    size: int = 3

    @nn.compact
    def __call__(self, x):
        window = self.param("window", self.start, x.shape[-1], self.size)
        seen = self.variable("seen", "last", self.start, None, x.shape[-1], self.size)
        return sum(x * part for part in window) + sum(seen.value)


NUMBERED = ("Factored", "Kept", "Assigned", "Windowed")  # the way back has no tuples
CASES = [
    ("Factored", {"features": 3}, [(2, 4)], {}),
    ("Kept", {}, [(2, 4)], {}),
    ("Assigned", {}, [(2, 4)], {}),
    ("Windowed", {"start": window}, [(2, 4)], {}),
    ("Windowed", {"start": one}, [(2, 4)], {}),
]
