"""Two classes that contain each other: one asks what the other gives, so it stays Linen and is wrapped in the other."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from nnx_migrate import compat

from .test_linen_copies import load, migrate, outcomes, write

MODEL = """from flax import linen as nn


class Outer(nn.Module):
  depth: int = 2

  @nn.compact
  def __call__(self, x):
    h = nn.Dense(4)(x)
    if self.depth > 0:
      h = Inner(self.depth - 1)(h)
    return nn.Dense(3)(h)


class Inner(nn.Module):
  depth: int = 1

  @nn.compact
  def __call__(self, x):
    return nn.Dense(5)(Outer(self.depth)(x))
"""


def test_one_of_two_classes_that_contain_each_other_is_wrapped(tmp_path: Path) -> None:
    before = write(tmp_path / "before", {"nested.py": MODEL})
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Outer": "native", "Inner": "bridged"}
    assert {c.code for c in result.classes if c.qualname.endswith("Inner")} == {"NNX124"}
    x = jnp.asarray(np.random.RandomState(0).randn(2, 3), jnp.float32)
    module = load(before, "nested").Outer(2)
    variables = module.init(jax.random.key(0), x)
    expected = module.apply(variables, x)
    model = load(tmp_path / "after", "linen_parity", "nested_linen", "nested").Outer(2, in_shape=x.shape, rngs=nnx.Rngs(1))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(expected, model(x))
