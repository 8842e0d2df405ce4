"""Containers that stand in for an optional argument: `if outputs is None: outputs = self.encoder(x)`, and `outputs[0]`."""

from typing import Any

import flax
import jax.numpy as jnp
from flax import linen as nn


@flax.struct.dataclass
class Output:
    last: Any = None
    hidden: Any = None

    def __getitem__(self, index):
        return (self.last, self.hidden)[index]


class Encoder(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x, as_record=True):
        h = nn.Dense(self.width)(x)
        y = nn.Dense(self.width)(nn.relu(h))
        if not as_record:
            return (y, h)
        return Output(last=y, hidden=h)


class Classifier(nn.Module):
    width: int = 6

    def setup(self):
        self.encoder = Encoder(self.width)
        self.projector = nn.Dense(5)
        self.classifier = nn.Dense(2)

    def __call__(self, x, outputs=None, as_record: bool = True):
        if outputs is None:
            outputs = self.encoder(x, as_record=as_record)
        hidden = outputs[0]
        hidden = self.projector(hidden)
        return self.classifier(jnp.mean(hidden, axis=1))


class Pair(nn.Module):
    @nn.compact
    def __call__(self, x, pair=None):
        if pair is None:
            pair = (nn.Dense(4)(x), nn.Dense(3)(x))
        a, b = pair
        return nn.Dense(2)(a) + nn.Dense(2)(b)


class Chosen(nn.Module):
    @nn.compact
    def __call__(self, x, outputs=None):
        outputs = Encoder(6)(x) if outputs is None else outputs
        return nn.Dense(2)(outputs.last) + nn.Dense(2)(outputs[1])


class Given(nn.Module):
    @nn.compact
    def __call__(self, x, outputs=None):
        if outputs is not None:
            h = outputs
        else:
            h = Encoder(6)(x, as_record=False)
        return nn.Dense(2)(h[0])


class Around(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Pair()(nn.Dense(7)(x)))


CASES = [
    ("Classifier", {}, [(2, 3, 4)], {"outputs": None}),
    ("Classifier", {}, [(2, 3, 4)], {"outputs": None, "as_record": False}),
    ("Pair", {}, [(2, 4)], {"pair": None}),
    ("Chosen", {}, [(2, 4)], {"outputs": None}),
    ("Given", {}, [(2, 4)], {"outputs": None}),
    ("Around", {}, [(2, 4)], {}),
]
