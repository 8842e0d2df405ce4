"""Families whose setup computes of parameters: those that inherit it compute alike, and other modules ask for it; `CASES` as
in forms_basic."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from flax.linen import initializers as init
from flax.struct import dataclass


class Base(nn.Module):
    size: int = 4
    gain: float = 2.0

    def setup(self):
        w = self.param("w", init.lecun_normal(), (self.size, 3))
        s = self.scale()
        a = self.param("a", init.constant(jnp.linalg.norm(w)), (1,))
        self.rec = (w * s, a)

    def scale(self):
        return self.gain

    def __call__(self, x):
        return x @ self.made()

    def made(self):
        w, a = self.rec
        return w * a


class Thrice(Base):
    def made(self):
        return self.rec[0] * 3


class OwnSetup(Base):
    def setup(self):
        w = self.param("w", init.normal(), (4, 3))
        b = self.param("b", init.constant(jnp.sum(w)), (3,))
        self.rec = (w + b, jnp.mean(b))


class OfThrice(Thrice):
    more: float = 4.0

    def made(self):
        return super().made() + self.rec[1] * self.more

    def __call__(self, x):
        return super().__call__(x) * jnp.sum(self.rec[0])


class Scaled(Base):
    """Changes the order of what is made."""

    def scale(self):
        return 5.0

    @property
    def first(self):
        return self.rec[0]

    def made(self):
        return self.first


class Outer(nn.Module):
    def setup(self):
        self.a = Thrice()
        self.b = OfThrice()
        self.c = Scaled()
        self.k = self.a.rec[0] + self.b.rec[0] * self.c.first

    def __call__(self, x):
        return self.a(x) + self.b(x) + self.c(x) + x @ self.k + x @ self.c.rec[0]


@dataclass
class Record:
    w: Any
    a: Any


@dataclass
class Records:
    layers: Any
    g: Any


class Recorded(nn.Module):
    size: int
    features: int

    def setup(self):
        w = self.param("w", init.lecun_normal(), (self.size, self.features))
        a = self.param("a", init.constant(jnp.linalg.norm(w)), (1,))
        self.direct = Record(w, a)

    def __call__(self, x):
        return self.explicit(x, self.made())

    def made(self):
        return self.direct.w * self.direct.a

    def explicit(self, x, w):
        return x @ w


class RecordedStack(nn.Module):
    sizes: Sequence[int]
    trainable: bool = False
    gamma: float = 2.0

    def setup(self):
        log_gamma = jnp.log(self.gamma)
        if self.trainable:
            log_gamma = self.param("ln", init.constant(log_gamma), (1,))
        layers = []
        for k in range(len(self.sizes) - 1):
            layers.append(Recorded(self.sizes[k], self.sizes[k + 1]))
        self.layers = layers
        self.direct = Records([s.direct for s in layers], log_gamma)

    def __call__(self, x):
        made = [layer.made() for layer in self.layers]
        for k, layer in enumerate(self.layers):
            x = layer.explicit(x, made[k])
        return x * self.direct.g + sum(d.w.sum() for d in self.direct.layers)


class RecordedNet(nn.Module):
    def setup(self):
        self._net()
        b = self.param("b", init.normal(), (3,))
        c = self.param("c", init.constant(jnp.sum(b)), (3,))
        self.direct = (b, c, self.net.direct)

    def _net(self):
        self.net = RecordedStack((4, 5, 3), trainable=True)

    def __call__(self, x):
        b, c, d = self.direct
        return self.net(x) + b * c * d.g + self.net.direct.g


class ListOfALoop(nn.Module):
    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))
        xs = []
        for i in range(3):
            xs.append(i + 1)
        self.y = w * sum(xs)

    def __call__(self, x):
        return x @ self.y


class Mapping(nn.Module):
    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))
        xs = {}
        xs["a"] = 3.0
        xs.update(b=4.0)
        self.y = w * sum(xs.values())

    def __call__(self, x):
        return x @ self.y


def fill(values):
    values.append(5.0)


class ListOfAFunction(nn.Module):
    flag: bool = True

    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))
        xs = [1.0]
        fill(xs)
        if self.flag:
            xs += [4.0]
        else:
            xs.extend([1.0, 2.0])
        xs[0] = 7.0
        self.n = len(xs)
        self.y = w * sum(xs)

    def __call__(self, x):
        return x @ self.y * self.n


class ListOfTwoNames(nn.Module):
    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))

        def size():
            return 3

        n = size()
        n = n + 1
        self.y = w * n
        last = xs = [2.0]
        last.append(3.0)
        self.z = w * sum(xs)

    def __call__(self, x):
        return x @ self.y + x @ self.z


class Weighted(nn.Module):
    def setup(self):
        self.w = self.param("w", init.normal(1.0), (4,))

    def __call__(self, x):
        return x * self.w


class OfSubmodules(nn.Module):
    """Parameters of submodules, one under another name and one by a local name of the module."""

    def setup(self):
        self.weighted = Weighted()
        self.weight = self.weighted.w
        embed = nn.Embed(5, 4)
        self.embed = embed
        self.table = embed.embedding.T

    def __call__(self, x):
        return (self.weighted(x) * self.weight) @ self.table


class Weights(nn.Module):
    features: int = 3
    size: int = 4

    def setup(self):
        w = self.param("w", init.lecun_normal(), (self.size, self.features))
        self.weights = (w, w * 2)

    def __call__(self, x):
        return x @ self.weights[1]


class ReadInTheCall(nn.Module):
    @nn.compact

    def __call__(self, x):
        s = Weights(name="s")
        y = s(x)
        return y + jnp.sum(s.weights[0])


class OfAField(nn.Module):
    inner: nn.Module

    def __call__(self, x):
        return self.inner(x) + self.inner.weights[1].sum()


class GivesAField(nn.Module):
    @nn.compact

    def __call__(self, x):
        return OfAField(Weights())(x)


class OfADict(nn.Module):
    def setup(self):
        self.layers = {"a": Weights(), "b": Weights()}
        self.all = {k: m.weights[1].sum() for k, m in self.layers.items()}

    def __call__(self, x):
        return self.layers["a"](x) * self.all["a"] + self.layers["b"](x) * self.all["b"]


class OfAnArgument(nn.Module):
    def setup(self):
        self.s = Weights()
        self.t = Weights()

    def __call__(self, x):
        return self.helper(self.s, x) + self.helper(self.t, x)

    def helper(self, m, x):
        return m(x) + m.weights[1].sum()


CASES: list[Any] = [
    ("ReadInTheCall", {}, [(2, 4)], {}),
    ("GivesAField", {}, [(2, 4)], {}),
    ("OfADict", {}, [(2, 4)], {}),
    ("OfAnArgument", {}, [(2, 4)], {}),
    ("OfSubmodules", {}, [(2, 4)], {}),
    ("Thrice", {}, [(2, 4)], {}),
    ("OwnSetup", {}, [(2, 4)], {}),
    ("OfThrice", {}, [(2, 4)], {}),
    ("Scaled", {}, [(2, 4)], {}),
    ("Outer", {}, [(2, 4)], {}),
    ("Recorded", {"size": 4, "features": 3}, [(2, 4)], {}),
    ("RecordedStack", {"sizes": (4, 5, 3)}, [(2, 4)], {}),
    ("RecordedStack", {"sizes": (4, 5, 3), "trainable": True}, [(2, 4)], {}),
    ("RecordedNet", {}, [(2, 4)], {}),
    ("ListOfALoop", {}, [(2, 4)], {}),
    ("Mapping", {}, [(2, 4)], {}),
    ("ListOfAFunction", {}, [(2, 4)], {}),
    ("ListOfAFunction", {"flag": False}, [(2, 4)], {}),
    ("ListOfTwoNames", {}, [(2, 4)], {}),
]
