"""A Dropout's rate in a field that the caller knows only when it calls: `Head(rate=self.rate if train else 0.0)(x)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

NETS = """from flax import linen as nn


class Head(nn.Module):
    sizes: tuple = (64, 64)
    rate: float = 0.0

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size)(x)
            x = nn.Dropout(self.rate)(x, deterministic=False)
        return x


class Plain(nn.Module):
    drop: float = 0.5

    @nn.compact
    def __call__(self, x, train: bool = False):
        return Head(rate=self.drop if train else 0.0)(x)


class Needed(nn.Module):
    rate: float
    size: int = 64

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.size)(x)
        if self.rate > 0.0:
            x = nn.Dropout(self.rate, deterministic=False)(x)
        return x


class Asked(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return Needed(0.5 if train else 0.0)(x)


class Between(nn.Module):
    rate: float = 0.1

    @nn.compact
    def __call__(self, x):
        return Head(rate=self.rate)(x)


class Handed(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return Between(rate=0.0 if not train else 0.5)(x)


class Several(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        for i in range(2):
            x = Head((64,), 0.5 if train else 0.0)(x)
        return x + Head((64,))(x)


class Lifted(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return nn.remat(Head)(rate=0.5 if train else 0.0)(x)
"""


@pytest.mark.parametrize("name", ["Plain", "Asked", "Handed", "Several", "Lifted"])
def test_the_call_says_the_rate(name: str) -> None:
    before, after = both_sides("rates_of_calls", NETS)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(40, 3)), jnp.float32)
    linen = getattr(before, name)()
    variables = linen.init(jax.random.key(0), x)
    new = getattr(after, name)(in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x)
    compat.from_linen(variables, new)
    said = linen.apply(variables, x, train=True, rngs={"dropout": jax.random.key(1)})
    given = new(x, train=True)
    zeros = [float((y == 0).mean()) for y in (said, given)]
    assert abs(zeros[0] - zeros[1]) < 0.06 and (zeros[0] > 0.4 or name == "Several"), zeros
    spread = [float(jnp.std(y)) for y in (said, given)]
    assert abs(spread[0] / spread[1] - 1) < 0.1, spread
    np.testing.assert_array_equal(new(x), linen.apply(variables, x))  # and the next call what it says
    assert (new(x, train=True) != given).any()


def test_the_field_says_it_elsewhere() -> None:
    _, after = both_sides("rates_of_calls", NETS)
    x = jnp.ones((40, 3))
    head = after.Head(rate=0.5, in_features=3, rngs=nnx.Rngs(0))
    assert 0.4 < float((head(x) == 0).mean()) < 0.6
    assert (after.Head(in_features=3, rngs=nnx.Rngs(0))(x) != 0).all()
    needed = after.Needed(0.5, in_features=3, rngs=nnx.Rngs(0))
    assert 0.4 < float((needed(x) == 0).mean()) < 0.6
    with pytest.raises(ValueError, match="rate"):
        after.Needed(in_features=3, rngs=nnx.Rngs(0))(x)


HELD = """from flax import linen as nn


class Head(nn.Module):
    n: int = 4
    rate: float = 0.0

    {body}


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return Head({given})(x)
"""
COMPACT = "@nn.compact\n    def __call__(self, x):\n        "


@pytest.mark.parametrize(
    ("body", "given"),
    [
        (f"{COMPACT}return nn.Dropout(self.rate, deterministic=False)(nn.Dense(self.n)(x))", "n=4 if train else 5"),
        (f"{COMPACT}return nn.LayerNorm(epsilon=self.rate)(x)", "rate=0.5 if train else 0.0"),
        (
            f"{COMPACT}x = nn.Dropout(self.rate, deterministic=False)(x)\n        if self.rate > 0:\n"
            "            x = nn.Dense(self.n)(x)\n        return x",
            "rate=0.5 if train else 0.0",
        ),
        (
            "def setup(self):\n        self.drop = nn.Dropout(self.rate)\n\n    def __call__(self, x):\n"
            "        return self.drop(x, deterministic=False)",
            "rate=0.5 if train else 0.0",
        ),
    ],
)
def test_what_decides_more_stays_with_the_constructor(body: str, given: str) -> None:
    text = HELD.format(body=body, given=given)
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    plans: dict[str, Any] = {plan.qualname: plan for plan in result.classes}
    assert (str(plans["net.Net"].outcome), plans["net.Net"].code) == ("bridged", "NNX113"), plans["net.Net"].reason
    assert str(plans["net.Head"].outcome) == "native"
