"""Dicts of setup whose modules have their keys in names of their own: `{k: nn.Dense(n, name=f"head_{k}") for ...}`."""

from collections.abc import Mapping

import flax.linen as nn
from flax.core import FrozenDict


class Heads(nn.Module):
    outputs: Mapping[str, int] = FrozenDict({"class": 3, "value": 1, "a_b": 2})

    def setup(self):
        self.body = nn.Dense(4)
        self.heads = {k: nn.Dense(n, name=f"head_{k}") for k, n in self.outputs.items()}

    def __call__(self, x):
        x = nn.relu(self.body(x))
        return {k: head(x) for k, head in self.heads.items()}


class Same(nn.Module):
    """The names that Linen would give them."""

    def setup(self):
        self.heads = {k: nn.Dense(3, name=f"heads_{k}") for k in ("u", "v")}

    def __call__(self, x):
        return self.heads["u"](x) + self.heads["v"](x)


class Numbers(nn.Module):
    """Keys that are numbers, in an order that is not the alphabet's."""

    degrees: tuple[int, ...] = (10, 2)

    def setup(self):
        self.parts = {d: nn.Dense(d, name=f"degree_{d}") for d in self.degrees}

    def __call__(self, x):
        return [part(x) for part in self.parts.values()]


class Twice(nn.Module):
    """Names that say more than the keys."""

    def setup(self):
        self.heads = {k: nn.Dense(3, name=f"head_{k}_{k}") for k in ("u", "v")}

    def __call__(self, x):
        return self.heads["u"](x) + self.heads["v"](x)


CASES = [
    ("Heads", {}, [(2, 3)], {}),
    ("Heads", {"outputs": FrozenDict({"value": 1})}, [(2, 3)], {}),
    ("Same", {}, [(2, 3)], {}),
    ("Twice", {}, [(2, 3)], {}),
    ("Numbers", {}, [(2, 3)], {}),
]
