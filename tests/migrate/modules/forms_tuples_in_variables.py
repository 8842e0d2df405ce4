"""Parameters and variables that hold tuples or dicts of arrays, which indexing would reach into."""

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


NUMBERED = ("Factored", "Kept")  # the way back has no tuples
CASES = [
    ("Factored", {"features": 3}, [(2, 4)], {}),
    ("Kept", {}, [(2, 4)], {}),
]
