"""What an unsigned variable starts from that is given a negative number, which JAX takes no more."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

TEXT = """import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Positions(nn.Module):
    features: int
    length: int = 6

    @nn.compact
    def __call__(self, x, decode: bool = False):
        table = jnp.arange(self.length * self.features, dtype=jnp.float32).reshape(self.length, self.features)
        if decode:
            index = self.variable("cache", "index", jnp.array, -1, dtype=jnp.uint32)
            other = self.variable("cache", "other", jnp.asarray, -2, np.uint8)
            i = index.value
            index.value = i + 1
            return jax.lax.dynamic_slice(table, jnp.array((i, 0)), np.array((1, self.features))) + other.value
        return table[: x.shape[1]] + nn.Dense(self.features)(x)
"""


def test_it_wraps_around() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    assert result.files[0].after is not None
    linen, native = module("around_before", TEXT), module("around_after", result.files[0].after)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 4, 5), jnp.float32)
    model = native.Positions(3, in_features=5, rngs=nnx.Rngs(0))
    assert model.index.dtype == jnp.uint32 and int(model.index[...]) == 2**32 - 1
    assert model.other.dtype == jnp.uint8 and int(model.other[...]) == 254
    variables = linen.Positions(3).init(jax.random.key(0), x)
    compat.from_linen(variables, model, strict=False)
    np.testing.assert_array_equal(linen.Positions(3).apply(variables, x), model(x))
    first, second = model(x, decode=True), model(x, decode=True)  # at the last row, where the table ends, and at the first
    np.testing.assert_array_equal(first, jnp.asarray([[269.0, 270.0, 271.0]]))
    np.testing.assert_array_equal(second, jnp.asarray([[254.0, 255.0, 256.0]]))
