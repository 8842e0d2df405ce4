"""Logical axis rules that a method puts in force: refused where parameters would be laid out by them."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import jax.numpy as jnp
from flax import linen as nn
from flax.linen import logical_axis_rules, partitioning as nn_partitioning
RULES = (("embed", None), ("mlp", "model"))
kernel_init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), ("embed", "mlp"))

class Inner(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(8, kernel_init=kernel_init)(x)
"""

REFUSED = {
    "a layer": """
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    with nn.logical_axis_rules(RULES):
      return nn.Dense(8, kernel_init=kernel_init)(x)
""",
    "a module, beside a mesh": """
class Net(nn.Module):
  mesh: object = None
  rules: tuple = RULES
  @nn.compact
  def __call__(self, x):
    with self.mesh, nn_partitioning.axis_rules(self.rules):
      return Inner()(x)
""",
    "the call of what setup holds": """
class Net(nn.Module):
  def setup(self):
    self.inner = Inner()
  def __call__(self, x):
    with logical_axis_rules(RULES):
      x = self.inner(x)
    return x
""",
    "a parameter": """
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    with nn.logical_axis_rules(RULES):
      w = self.param("w", kernel_init, (x.shape[-1], 8))
    return x @ w
""",
    "rules from there on": """
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    nn.set_logical_axis_rules(RULES)
    return Inner()(x)
""",
    "a method of its own": """
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    with nn.logical_axis_rules(RULES):
      return self.encode(x)
  def encode(self, x):
    return Inner()(x)
""",
    "the method of a base": """
class Base(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Inner()(x)

class Net(Base):
  def __call__(self, x):
    with nn.logical_axis_rules(RULES):
      return super().__call__(x)
""",
    "a function": """
def encode(x):
  with nn.logical_axis_rules(RULES):
    return nn.Dense(8, kernel_init=kernel_init)(x)

class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    return encode(x)
""",
    "rules under a name": """
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    rules = nn.logical_axis_rules(RULES)
    with rules:
      return Inner()(x)
""",
    "a stack of contexts": """
import contextlib
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    with contextlib.ExitStack() as stack:
      stack.enter_context(nn.logical_axis_rules(RULES))
      return Inner()(x)
""",
    "a layer of setup": """
class Net(nn.Module):
  def setup(self):
    with nn.logical_axis_rules(RULES):
      self.inner = Inner()
  def __call__(self, x):
    return self.inner(x)
""",
}
KEPT = {
    "constraints alone": """
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    y = Inner()(x)
    with nn.logical_axis_rules(RULES):
      y = nn.with_logical_constraint(y, ("embed", "mlp"))
    return y
""",
    "rules outside of modules": """
class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Inner()(x)

def make(key, x):
  with nn.logical_axis_rules(RULES):
    return Net().init(key, x)
""",
}


def _net(text: str) -> tuple[str, str]:
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    return next((c.outcome.value, c.code) for c in plans if c.qualname == "m.Net")


@pytest.mark.parametrize("name", REFUSED)
def test_it_stays_linen(name: str) -> None:
    assert _net(HEAD + REFUSED[name]) == ("bridged", "NNX179")


@pytest.mark.parametrize("name", KEPT)
def test_it_becomes_native(name: str) -> None:
    assert _net(HEAD + KEPT[name])[0] == "native"


def test_rules_mean_nothing_where_no_parameter_has_logical_names() -> None:
    named = 'nn.with_logical_partitioning(nn.initializers.lecun_normal(), ("embed", "mlp"))'
    text = HEAD.replace(named, "nn.initializers.ones")
    assert _net(text + REFUSED["a layer"])[0] == "native"
