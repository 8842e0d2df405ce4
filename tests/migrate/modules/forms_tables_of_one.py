"""Tables with one kind of module: what a table has room for is not always there."""

import dataclasses
import functools

from flax import linen as nn


class Wide(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x, train=False):
        return nn.Dense(self.width)(x)


class Levels(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x):
        fine = nn.Dense(self.width)(x)
        return {"fine": fine, "coarse": nn.Dense(2 * self.width)(fine)}


KINDS = {"wide": Wide}
LEVELS = {"levels": Levels}
NORMS = {"layer": nn.LayerNorm}


class Named(nn.Module):
    kind: str = "wide"
    options: dict = dataclasses.field(default_factory=dict)

    @nn.compact
    def __call__(self, x, train=False):
        kind = KINDS[self.kind]
        return kind(**self.options, name="body")(x, train=train)


class Joined(nn.Module):
    kind: str = "levels"

    @nn.compact
    def __call__(self, x):
        found = LEVELS[self.kind](5)(x)
        return nn.Dense(3)(found["fine"]) + nn.Dense(3)(found["coarse"])


class OfSetup(nn.Module):
    kind: str = "wide"

    def setup(self):
        self.body = KINDS[self.kind](3)

    def __call__(self, x):
        return self.body(x)


class Normed(nn.Module):
    norm: str = "layer"
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(NORMS[self.norm], epsilon=1e-3)
        for _ in range(self.depth):
            x = norm()(nn.Dense(4)(x))
        return x


class OfMethod(nn.Module):
    kind: str = "wide"

    def kind_of(self):
        return {"wide": Wide}[self.kind]

    @nn.compact
    def __call__(self, x):
        return self.kind_of()(4)(x)


CASES = [
    ("Named", {}, [(2, 3)], {}),
    ("Named", {"options": {"width": 4}}, [(2, 3)], {}),
    ("Joined", {}, [(2, 3)], {}),
    ("OfSetup", {}, [(2, 3)], {}),
    ("Normed", {}, [(2, 3)], {}),
    ("OfMethod", {}, [(2, 3)], {}),
]
