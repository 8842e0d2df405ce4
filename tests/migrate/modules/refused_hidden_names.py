"""Names of the file, or of Python, that the constructor has for a field or variable of its own."""

INDENT = 0
HEAD = """from functools import partial
from typing import Any

import jax.numpy as jnp
from flax import linen as nn

WIDTH = 4
rngs = 2
in_features = 3


def scale(n):
    return n + 2


"""
_M = """class M(nn.Module):
    WIDTH: int = 2

"""

REFUSED = {
    "a name of the file that the constructor has for random numbers": (
        "NNX151",
        """class M(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(rngs)(x)
""",
    ),
    "a name of the file that the constructor has for the size of its input": (
        "NNX151",
        """class M(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(in_features)(x)
""",
    ),
    "such a name in setup": (
        "NNX151",
        """class M(nn.Module):
    def setup(self):
        self.first = nn.Dense(in_features)

    def __call__(self, x):
        return self.first(x)
""",
    ),
    "a constant of the file and a field, in one size": (
        "NNX151",
        _M
        + """    @nn.compact
    def __call__(self, x):
        return nn.Dense(WIDTH + self.WIDTH)(x)
""",
    ),
    "in setup": (
        "NNX151",
        _M
        + """    def setup(self):
        self.first = nn.Dense(WIDTH)
        self.last = nn.Dense(self.WIDTH)

    def __call__(self, x):
        return self.last(self.first(x))
""",
    ),
    "in a condition and the count of a loop": (
        "NNX151",
        _M
        + """    @nn.compact
    def __call__(self, x):
        if WIDTH > 3:
            x = nn.Dense(3)(x)
        for _ in range(WIDTH):
            x = nn.Dense(5)(x)
        return x
""",
    ),
    "in a partial": (
        "NNX151",
        _M
        + """    @nn.compact
    def __call__(self, x):
        make = partial(nn.Dense, WIDTH)
        return make()(x)
""",
    ),
    "in the shape of a parameter": (
        "NNX151",
        _M
        + """    @nn.compact
    def __call__(self, x):
        return x + self.param("bias", nn.initializers.ones, (WIDTH,))
""",
    ),
    "a function of the file": (
        "NNX151",
        """class M(nn.Module):
    scale: int = 2

    @nn.compact
    def __call__(self, x):
        return nn.Dense(scale(self.scale))(x)
""",
    ),
    "a function of Python": (
        "NNX151",
        """class M(nn.Module):
    max: int = 5

    @nn.compact
    def __call__(self, x):
        return nn.Dense(max(self.max, 3))(x)
""",
    ),
    "a package that the migration writes": (
        "NNX151",
        """import math


class M(nn.Module):
    math: int = 2

    @nn.compact
    def __call__(self, x):
        size = math.prod(x.shape[1:])
        return nn.Dense(size + self.math)(x.reshape(x.shape[0], -1))
""",
    ),
    "a package": (
        "NNX151",
        """class M(nn.Module):
    jnp: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.jnp, dtype=jnp.float32)(x)
""",
    ),
    "what a comprehension calls so, which becomes a loop": (
        "NNX151",
        """class M(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        heads = [nn.Dense(WIDTH)(x) for WIDTH in range(1, self.n)]
        return nn.Dense(WIDTH)(x), heads
""",
    ),
    "a list of layers and a layer": (
        "NNX152",
        """class M(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            x = nn.Dense(3 + i, name=f"layer_{i}")(x)
        return nn.Dense(2, name="layer")(x)
""",
    ),
}
