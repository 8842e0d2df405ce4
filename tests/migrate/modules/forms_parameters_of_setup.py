"""Functions outside of classes that make a parameter, or compute something else, for the `setup` that calls them."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np


def waves(length, width):
    angles = np.arange(length)[:, None] / 100.0 ** (np.arange(width)[None] / width)
    return jnp.asarray(np.sin(angles), jnp.float32)[None]


def positions(module, kind, sizes, width, name, dtype=jnp.float32):
    if kind == "learn":
        return module.param(name, nn.initializers.normal(stddev=1 / np.sqrt(width)), (1, np.prod(sizes), width), dtype)
    elif kind == "waves":
        return waves(int(np.prod(sizes)), width)
    else:
        raise ValueError(f"Unknown kind of positions: {kind}")


def scaled(module, name, width):
    """It computes with what it makes."""
    return 2.0 * module.param(name, nn.initializers.ones, (width,)) + module.param(
        f"{name}_shift", nn.initializers.ones, (width,)
    )


class Encoder(nn.Module):
    width: int = 8
    kind: str = "learn"

    def setup(self):
        self.pos = positions(self, self.kind, (2, 2), self.width, "pos_embedding")
        self.out = nn.Dense(self.width)

    def __call__(self, x):
        return self.out(x + self.pos)


class SameName(nn.Module):
    """The attribute is called as the parameter is; it is made under a condition, behind names of setup's own."""

    width: int = 8
    depth: int = 1
    kind: str = "learn"

    def setup(self):
        assert self.depth >= 0
        if self.depth > 0:
            grid = np.array((4, 4)) // np.array((2, 2))
            self.pos_embedding = positions(self, self.kind, grid, self.width, "pos_embedding")
            self.inner = nn.Dense(self.width)
        self.out = nn.Dense(3)

    def embed(self, x):
        return self.inner(x) + self.pos_embedding

    def __call__(self, x):
        if self.depth > 0:
            x = self.embed(x)
        return self.out(x)


class Twice(nn.Module):
    """Two calls of one function, before and behind what is made by setup itself."""

    width: int = 8

    def setup(self):
        self.first = scaled(self, "first", self.width)
        self.bias = self.param("bias", nn.initializers.normal(), (self.width,))
        self.second = positions(self, "learn", (2, 2), self.width, "second_pos")
        self.both = self.first + self.bias

    def __call__(self, x):
        return x * self.both + self.second


class Inner(nn.Module):
    classes: int
    width: int = 8
    kind: str = "learn"

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        x = x + positions(self, self.kind, (2, 2), self.width, "pos_embedding")
        return nn.Dense(self.classes)(x)


def variant_of(name):
    if name is None:
        return {}
    return {"width": {"S": 4, "B": 16}[name], "kind": "waves"}


def make(classes=3, *, variant=None, **kw):
    return Inner(classes, **{**variant_of(variant), **kw})


class Outer(nn.Module):
    """A factory function with variants, of which none is asked for."""

    width: int = 8

    def setup(self):
        self.first = make(width=self.width, kind="learn")
        self.second = make(5, kind="waves")
        self.pos = positions(self, "learn", (2, 2), 4, "outer_pos")

    def __call__(self, x):
        return self.second(self.first(x + self.pos))


class OuterCompact(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x):
        return make(5, kind="waves", name="second")(make(width=self.width)(x))


CASES = [
    ("Encoder", {}, [(2, 4, 8)], {}),
    ("Encoder", {"kind": "waves"}, [(2, 4, 8)], {}),
    ("SameName", {}, [(2, 4, 5)], {}),
    ("SameName", {"kind": "waves"}, [(2, 4, 5)], {}),
    ("SameName", {"depth": 0}, [(2, 4, 5)], {}),
    ("Twice", {}, [(2, 4, 8)], {}),
    ("Outer", {}, [(2, 4, 4)], {}),
    ("OuterCompact", {}, [(2, 4, 4)], {}),
]
