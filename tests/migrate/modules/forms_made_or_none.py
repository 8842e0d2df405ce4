"""Functions within `setup` that make a module or return None, by fields of the class."""

from typing import Optional

import flax.linen as nn


def maybe(width):
    if width is None:
        return None
    return nn.Dense(width)


class Sets(nn.Module):
    inner: Optional[int] = None
    outer: Optional[int] = None

    def setup(self):
        def make(width, name):
            if width is None:
                return None
            else:
                return nn.Dense(width, name=name)

        self.phi = make(self.inner, "phi_dense")
        self.rho = make(self.outer, "rho_dense")

    def __call__(self, x):
        if self.phi:
            x = self.phi(x)
        x = x.sum(-2)
        if self.rho:
            x = self.rho(x)
        return x


class Norms(nn.Module):
    kind: str = "none"
    width: Optional[int] = None
    on: bool = True

    def setup(self):
        def make(kind):
            if kind == "none":
                return None
            if kind == "layer":
                return nn.LayerNorm()
            return nn.RMSNorm()

        def given(width):
            if width is not None and self.on:
                return nn.Dense(width)
            return None

        self.norm = make(self.kind)
        self.dense = given(self.width)
        self.head = maybe(self.width)

    def __call__(self, x):
        if self.norm is not None:
            x = self.norm(x)
        if self.dense is not None:
            x = self.dense(x)
        if self.head is not None:
            x = self.head(x)
        return 2 * x


CASES = [
    ("Sets", {"inner": 3, "outer": 5}, [(2, 3, 4)], {}),
    ("Sets", {"outer": 5}, [(2, 3, 4)], {}),
    ("Norms", {}, [(2, 4)], {}),
    ("Norms", {"kind": "layer", "width": 3}, [(2, 4)], {}),
    ("Norms", {"kind": "rms", "width": 3, "on": False}, [(2, 4)], {}),
]
