"""Functions that make modules in ways that only their text in place of their calls shows: several calls of one maker for
setup, lists that a function fills, loops and early returns of helpers, names that clash."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn

WIDTH = 5


def mlp(dims, act=nn.relu, final=None):
    """A chain."""
    layers = []
    for d in dims[:-1]:
        # hidden
        layers += [nn.Dense(d), act]  # with its activation
    layers.append(nn.Dense(dims[-1]))
    if final is not None:
        layers.append(final)
    return nn.Sequential(layers)


class TwoChains(nn.Module):
    dims: Sequence[int] = (4, 5, 2)

    def setup(self):
        self.enc = mlp(self.dims)
        self.dec = mlp(tuple(reversed(self.dims)), act=nn.tanh, final=nn.sigmoid)

    def __call__(self, x):
        return self.dec(self.enc(x))


class ChainOfTheCall(nn.Module):
    dims: Sequence[int] = (4, 5, 2)

    @nn.compact
    def __call__(self, x):
        return mlp(self.dims, nn.tanh)(x)


def norm_of(kind, **kw):
    if kind == "layer":
        return nn.LayerNorm(**kw)
    elif kind == "group":
        return nn.GroupNorm(num_groups=2, **kw)
    raise ValueError(kind)


def block(x, width, train, norm="layer"):
    y = nn.Dense(width)(x)
    y = norm_of(norm, epsilon=1e-3)(y)
    if x.shape[-1] != width:
        x = nn.Dense(width, use_bias=False)(x)
    return nn.relu(x + y)


class BlocksInALoop(nn.Module):
    width: int = 4
    n: int = 3

    @nn.compact
    def __call__(self, x, train: bool = False):
        for i in range(self.n):
            x = block(x, self.width * 2**i, train)
        return block(x, 6, train, "group")


class MethodInTwoLoops(nn.Module):
    width: int = 4
    n: int = 3

    def conv(self, x, w):
        x = nn.Dense(w)(x)
        return nn.LayerNorm()(x)

    @nn.compact
    def __call__(self, x):
        skips = []
        for i in range(self.n):
            x = self.conv(x, self.width + i)
            skips.append(x)
        for s in reversed(skips):
            x = self.conv(jnp.concatenate([x, s], -1), self.width)
        return x


class NestedMaker(nn.Module):
    n: int = 2
    flag: bool = True

    def setup(self):
        def head(d, bias=True):
            inner = nn.Dense(d, use_bias=bias)
            return nn.Sequential([inner, nn.LayerNorm(), nn.relu])

        self.a = head(4)
        self.heads = [head(3 + i, bias=False) for i in range(self.n)]
        self.p = head(7) if self.flag else None

    def __call__(self, x):
        x = self.a(x)
        out = [h(x) for h in self.heads]
        if self.p is not None:
            out.append(self.p(x))
        return out


class NestedOneLine(nn.Module):
    n: int = 2

    def setup(self):
        def block(d):
            return nn.Sequential([nn.Dense(d), nn.LayerNorm(), nn.relu])

        self.a = block(4)
        self.b = [block(3 + i) for i in range(self.n)]

    def __call__(self, x):
        x = self.a(x)
        for b in self.b:
            x = b(x)
        return x


class MethodForSeveral(nn.Module):
    sizes: Sequence[int] = (3, 4)

    def make(self, i, act=nn.relu):
        return nn.Sequential([nn.Dense(self.sizes[i]), act])

    def setup(self):
        self.first = self.make(0)
        self.second = self.make(1, act=nn.tanh)
        self.third = self.make(i=0, act=lambda x: x * 2)

    def __call__(self, x):
        return self.third(self.second(self.first(x)))


class MethodThatFillsAList(nn.Module):
    dim: int = 4
    n: int = 2

    def setup(self):
        self.layers = self.fill()

    @nn.nowrap
    def fill(self):
        layers = []
        for i in range(self.n):
            layers.append(nn.Dense(self.dim + i))
        return layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def shadow(x, WIDTH):
    return nn.Dense(WIDTH)(x) * 2


class NamesOfGlobals(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        y = x
        for i in range(self.n):
            y = shadow(shadow(y, WIDTH + i), 3) + y.sum()
        z = [shadow(y, k) for k in (2, 3)]
        return y, z


class OldValueIsRead(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        base = x

        def res(h, d):
            keep = h
            for j in range(2):
                h = nn.Dense(d + j)(h)
            h = nn.Dense(keep.shape[-1])(nn.relu(h))
            return h + keep + base.sum()

        for i in range(self.n):
            x = res(x, 4 + i)
        y = res(x, 3)
        return res(y, 2) + x


class OptionsOfABlock(nn.Module):
    n: int = 2

    def block(self, x, d, *, norm=True, **kw):
        x = nn.Dense(d, **kw)(x)
        if norm:
            x = nn.LayerNorm()(x)
        return nn.relu(x)

    @nn.compact
    def __call__(self, x):
        x = self.block(x, 4, norm=False, use_bias=False)
        for i in range(self.n):
            x = self.block(x, 4 + i)
        return self.block(x, d=2, norm=False) if self.n > 1 else self.block(x, 3)


def stack(n, d):
    return [nn.Dense(d) for _ in range(n)]


class ListsOfAFunction(nn.Module):
    n: int = 2

    def setup(self):
        self.a = stack(self.n, 4)
        self.b = stack(1, 3)

    def __call__(self, x):
        for layer in [*self.a, *self.b]:
            x = layer(x)
        return x


class PairsOfAMethod(nn.Module):
    d: int = 4

    def setup(self):
        self.q, self.k = self.two(self.d)
        self.v, self.o = self.two(3)

    def two(self, d):
        first = nn.Dense(d)
        second = nn.Dense(d, use_bias=False)
        return first, second

    def __call__(self, x):
        return self.o(self.v(self.k(self.q(x))))


class AttributesOfAMethod(nn.Module):
    d: int = 4

    def setup(self):
        self.build("a", 4)
        self.build("b", 3)

    def build(self, name, d):
        if name == "a":
            self.a = nn.Dense(d)
        else:
            self.b = nn.Dense(d)

    def __call__(self, x):
        return self.b(self.a(x))


def vmapped(module, in_axes=0, dims=1):
    for _ in range(dims):
        module = nn.vmap(module, variable_axes={"params": None}, split_rngs={"params": False}, in_axes=in_axes, out_axes=0)

    return module


class Inner(nn.Module):
    n: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n)(x)


class LiftedByAFunction(nn.Module):
    n: int = 3

    def setup(self):
        self.enc = vmapped(Inner, dims=2)(n=self.n)
        self.dec = vmapped(Inner)(2)

    def __call__(self, x):
        return self.dec(self.enc(x))


class LiftedByAFunctionOfTheCall(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        return vmapped(Inner, dims=2)(n=self.n)(x)


def with_options(d, **options):
    first = nn.Dense(d, **options)
    return nn.Sequential([first, nn.relu])


class MappingHandedOn(nn.Module):
    options: dict

    def setup(self):
        self.a = with_options(4, **self.options)
        self.b = with_options(3, **self.options)

    def __call__(self, x):
        return self.b(self.a(x))


class LayersBeforeTheCall(nn.Module):
    def setup(self):
        self.a = nn.Sequential([nn.Dense(3), self.mlp(4), self.mlp(5)])

    def mlp(self, d):
        first = nn.Dense(d)
        return nn.Sequential([first, nn.relu])

    def __call__(self, x):
        return self.a(x)


class NormBeforeTheCall(nn.Module):
    n: int = 2

    def block(self, x, d):
        for i in range(self.n):
            x = nn.relu(nn.Dense(d + i)(x))
        return x

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(self.block(x, 3)) * nn.RMSNorm()(self.block(x, 3))
        return nn.LayerNorm()(self.block(y, 2))


def settled_chain(widths, act, last_act=False, norm=None, scale=None):
    """What its arguments settle is not asked again where its text stands."""
    layers = []
    n = len(widths)
    for i, w in enumerate(widths):
        layers.append(nn.Dense(w, use_bias=norm is None))
        if last_act or i < n - 1:
            layers.append(act)
        if norm is not None and i < n - 1:
            # normed
            layers.append(norm())
        layers.append(lambda x: x * (2 if scale is None else scale) + 1)
        if scale is None:
            layers.append(nn.Dense(w))
        else:
            if last_act:
                layers.append(nn.Dense(w + 1))
            layers.append(
                nn.Dense(w + 2)
            )
    return nn.Sequential(layers)


class SettledOptions(nn.Module):
    widths: Sequence[int] = (4, 5, 6)

    def setup(self):
        self.one = settled_chain(self.widths, nn.relu)
        self.two = settled_chain(self.widths, nn.tanh, last_act=True, norm=nn.LayerNorm)
        self.three = settled_chain(self.widths, nn.tanh, True, scale=3)

    def __call__(self, x):
        return self.three(self.two(self.one(x)))


CASES = [
    ("TwoChains", {}, [(2, 3)], {}),
    ("TwoChains", {"dims": (3, 6)}, [(2, 3)], {}),
    ("ChainOfTheCall", {}, [(2, 3)], {}),
    ("BlocksInALoop", {}, [(2, 3)], {}),
    ("BlocksInALoop", {"n": 1}, [(2, 4)], {"train": True}),
    ("MethodInTwoLoops", {}, [(2, 3)], {}),
    ("NestedMaker", {}, [(2, 3)], {}),
    ("NestedMaker", {"flag": False}, [(2, 3)], {}),
    ("NestedOneLine", {}, [(2, 3)], {}),
    ("MethodForSeveral", {}, [(2, 3)], {}),
    ("MethodThatFillsAList", {}, [(2, 3)], {}),
    ("NamesOfGlobals", {}, [(2, 3)], {}),
    ("OldValueIsRead", {}, [(2, 3)], {}),
    ("OptionsOfABlock", {}, [(2, 3)], {}),
    ("OptionsOfABlock", {"n": 1}, [(2, 3)], {}),
    ("ListsOfAFunction", {}, [(2, 3)], {}),
    ("PairsOfAMethod", {}, [(2, 3)], {}),
    ("AttributesOfAMethod", {}, [(2, 3)], {}),
    ("LiftedByAFunction", {}, [(2, 5, 3)], {}),
    ("LiftedByAFunctionOfTheCall", {}, [(2, 5, 3)], {}),
    ("MappingHandedOn", {"options": {"use_bias": False}}, [(2, 3)], {}),
    ("LayersBeforeTheCall", {}, [(2, 3)], {}),
    ("NormBeforeTheCall", {}, [(2, 3)], {}),
    ("NormBeforeTheCall", {"n": 1}, [(2, 3)], {}),
    ("SettledOptions", {}, [(2, 3)], {}),
]
