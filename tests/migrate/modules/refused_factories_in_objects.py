"""Layers that an object makes which is no module: what such an object holds is not followed."""

INDENT = 0
HEAD = """import dataclasses
from functools import partial
from typing import Any

from flax import linen as nn


@dataclasses.dataclass
class Config:
    norm: Any = nn.LayerNorm
    width: int = 3

    def make_norm(self):
        return self.norm()


"""
_M = """class M(nn.Module):
    config: Any

"""

REFUSED = {
    "a class by default": (
        "NNX138",
        """class M(nn.Module):
    config: Config = dataclasses.field(default_factory=Config)

    @nn.compact
    def __call__(self, x):
        config = self.config
        x = nn.Dense(config.width)(x)
        return config.norm()(x)
""",
    ),
    "a partial of it": (
        "NNX138",
        _M
        + """    @nn.compact
    def __call__(self, x):
        norm = partial(self.config.norm, epsilon=0.1)
        return norm()(nn.Dense(3)(x))
""",
    ),
    "under a name of its own": (
        "NNX138",
        _M
        + """    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            norm = self.config.norm
            layer = norm()
            x = layer(nn.Dense(3)(x))
        return x
""",
    ),
    "made by setup": (
        "NNX138",
        _M
        + """    def setup(self):
        self.norms = [self.config.norm() for _ in range(2)]

    def __call__(self, x):
        for norm in self.norms:
            x = norm(x)
        return x
""",
    ),
    "a method that makes one": (
        "NNX138",
        _M
        + """    @nn.compact
    def __call__(self, x):
        return self.config.make_norm()(nn.Dense(3)(x))
""",
    ),
    "given when the object is made": (
        "NNX138",
        """@dataclasses.dataclass
class Other:
    layer: Any


class M(nn.Module):
    config: Other

    @nn.compact
    def __call__(self, x):
        return self.config.layer(3)(x)


def make():
    return M(Other(nn.Dense))
""",
    ),
}
