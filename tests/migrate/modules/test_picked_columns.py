"""A tuple alone as an index picks no rows: `x[self.columns]` is `x[0, 1]`."""

from __future__ import annotations

import jax
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

PROGRAM = """from collections.abc import Sequence

from flax import linen as nn


class Net(nn.Module):
    columns: Sequence[int] = (0, 1)

    @nn.compact
    def __call__(self, x):
        grid = x.reshape(-1, 4, 5)
        return nn.Dense(2)(grid[self.columns].reshape(1, -1))
"""


def test_a_tuple_alone_is_an_item() -> None:
    before, native = both_sides("tuple_alone", PROGRAM)
    x = jax.random.normal(jax.random.key(0), (2, 4, 5))
    linen = before.Net()
    variables = linen.init(jax.random.key(1), x)
    model = native.Net(reshape_features=5, rngs=nnx.Rngs(0))  # what no code shows is asked for; ten were taken for granted
    assert compat.check_equivalence(linen, variables, model, x)
