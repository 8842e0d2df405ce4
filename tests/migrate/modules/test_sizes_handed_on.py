"""Sizes that only the call knows, in fields that decide more than the call can say."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


def encode(x, kind):
    if kind == "flat":
        return x, 2
    return x.reshape(x.shape[0], -1, x.shape[-1]), x.shape[1]


"""
NET = """

class Net(nn.Module):
    kind: str = "flat"

    @nn.compact
    def __call__(self, x):
        x, t = encode(x, self.kind)
        return Outer(t)(x)
"""
STAYS = {
    "which modules there are": """class Inner(nn.Module):
    frames: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x) if self.frames > 2 else x


class Outer(nn.Module):
    frames: int

    @nn.compact
    def __call__(self, x):
        return Inner(self.frames)(x)
""",
    "how many": """class Inner(nn.Module):
    frames: int

    @nn.compact
    def __call__(self, x):
        for _ in range(self.frames):
            x = nn.Dense(4)(x)
        return x


class Outer(nn.Module):
    frames: int

    @nn.compact
    def __call__(self, x):
        return Inner(self.frames)(x)
""",
}
MOVED = """class Inner(nn.Module):
    frames: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x) * self.frames


class Outer(nn.Module):
    frames: int

    @nn.compact
    def __call__(self, x):
        return Inner(self.frames)(x) + 1
"""


@pytest.mark.parametrize("what", STAYS)
def test_it_stays_where_the_number_decides(what: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + STAYS[what] + NET)])
    plans = {c.qualname: c for c in result.classes}
    assert str(plans["m.Net"].outcome) == "bridged" and plans["m.Net"].code == "NNX113"
    assert str(plans["m.Inner"].outcome) == "native"
    assert "def __call__(self, x, *, frames" not in str(result.files[0].after)


def test_each_call_has_its_own() -> None:
    before, after = both_sides("sizes_of_calls", HEAD + MOVED + NET)
    linen = before.Net("tubes")
    x = jnp.ones((2, 3, 5, 6))
    variables = linen.init(jax.random.key(0), x)
    new = after.Net("tubes", in_features=6, rngs=nnx.Rngs(0))
    for shape in [(2, 3, 5, 6), (2, 4, 2, 6), (1, 1, 2, 6)]:
        assert compat.check_equivalence(linen, variables, new, jnp.ones(shape))
    # Who makes one by itself says the number as before, to the constructor.
    alone = after.Outer(3, in_features=6, rngs=nnx.Rngs(0))
    held = before.Outer(3).init(jax.random.key(0), x)
    assert compat.check_equivalence(before.Outer(3), held, alone, x)
