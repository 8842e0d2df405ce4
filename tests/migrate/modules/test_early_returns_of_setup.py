"""What the constructor does last it does also where `setup` returns early."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

PROGRAM = """import jax
from flax import linen as nn


class Later(nn.Module):
    gate: str = ""
    n: int = 2

    def setup(self):
        self.hidden = [nn.Dense(3, name=f"hidden{i}") for i in range(self.n - 1)]
        self.a = nn.Dense(3)
        if self.gate == "":
            return
        self.g = nn.Dense(3)

    def __call__(self, x):
        y = x
        if self.hidden:
            for l in self.hidden:
                y = l(y)
        else:
            y = nn.relu(x)
        z = self.a(y)
        if self.gate:
            z = z * self.g(y)
        return z


class Drops(nn.Module):
    gate: str = ""

    def setup(self):
        self.a = nn.Dense(3)
        self.d = nn.Dropout(0.5)
        if not self.gate: return
        self.g = nn.Dense(3)

    def __call__(self, x, det=True):
        y = self.d(self.a(x), deterministic=det)
        y = y + jax.random.normal(self.make_rng("noise"), y.shape) * 0
        if self.gate:
            y = y * self.g(y)
        return y


class Both(nn.Module):
    gate: str = ""
    n: int = 2

    def setup(self):
        self.hidden = [nn.Dense(3, name=f"hidden{i}") for i in range(self.n - 1)]
        self.a = nn.Dense(3)
        if self.gate == "a":
            if self.n == 2:
                return None
            self.g = nn.Dense(3)
            return
        self.h = nn.Dense(3)
        return

    def __call__(self, x):
        y = x
        if self.hidden:
            for l in self.hidden:
                y = l(y)
        else:
            y = nn.relu(x)
        z = self.a(y)
        if self.gate == "a" and self.n != 2:
            z = z * self.g(y)
        elif self.gate != "a":
            z = z * self.h(y)
        return z + jax.random.normal(self.make_rng("noise"), z.shape) * 0
"""
CASES = [
    (name, {"gate": gate, **({} if name == "Drops" else {"n": n})})
    for name, gate, n in itertools.product(("Later", "Drops", "Both"), ("", "a"), (1, 2))
]


@pytest.fixture(scope="module")
def sides():
    return both_sides("early_returns", PROGRAM)


@pytest.mark.parametrize(("name", "fields"), CASES)
def test_sizes_are_found_and_streams_kept(sides, name: str, fields: dict[str, object]) -> None:
    before, after = sides
    linen = getattr(before, name)(**fields)
    x = jnp.linspace(-1, 1, 8).reshape((2, 4))
    variables = linen.init({"params": jax.random.key(0), "noise": jax.random.key(1)}, x)
    example = {} if name == "Drops" else {"in_example": x}
    new = getattr(after, name)(**fields, in_features=4, **example, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x, rngs=["noise"])
