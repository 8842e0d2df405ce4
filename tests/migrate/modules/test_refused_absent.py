"""Modules that may be None in ways that the constructor cannot ask about: they stay Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

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
    "one of two, or None": """class M(nn.Module):
  kind: int = 1

  def setup(self):
    self.head = nn.Dense(4)
    if self.kind == 1:
      self.proj = nn.Dense(5)
    elif self.kind == 2:
      self.proj = nn.Dense(6)
    else:
      self.proj = None

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
    "a rest of a split of unknown rank": """import jax.numpy as jnp


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    a, *rest = jnp.split(nn.Dense(6)(x), 3, axis=2)
    return nn.Dense(2)(rest[0])
""",
    "what foreign code gives, as it is": """import other


class M(nn.Module):
  def setup(self):
    self.mixer = other.Mixer()
    self.out = nn.Dense(2)

  def __call__(self, x):
    y = self.mixer.mixed(x)
    return self.out(y.reshape(y.shape[:2] + (-1,)))
""",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_may_be_none_in_another_way_stays_linen(what: str) -> None:
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + REFUSED[what])]).classes
    assert plan.outcome == "bridged" and plan.code in ("NNX110", "NNX114", "NNX157"), (plan.code, plan.reason)
