"""Passed modules whose variables NNX would keep elsewhere than Linen, or that Linen would copy: the giver stays Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from typing import Any
import jax.numpy as jnp
from flax import linen as nn


class Inner(nn.Module):
  embed: Any

  @nn.compact
  def __call__(self, t, _=None):
    return nn.Dense(4)(self.embed(t))


class Step(nn.Module):
  dense: Any

  @nn.compact
  def __call__(self, c, _):
    return self.dense(c), None


"""

REFUSED = {
    "under nn.scan, which would copy it": (
        "NNX127",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    dense = nn.Dense(4)
    scanned = nn.scan(Step, variable_axes={'params': 0}, length=3)
    return scanned(dense)(x, None)[0]
""",
    ),
    "an attribute only after it was passed": (
        "NNX127",
        """class M(nn.Module):
  def setup(self):
    embed = nn.Embed(5, 4)
    self.inner = Inner(embed)
    self.shared = embed

  def __call__(self, t):
    return self.inner(t) + self.shared(t)
""",
    ),
    "passed twice and never an attribute": (
        "NNX127",
        """class M(nn.Module):
  def setup(self):
    embed = nn.Embed(5, 4)
    self.one = Inner(embed)
    self.two = Inner(embed)

  def __call__(self, t):
    return self.one(t) + self.two(t)
""",
    ),
    "a name of its own, and no attribute": (
        "NNX127",
        """class M(nn.Module):
  def setup(self):
    self.inner = Inner(nn.Embed(5, 4, name='table'))

  def __call__(self, t):
    return self.inner(t)
""",
    ),
    "a module of another module as an attribute": (
        "NNX127",
        """class M(nn.Module):
  def setup(self):
    self.inner = N()
    self.table = self.inner.embed

  def __call__(self, t):
    return self.inner(t) + self.table(t)


class N(nn.Module):
  def setup(self):
    self.embed = nn.Embed(5, 4)

  def __call__(self, t):
    return self.embed(t)
""",
    ),
    "a module at one place, a function at another": (
        "NNX163",
        """class M(nn.Module):
  embed: Any = jnp.tanh

  def __call__(self, x):
    return self.embed(x)


class N(nn.Module):
  @nn.compact
  def __call__(self, x):
    return M(nn.Dense(4))(x)
""",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_the_giver_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    text = HEAD + body
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = next(c for c in result.classes if c.qualname == "m.M")
    assert plan.outcome == "bridged"
    assert plan.code == code, plan.reason
    after = result.files[0].after
    assert after is not None
    after = after.replace("m_linen.", "")  # the Linen copies of what became native
    start = after.index("class M(")
    assert after[start:].split("\n\n\n")[0].rstrip() == body.split("\n\n\n")[0].rstrip()
