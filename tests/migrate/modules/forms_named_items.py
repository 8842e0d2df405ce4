"""Modules in lists and dicts of `setup` that have names of their own, whatever their places."""

from functools import partial

import flax.linen as nn
import jax.numpy as jnp


class Block(nn.Module):
    n: int

    def setup(self):
        self.fc = nn.Dense(self.n, name="mlp.0")

    def __call__(self, x):
        return nn.relu(self.fc(x))


class Loop(nn.Module):
    depth: int = 3

    def setup(self):
        layers = []
        for i in range(self.depth):
            layers.append(Block(8, name=f"layers.{i}"))
        self.layers = layers
        self.out = nn.Dense(2, name="head.weight")

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


class Comp(nn.Module):
    depth: int = 3

    def setup(self):
        self.mlps = [nn.Dense(8, name=f"out_mlps.{i}") for i in range(self.depth)]

    def __call__(self, x):
        return jnp.stack([self.mlps[i](x) for i in range(self.depth)], 1)


class Two(nn.Module):
    def setup(self):
        self.pair = [nn.Dense(8, name="first"), nn.Dense(4, name="second")]

    def __call__(self, x):
        return self.pair[1](self.pair[0](x))


class Dct(nn.Module):
    def setup(self):
        self.heads = {"a": nn.Dense(8, name="alpha"), "b": nn.Dense(4, name="beta")}

    def __call__(self, x):
        return self.heads["a"](x).sum(-1) + self.heads["b"](x).sum(-1)


class NoSep(nn.Module):
    depth: int = 3

    def setup(self):
        self.blocks = [Block(8 + i, name=f"block{i + 1}") for i in range(self.depth)]
        self.tup = tuple(nn.LayerNorm(name=f"ln{i}") for i in range(self.depth))

    def __call__(self, x):
        for b, t in zip(self.blocks, self.tup):
            x = t(b(x))
        return x


class Mixed(nn.Module):
    def setup(self):
        self.items = [nn.Dense(8), nn.Dense(8, name="mid"), nn.Dense(3)]

    def __call__(self, x):
        for layer in self.items:
            x = layer(x)
        return x


class Stage(nn.Module):
    def setup(self):
        self.blocks = [[Block(8, name=f"s{i}b{j}") for j in range(2)] for i in range(2)]

    def __call__(self, x):
        for s in self.blocks:
            for b in s:
                x = b(x)
        return x


class Conds(nn.Module):
    depth: int = 4

    def setup(self):
        ls = []
        for i in range(self.depth):
            if i % 2 == 0:
                ls.append(Block(8, name=f"even.{i}"))
            else:
                ls.append(nn.Dense(8, name=f"odd.{i}"))
        self.ls = ls

    def __call__(self, x):
        for layer in self.ls:
            x = layer(x)
        return x


class Chosen(nn.Module):
    deep: bool = True

    def setup(self):
        self.ls = [(Block if self.deep else nn.Dense)(8, name=f"l.{i}") for i in range(2)]

    def __call__(self, x):
        for layer in self.ls:
            x = layer(x)
        return x


class Remat(nn.Module):
    def setup(self):
        self.ls = [nn.remat(Block)(8, name=f"l.{i}") for i in range(2)]

    def __call__(self, x):
        for layer in self.ls:
            x = layer(x)
        return x


class Names(nn.Module):
    widths: tuple = (4, 8)

    def setup(self):
        self.ls = [nn.Dense(w, name=n) for w, n in zip(self.widths, ("up", "down"))]

    def __call__(self, x):
        for layer in self.ls:
            x = layer(x)
        return x


class Base(nn.Module):
    depth: int = 2

    def setup(self):
        self.blocks = [nn.Dense(8, name=f"blocks.{i}") for i in range(self.depth)]

    def __call__(self, x):
        for b in self.blocks:
            x = b(x)
        return x


class Derived(Base):
    def setup(self):
        super().setup()
        self.out = nn.Dense(2, name="out.proj")

    def __call__(self, x):
        return self.out(super().__call__(x))


class Cond(nn.Module):
    extra: bool = True

    def setup(self):
        ls = [nn.Dense(8, name="a.0")]
        if self.extra:
            ls.append(nn.Dense(8, name="a.extra"))
        ls.append(nn.Dense(2, name="a.last"))
        self.ls = ls

    def __call__(self, x):
        for layer in self.ls:
            x = layer(x)
        return x


class Drop(nn.Module):
    def setup(self):
        self.norms = [nn.BatchNorm(use_running_average=False, name=f"bn.{i}") for i in range(2)]
        self.drops = [nn.Dropout(0.5, deterministic=True, name=f"do.{i}") for i in range(2)]

    def __call__(self, x):
        for n, d in zip(self.norms, self.drops):
            x = d(n(x))
        return x


class Part(nn.Module):
    def setup(self):
        mk = partial(nn.Dense, use_bias=False)
        self.ls = [mk(8, name=f"p.{i}") for i in range(2)]
        self.emb = nn.Embed(10, 8, name="tok.embed")

    def __call__(self, x):
        for layer in self.ls:
            x = layer(x)
        return self.emb.attend(x)


class Outer(nn.Module):
    def setup(self):
        self.encoders = {"img": Two(name="image.tower"), "txt": Loop(name="text.tower")}
        self.rest = [nn.Dense(3, name="z.a"), nn.Dense(3, name="z.b")]

    def __call__(self, x):
        y = self.encoders["img"](x)[..., :2] + self.encoders["txt"](x)
        return sum(r(y) for r in self.rest)


class Keyed(nn.Module):
    def setup(self):
        self.heads = {k: nn.Dense(3, name=f"head_{n}") for k, n in (("u", "a"), ("v", "b"))}
        self.others = {k: nn.Dense(3, name=f"other_{k:>3}") for k in ("u", "v")}

    def __call__(self, x):
        y = self.heads["u"](x) + self.heads["v"](x)
        return self.others["u"](y) + self.others["v"](y)


CASES = [
    ("Keyed", {}, [(2, 3)], {}),
    ("Loop", {}, [(2, 3)], {}),
    ("Loop", {"depth": 1}, [(2, 3)], {}),
    ("Comp", {}, [(2, 3)], {}),
    ("Two", {}, [(2, 3)], {}),
    ("Dct", {}, [(2, 3)], {}),
    ("NoSep", {}, [(2, 3)], {}),
    ("Mixed", {}, [(2, 3)], {}),
    ("Stage", {}, [(2, 3)], {}),
    ("Conds", {}, [(2, 3)], {}),
    ("Chosen", {}, [(2, 3)], {}),
    ("Chosen", {"deep": False}, [(2, 3)], {}),
    ("Remat", {}, [(2, 3)], {}),
    ("Names", {}, [(2, 3)], {}),
    ("Derived", {}, [(2, 3)], {}),
    ("Cond", {}, [(2, 3)], {}),
    ("Cond", {"extra": False}, [(2, 3)], {}),
    ("Drop", {}, [(2, 3)], {}),
    ("Part", {}, [(2, 3)], {}),
    ("Outer", {}, [(2, 3)], {}),
]
