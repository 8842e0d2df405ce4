"""Modules that may be None in ways that the constructor cannot ask about: they stay Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .outside_code import named_outside

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

HEAD = "from flax import linen as nn\n\n\n"
REFUSED = {
    "made under two conditions": """class M(nn.Module):
  use: bool = True
  also: bool = True

  def setup(self):
    self.head = nn.Dense(4)
    self.proj = None
    if self.use:
      if self.also:
        self.proj = nn.Dense(4)

  def __call__(self, x):
    if self.proj is not None:
      x = self.proj(x)
    return self.head(x)
""",
    "by an argument of the call": """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False, mask=None):
    proj = nn.Dense(4) if train and mask is None else None
    if proj is not None:
      x = proj(x)
    return nn.Dense(2)(x)
""",
    "the whole shape behind a branch for another number of dimensions": """import jax.numpy as jnp


class Mlp(nn.Module):
  dim: int = 6
  grid: bool = False

  @nn.compact
  def __call__(self, x):
    x = nn.Dense(self.dim)(x)
    if self.grid:
      b, n, c = x.shape
      w = int(n ** 0.5)
      x = x.reshape(b, w, w, c)
      x = nn.Conv(c, (3, 3))(x)
      x = x.reshape(b, -1, c)
    return nn.Dense(3)(x)


class M(nn.Module):
  grid: bool = False

  @nn.compact
  def __call__(self, x):
    x = nn.Conv(3, (3, 3), 2, "SAME")(x)
    x = Mlp(6, grid=self.grid)(x)
    return x + self.param("p", nn.initializers.ones, (1, x.shape[1], x.shape[2], x.shape[3]))
""",
    "the whole shape behind a padding of the fields": """import jax


class M(nn.Module):
  pad: str = "SAME"

  @nn.compact
  def __call__(self, x):
    kernel = self.param("k", nn.initializers.normal(), (3, 3, 1, x.shape[-1]))
    numbers = ("NHWC", "HWIO", "NHWC")
    x = jax.lax.conv_general_dilated(x, kernel, (1, 1), self.pad, dimension_numbers=numbers, feature_group_count=3)
    return x + self.param("p", nn.initializers.normal(), (1, x.shape[1], x.shape[2], x.shape[3]))
""",
    "what foreign code gives, turned": """import other


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(other.mixed(x).transpose(0, 2, 1))
""",
    "a branch of unknown width beside one of width 1": """import other


class M(nn.Module):
  fast: bool = False

  def setup(self):
    self.one = nn.Dense(1)
    self.out = nn.Dense(2)

  def __call__(self, x):
    if self.fast:
      y = other.mixed(x).transpose(0, 2, 1)
    else:
      y = self.one(x)
    return self.out(y)
""",
    "what foreign code gives, as it is": """import other


class M(nn.Module):
  def setup(self):
    self.out = nn.Dense(2)

  def __call__(self, x):
    y = other.mixed(x)
    return self.out(y.reshape(y.shape[:2] + (-1,)))
""",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_may_be_none_in_another_way_stays_linen(what: str) -> None:
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", named_outside(HEAD + REFUSED[what]))]).classes
    plan = next(p for p in plans if p.qualname == "m.M")
    assert plan.outcome == "bridged" and plan.code in ("NNX110", "NNX111", "NNX114", "NNX157"), (plan.code, plan.reason)
