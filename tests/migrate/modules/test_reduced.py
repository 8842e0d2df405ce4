"""`functools.reduce` by functions that change the width, as often as a field says: no width is taken for granted."""

from __future__ import annotations

import jax
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

PROGRAM = """import functools

import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    times: int = 1

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(functools.reduce(lambda a, _: STEP, OVER, x))
"""


@pytest.mark.parametrize(
    "step, over, widths",
    [
        ("jnp.concatenate([a, a], axis=-1)", "range(self.times)", {1: 8, 2: 16}),
        ("a[..., ::2]", "range(self.times)", {1: 2, 2: 1}),
        ("jnp.concatenate([a, a], axis=-1)", "'ab' * self.times", {1: 16}),
    ],
)
def test_the_width_is_asked_for(step: str, over: str, widths: dict[int, int]) -> None:
    linen, migrated = both_sides(f"reduced_{len(step)}_{len(over)}", PROGRAM.replace("STEP", step).replace("OVER", over))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    for times, width in widths.items():
        variables = linen.Net(times).init(jax.random.key(1), x)
        native = migrated.Net(times, reduce_features=width, rngs=nnx.Rngs(0))
        compat.assert_equivalent(linen.Net(times), variables, native, x)
