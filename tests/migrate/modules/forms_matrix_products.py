"""Products of a parameter with arrays whose number of dimensions nothing says; vectors, in each step of a sequence."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import lax


class Recurrence(nn.Module):
    hidden: int
    features: int

    def setup(self):
        self.decay = self.param("decay", nn.initializers.uniform(), (self.hidden,))
        self.into = self.param("into", nn.initializers.normal(), (self.hidden, self.features))
        self.out = self.param("out", nn.initializers.normal(), (self.features, self.hidden))

    def __call__(self, x):
        def step(h, u):
            h = self.decay * h + self.into @ u
            return h, (self.out @ h).real

        _, y = lax.scan(step, jnp.zeros(self.hidden, jnp.complex64), x)
        return y


class Gated(nn.Module):
    recurrence: Any
    features: int
    half: bool = False

    def setup(self):
        self.inner = self.recurrence()
        self.norm = nn.LayerNorm()
        if not self.half:
            self.value = nn.Dense(self.features)
        self.gate = nn.Dense(self.features)

    def __call__(self, x):
        y = self.inner(self.norm(x))
        return x + (y if self.half else self.value(y)) * nn.sigmoid(self.gate(y))


class Stack(nn.Module):
    features: int = 6
    half: bool = False

    def setup(self):
        recurrence = partial(Recurrence, hidden=5, features=self.features)
        self.encoder = nn.Dense(self.features)
        self.layers = [Gated(recurrence, self.features, self.half) for _ in range(2)]
        self.decoder = nn.Dense(3)

    def __call__(self, x):
        x = self.encoder(x)
        for layer in self.layers:
            x = layer(x)
        return self.decoder(x)


class EachRow(nn.Module):
    rows: int

    @nn.compact
    def __call__(self, x):
        matrix = self.param("matrix", nn.initializers.normal(), (self.rows, 4))
        return nn.Dense(3)(jax.vmap(lambda row: matrix @ row)(x))


class Across(nn.Module):
    tokens: int

    @nn.compact
    def __call__(self, x):
        matrix = self.param("matrix", nn.initializers.normal(), (self.tokens, x.shape[-2]))
        return nn.Dense(3)(matrix @ x)


CASES = [
    ("Across", {"tokens": 5}, [(4, 6)], {}),
    ("Across", {"tokens": 5}, [(2, 4, 6)], {}),
    ("EachRow", {"rows": 5}, [(2, 4, 6)], {}),
    ("Stack", {}, [(7, 3)], {}),
    ("Stack", {"half": True}, [(7, 3)], {}),
]
