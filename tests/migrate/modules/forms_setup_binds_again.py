"""`setup` that binds a name again, of which the sizes of its layers were said."""

from functools import partial
from typing import Any

import flax.linen as nn


class PartOfConfig(nn.Module):
    config: Any

    def setup(self):
        config = self.config
        width = config["width"]
        config = config["head"]
        self.first = nn.Dense(width)
        self.second = nn.Dense(config["width"])
        self.last = nn.Dense(width)

    def __call__(self, x):
        return self.last(self.second(self.first(x)))


class InAttribute(nn.Module):
    config: Any

    def setup(self):
        config = self.config
        self.width = config["width"]
        config = config["head"]
        self.first = nn.Dense(self.width)
        self.second = nn.Dense(config["width"])

    def __call__(self, x):
        return self.second(self.first(x)) * self.width


class InList(nn.Module):
    config: Any

    def setup(self):
        c = self.config
        widths = [c["width"], c["width"] + 1]
        c = c["head"]
        self.layers = [nn.Dense(w) for w in widths]
        self.last = nn.Dense(c["width"])

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.last(x)


class InPartial(nn.Module):
    config: Any

    def setup(self):
        c = self.config
        make = partial(nn.Dense, c["width"])
        self.first = make()
        c = c["head"]
        self.second = nn.Dense(c["width"])
        self.last = make()

    def __call__(self, x):
        return self.last(self.second(self.first(x)))


class Part(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class OfClasses(nn.Module):
    config: Any

    def setup(self):
        c = self.config
        self.first = Part(c["width"])
        c = c["head"]
        self.second = Part(width=c["width"])
        self.last = Part(2)

    def __call__(self, x):
        return self.last(self.second(self.first(x)))


class InHelper(nn.Module):
    """A helper of setup calls something else by the name."""

    config: Any

    def part(self, config):
        config = config["head"]
        return nn.Dense(config["width"])

    def setup(self):
        config = self.config
        width = config["width"]
        self.first = nn.Dense(width)
        self.second = self.part(config)
        self.last = nn.Dense(config["width"])

    def __call__(self, x):
        return self.last(self.second(self.first(x)))


CONFIG = {"width": 3, "head": {"width": 5}}
CASES = [
    (name, {"config": CONFIG}, [(2, 4)], {})
    for name in ("PartOfConfig", "InList", "OfClasses", "InPartial", "InAttribute", "InHelper")
]
