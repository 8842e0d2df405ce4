"""Dicts of modules that setup makes: their names, the order of their items, numbers as keys."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Values(nn.Module):
    def setup(self):
        self.heads = {"b": nn.Dense(2), "a": nn.Dense(3)}

    def __call__(self, x):
        return jnp.concatenate([h(x) for h in self.heads.values()], -1)


class Sorted(nn.Module):
    def setup(self):
        self.heads = {"a": nn.Dense(2), "b": nn.Dense(3)}

    def __call__(self, x):
        return jnp.concatenate([h(x) for h in self.heads.values()], -1)


class Items(nn.Module):
    names: tuple = ("b", "a")

    def setup(self):
        self.trunk = nn.Dense(4)
        self.heads = {k: nn.Dense(2) for k in self.names}

    def __call__(self, x):
        h = self.trunk(x)
        outs = []
        for _, head in self.heads.items():
            outs.append(head(h))
        for head in self.heads.values():
            outs.append(head(h))
        for i, k in enumerate(self.heads):
            outs.append(self.heads[k](h) + i)
        by_name = {k: v(h) for k, v in self.heads.items()}
        return outs, by_name, [self.heads[k](h) for k in self.heads], len(self.heads), "a" in self.heads


class ItemsOfAField(nn.Module):
    sizes: Any = None

    def setup(self):
        sizes = self.sizes
        self.heads = {k: nn.Dense(n) for k, n in sizes.items()}

    def __call__(self, x):
        out = {}
        for k, head in self.heads.items():
            out[k] = head(x)
        return out, jnp.concatenate([out[k] for k in self.heads.keys()], -1)


class Chained(nn.Module):
    def setup(self):
        self.layers = {"z": nn.Dense(4), "y": nn.Dense(3)}

    def __call__(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


class ItemByItem(nn.Module):
    def setup(self):
        branches = {"w": nn.Dense(3), "v": nn.Dense(4)}
        branches["p"] = nn.Dense(5)
        self.branches = branches
        self.trunk = nn.Dense(6)

    def __call__(self, x):
        h = self.trunk(x)
        out = [self.branches["w"](h), self.branches["v"](h)]
        out.append(self.branches["p"](h))
        return out, [b(h) for b in self.branches.values()]


class Numbers(nn.Module):
    degrees: Sequence[int] = (10, 9)

    def setup(self):
        self.cs = {d: nn.Dense(d) for d in self.degrees}
        self.ds = {i: nn.Dense(3) for i in range(2)}
        self.es = {1: nn.Dense(2), 0: nn.Dense(3)}

    def __call__(self, x):
        picked = [self.cs[d](x) for d in self.degrees]
        both = [self.ds[1](x), self.ds[0](x), self.es[1](x)]
        return picked, both, jnp.concatenate([e(x) for e in self.es.values()], -1)


class UnderAnotherName(nn.Module):
    def setup(self):
        self.heads = {"b": nn.Dense(2), "a": nn.Dense(3)}

    def __call__(self, x):
        heads = self.heads
        return heads["a"](x), self.heads["b"](x)


class ItemsUnderConditions(nn.Module):
    use_p: bool = True
    use_q: bool = False

    def setup(self):
        branches = {"w": nn.Dense(3), "v": nn.Dense(4)}
        if self.use_p:
            branches["p"] = nn.Dense(5)
        if self.use_q:
            branches["a"] = nn.Dense(2)
        else:
            branches["b"] = nn.Dense(3)
        self.branches = branches
        self.trunk = nn.Dense(6)

    def __call__(self, x):
        h = self.trunk(x)
        out = [self.branches["w"](h), self.branches["v"](h)]
        if self.use_p:
            out.append(self.branches["p"](h))
        if self.use_q:
            out.append(self.branches["a"](h))
        else:
            out.append(self.branches["b"](h))
        return out


class ItemBehindAnother(nn.Module):
    use_p: bool = True

    def setup(self):
        b = {"w": nn.Dense(3)}
        if self.use_p:
            b["p"] = nn.Dense(5)
        self.b = b

    def __call__(self, x):
        x = self.b["w"](x)
        return self.b["p"](x) if self.use_p else x


CASES = [
    ("Values", {}, [(2, 3)], {}),
    ("Sorted", {}, [(2, 3)], {}),
    ("Items", {}, [(2, 3)], {}),
    ("Items", {"names": ("c", "b", "a")}, [(2, 3)], {}),
    ("ItemsOfAField", {"sizes": {"b": 2, "a": 3}}, [(2, 3)], {}),
    ("Chained", {}, [(2, 3)], {}),
    ("ItemByItem", {}, [(2, 3)], {}),
    ("Numbers", {}, [(2, 3)], {}),
    ("UnderAnotherName", {}, [(2, 3)], {}),
    ("ItemsUnderConditions", {}, [(2, 3)], {}),
    ("ItemsUnderConditions", {"use_p": False, "use_q": True}, [(2, 3)], {}),
    ("ItemBehindAnother", {}, [(2, 3)], {}),
    ("ItemBehindAnother", {"use_p": False}, [(2, 3)], {}),
]
