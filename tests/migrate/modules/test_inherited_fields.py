"""Fields inherited from a class of another file: their defaults mean the same under the names of its own file."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

BASE = """from typing import Any, Callable

import jax.nn as jnn
from flax import linen as layers

Width = int
_TABLE = {"scale": 3.0}


def doubled(x):
  return 2 * x


class InheritedBase(layers.Module):
  width: Width = 4
  act: Callable[[Any], Any] = jnn.gelu
  before: Any = doubled
  kernel_init: Any = layers.initializers.constant(0.3)
  table: Any = _TABLE["scale"]
"""
DERIVED = """from flax import linen as nn

from inherited_base import InheritedBase

doubled = "a name that means something else here"


class Derived(InheritedBase):
  depth: int = 2

  @nn.compact
  def __call__(self, x):
    for _ in range(self.depth):
      x = self.act(nn.Dense(self.width, kernel_init=self.kernel_init)(self.before(x)))
    return x * self.table
"""


COMPUTED_BASE = """from typing import Any

from flax import linen as nn


class ComputedBase(nn.Module):
  groups: int = 2
  width: int = groups
  deep: int = 2 * width + 1
  widths: Any = tuple(2 + i for i in range(width))

  @nn.compact
  def __call__(self, x):
    for width in self.widths:
      x = nn.Dense(width)(x)
    return nn.Dense(self.deep, name="second")(nn.Dense(self.width, name="first")(x))
"""
COMPUTED_DERIVED = """from flax import linen as nn

from computed_base import ComputedBase

width = 7


class Derived(ComputedBase):
  groups: int = 5
  other: int = width

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.other, name="last")(super().__call__(x))
"""


@pytest.mark.parametrize(
    "files",
    [
        {"inherited_base": BASE, "inherited_derived": DERIVED},
        {"computed_base": COMPUTED_BASE, "computed_derived": COMPUTED_DERIVED},
    ],
)
def test_defaults_of_another_file_mean_the_same(files: dict[str, str]) -> None:
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, text) for n, text in files.items()])
    assert {c.outcome for c in result.classes} == {"native"}
    before = [_module(name, text) for name, text in files.items()][-1]
    x = jnp.asarray(np.random.RandomState(0).randn(2, 4), jnp.float32)
    variables = before.Derived().init(jax.random.key(0), x)
    expected = before.Derived().apply(variables, x)
    after = {file.path.stem: file.after for file in result.files}
    native = [_module(name, after[name] or "") for name in files][-1]
    model = native.Derived(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    assert (model(x) == expected).all()
