"""Objects that setup has made by functions, of which nothing is known: parameters and layers take their sizes from them."""

import types
from typing import Any

from flax import linen as nn


def defaults(updates=None):
    config = types.SimpleNamespace()
    config.width = 4
    config.typed = True
    config.__dict__.update(updates or {})
    return config


class ByStaticMethod(nn.Module):
    updates: Any = None

    @staticmethod
    @nn.nowrap
    def get_config(updates=None):
        return defaults(updates)

    def setup(self):
        self.config = self.get_config(self.updates)
        if self.config.typed:
            self.kind = self.param("kind", nn.initializers.normal(), (1, 1, self.config.width))
        self.token = self.param("token", nn.initializers.ones, (1, 1, self.config.width))
        self.embed = nn.Dense(self.config.width)

    def __call__(self, x):
        x = self.embed(x) + self.token
        return x * self.kind if self.config.typed else x


class ByFunction(nn.Module):
    updates: Any = None

    def setup(self):
        self.config = defaults(self.updates)
        self.scale = self.param("scale", nn.initializers.normal(), (2 * self.config.width,))
        self.seen = self.variable("stats", "seen", nn.initializers.zeros, None, (self.config.width,))
        self.inner = nn.Dense(2 * self.config.width)
        self.outer = nn.Dense(self.config.width)

    def __call__(self, x):
        x = self.outer(self.inner(x) * self.scale)
        self.seen.value += x.mean((0, 1))
        return x + self.seen.value


class ByMethod(nn.Module):
    updates: Any = None

    @nn.nowrap
    def get_config(self):
        return defaults(self.updates)

    def setup(self):
        self.config = self.get_config()
        self.scale = self.param("scale", nn.initializers.normal(), (self.config.width,))
        self.layers = [nn.Dense(self.config.width) for _ in range(self.config.width // 2)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale


class ByName(nn.Module):
    updates: Any = None

    @classmethod
    def get_config(cls, updates):
        return defaults(updates)

    def setup(self):
        config = self.get_config(self.updates)
        table = {"width": config.width}
        self.scale = self.param("scale", nn.initializers.normal(), (config.width, table["width"]))
        self.embed = nn.Dense(config.width)

    def __call__(self, x):
        return self.embed(x) @ self.scale


_INPUT = [(2, 3, 6)]
CASES = [
    ("ByStaticMethod", {"updates": {"width": 5}}, _INPUT, {}),
    ("ByFunction", {}, _INPUT, {}),
    ("ByMethod", {}, _INPUT, {}),
    ("ByName", {"updates": {"width": 5}}, _INPUT, {}),
    ("ByStaticMethod", {"updates": {"typed": False}}, _INPUT, {}),
    ("ByFunction", {"updates": {"width": 3}}, _INPUT, {}),
    ("ByMethod", {"updates": {"width": 6}}, _INPUT, {}),
    ("ByName", {}, _INPUT, {}),
]
