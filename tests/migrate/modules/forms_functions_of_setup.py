"""Functions that `setup` keeps under an attribute, and that call modules; `CASES` as in forms_basic."""

import flax.linen as nn
import jax
import jax.numpy as jnp

SCALE = 2.0


class Kept(nn.Module):
    width: int = 4

    def setup(self):
        self.factor = 2 * jnp.pi
        self.proj = nn.Dense(self.width)
        self.joined = lambda x: jnp.concatenate([jnp.sin(x), jnp.cos(x)], axis=-1)
        self.encode = lambda x: self.proj(self.factor * x)

    def __call__(self, x):
        return self.joined(self.encode(x))


class OneOfTwo(nn.Module):
    width: int = 4
    learned: bool = True

    def setup(self):
        self.proj = nn.Dense(self.width)
        self.out = nn.Dense(2)
        if self.learned:
            self.encode = lambda x: self.proj(SCALE * x)
        else:
            self.encode = lambda x: jax.lax.stop_gradient(
                self.proj(SCALE * x)
            )

    def __call__(self, x):
        return self.out(self.encode(x))


class OrNothing(nn.Module):
    width: int = 4
    learned: bool = True

    def setup(self):
        self.proj = nn.Dense(self.width)
        self.encode = (lambda x, y: self.proj(x) + y) if self.learned else (lambda x, y: x + y)

    def __call__(self, x):
        return self.encode(x, jnp.ones(()))


class Alone(nn.Module):
    """Nothing else stands in setup."""

    def setup(self):
        self.twice = lambda x: self.helper(x) * 2

    def helper(self, x):
        return x + 1

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.twice(x))


CASES = [
    ("Kept", {}, [(2, 3)], {}),
    ("OneOfTwo", {}, [(2, 3)], {}),
    ("OneOfTwo", {"learned": False}, [(2, 3)], {}),
    ("OrNothing", {}, [(2, 3)], {}),
    ("OrNothing", {"learned": False}, [(2, 3)], {}),
    ("Alone", {}, [(2, 3)], {}),
]
