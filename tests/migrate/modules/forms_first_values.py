"""Parameters of setup that start from what it computes of other parameters: the constructor computes that too; `CASES` as in
forms_basic."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from flax.linen import initializers as init
from flax.struct import dataclass


@dataclass
class Record:
    w: Any
    a: Any
    b: Any


class Recorded(nn.Module):
    size: int
    features: int
    use_bias: bool = True
    gain: float = 2.0
    learned: bool = False

    def setup(self):
        """Makes parameters, and a record of them."""
        w = self.param("w", init.lecun_normal(), (self.size, self.features))
        a = self.param("a", init.constant(jnp.linalg.norm(w)), (1,))
        if self.use_bias:
            b = self.param("b", init.normal(), (self.features,))
        else:
            b = 0.0
        log_gain = jnp.log(self.gain)
        if self.learned:
            log_gain = self.param("log_gain", init.constant(log_gain), (1,))
        self.gained = jnp.exp(log_gain)
        self.record = Record(w, a, b)

    def __call__(self, x):
        r = self.record
        return x @ (r.w * r.a / jnp.linalg.norm(r.w)) * self.gained + r.b


class BoundAgain(nn.Module):
    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))
        w = w * 2
        a = self.param("a", init.constant(jnp.linalg.norm(w)), (1,))
        w = w + a
        self.b = self.param("b", init.constant(jnp.sum(w)), (1,))
        self.out = w * a

    def __call__(self, x):
        return x @ self.out + self.b


class ByFunctions(nn.Module):
    """Initializers that close over what was computed, of a method and of setup itself."""

    kind: str = "plain"

    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))
        self.v = self.param("v", init.normal(), (3,))
        total = 0.0
        for i in range(4):
            total = total + w[i].sum()

        def other(key, shape):
            return jnp.ones(shape) * total * self.scale()

        self.c = self.param("c", other, (3,))
        if self.kind == "plain":
            start = init.normal()
        elif self.kind == "own":
            start = self._start(w)
        y = self.param("y", start, (3,))
        z = self.param("z", lambda key, shape: jnp.ones(shape) * jnp.sum(w), (3,))
        self.all = (w, y, z)

    def scale(self):
        return 3.0

    def _start(self, w):
        def make(key, shape):
            return jnp.ones(shape) * jnp.sum(w) + self.v

        return make

    def __call__(self, x):
        w, y, z = self.all
        return x @ w * y + z + self.v * self.c


class OfOneOf(nn.Module):
    first: bool = True

    def setup(self):
        if self.first:
            w = self.param("w1", init.lecun_normal(), (4, 3))
        else:
            w = self.param("w2", init.lecun_normal(), (4, 3))
        a = self.param("a", init.constant(jnp.linalg.norm(w)), (1,))
        half = a[0] / 2
        self.b = self.param("b", init.constant(half), w.shape)
        self.w = w * a

    def __call__(self, x):
        return x @ (self.w + self.b)


class OfVariables(nn.Module):
    def setup(self):
        w, b = self.param("w", init.lecun_normal(), (4, 3)), self.param("b", init.normal(), (3,))
        n = jnp.linalg.norm(w) + b.sum()
        self.v = self.variable("stats", "v", lambda: n * 2)
        self.w = w * n + b

    def __call__(self, x):
        return x @ self.w * self.v.value


class OfAttributes(nn.Module):
    """First values that read what setup keeps in attributes for every call."""

    flag: bool = True

    def setup(self):
        """Makes them."""
        self.log = self.param("log", init.normal(), (3,))
        if self.flag:
            self.scale = jnp.exp(self.log)
        else:
            self.scale = self.log * 2
        self.scale = self.scale + 1
        half = self.scale / 2
        self.b = self.param("b", lambda key, shape: half + self.scale * jnp.ones(shape), (3,))
        self.c = self.variable("stats", "c", lambda: self.scale.sum())
        self.gain = jnp.exp(self.param("log_gain", init.constant(self.scale), (3,)))
        self.d = self.param("d", init.constant(self.gain), (3,))
        self.out = self.b * self.scale

    def __call__(self, x):
        return x * self.scale + self.out * self.gain + self.c.value + self.d


CASES: list[Any] = [
    ("OfAttributes", {}, [(2, 3)], {}),
    ("OfAttributes", {"flag": False}, [(2, 3)], {}),
    ("Recorded", {"size": 4, "features": 3}, [(2, 4)], {}),
    ("Recorded", {"size": 4, "features": 3, "use_bias": False, "learned": True}, [(2, 4)], {}),
    ("BoundAgain", {}, [(2, 4)], {}),
    ("ByFunctions", {}, [(2, 4)], {}),
    ("ByFunctions", {"kind": "own"}, [(2, 4)], {}),
    ("OfOneOf", {}, [(2, 4)], {}),
    ("OfOneOf", {"first": False}, [(2, 4)], {}),
    ("OfVariables", {}, [(2, 4)], {}),
]
