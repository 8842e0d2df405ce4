"""Factories that a field holds in a list: which of them makes what is not known to the constructor."""

INDENT = 0
HEAD = """from functools import partial
from typing import Any

from flax import linen as nn


"""
_LISTED = """class M(nn.Module):
    layers: Any = (partial(nn.Dense, 4), partial(nn.Dense, 5))

"""

REFUSED = {
    "a loop over them": (
        "NNX138",
        _LISTED
        + """    @nn.compact
    def __call__(self, x):
        for make in self.layers:
            x = make()(x)
        return x
""",
    ),
    "a loop over them and something else": (
        "NNX138",
        _LISTED
        + """    @nn.compact
    def __call__(self, x):
        layers = self.layers
        for i, (make, bias) in enumerate(zip(layers, (True, False))):
            layer = make(use_bias=bias)
            x = layer(x)
        return x
""",
    ),
    "under names of their own": (
        "NNX138",
        _LISTED
        + """    @nn.compact
    def __call__(self, x):
        first, second = self.layers
        return second()(first()(x))
""",
    ),
    "made by setup": (
        "NNX138",
        _LISTED
        + """    def setup(self):
        self.made = [make() for make in self.layers]

    def __call__(self, x):
        for layer in self.made:
            x = layer(x)
        return x
""",
    ),
    "a lambda that makes layers within one": (
        "NNX138",
        """class M(nn.Module):
    head: Any = lambda: nn.Sequential([nn.Dense(4), nn.relu])

    @nn.compact
    def __call__(self, x):
        return self.head()(x)
""",
    ),
    "functions of the file make the modules of a field by default": (
        "NNX127",
        """import dataclasses


def norms(eps):
    return [nn.LayerNorm(epsilon=eps), nn.relu]


def make(eps=1e-3):
    return norms(eps)


class M(nn.Module):
    norms: list = dataclasses.field(default_factory=partial(make, eps=0.1))

    @nn.compact
    def __call__(self, x):
        for norm in self.norms:
            x = norm(x)
        return x
""",
    ),
}
