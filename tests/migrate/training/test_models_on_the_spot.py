"""Models that are constructed where they are initialized, in a statement that does something else with the params."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module

TEXT = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Net(nn.Module):
  width: int
  bias: bool = True
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width, use_bias=self.bias)(x)


def returned(key, x):
  return Net(3, bias=False).init(key, x)


def started(key, x):
  net = Net(width=3)
  state = train_state.TrainState.create(
    apply_fn=net.apply, params=Net(width=3).init(key, x)['params'], tx=optax.sgd(0.1))
  return state.apply_fn({'params': state.params}, x)
"""


@pytest.mark.parametrize("function", ["returned", "started"])
def test_it_is_constructed_with_its_own_arguments_and_its_sizes(function: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after
    assert after is not None and "Net(3, bias=False)(" not in after
    old, new = module("spot_linen", TEXT), module("spot_nnx", after)
    key, x = jax.random.key(0), jnp.ones((2, 4))
    wanted, got = (jax.tree.leaves(getattr(side, function)(key, x)) for side in (old, new))
    assert [np.shape(leaf) for leaf in wanted] == [np.shape(leaf) for leaf in got]


NAMED = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
  args: dict
  sizes: tuple = (3, 2)
  late: int = 7
  cache: str = "c"
  updated: float = 0.5
  known: int = 3
  modes: str = "m"
  identity: bool = False
  create: float = 1.5
  kwargs: tuple = ()
  module: str = "field"
  @nn.compact
  def __call__(self, x):
    for n in self.sizes:
      x = nn.Dense(n, kernel_init=nn.initializers.constant(0.1))(x) * self.updated
    return x + self.late


def run(**options):
  x = jnp.sin(jnp.arange(12.0)).reshape(2, 6)
  net = Net({"lr": 0.1}, **options)
  variables = net.init(jax.random.key(0), x)
  kept = [variables]
  read = [net.args, net.sizes, net.late, net.cache, net.updated, net.known, net.modes, net.identity, net.create, net.kwargs]
  unbound, held = net.bind(variables).unbind()
  read += [net.module, unbound.module, float(unbound.apply(held, x).sum())]
  return [str(read), net.clone(late=2).late, float(net.apply(variables, x).sum()), len(jax.tree.leaves(kept))]
"""


def test_fields_are_read_that_have_names_of_the_functional_s_own() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", NAMED)])
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after
    assert after is not None and "linen_parity.Functional(" in after
    old, new = module("named_linen", NAMED), module("named_nnx", after)
    for options in ({}, {"sizes": (4, 2), "late": 1}):
        assert old.run(**options) == new.run(**options)


PARENTHESES = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Small(nn.Module):
  width: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width, kernel_init=nn.initializers.constant(0.1))(x)


class Wide(nn.Module):
  width: int = 2
  @nn.compact
  def __call__(self, x):
    return nn.Conv(self.width, (3,), kernel_init=nn.initializers.constant(0.2))(x)


def run():
  x = jnp.sin(jnp.arange(24.0)).reshape(2, 4, 3)
  found = []
  for name in ("small", "wide"):
    models = [(Small if name == "small" else Wide)(), (  # by its name
        Small if name == "small"
        else Wide
    )(width=5), ((Small))(4), (Wide)()]
    for model in models:
      found.append(float(model.apply(model.init(jax.random.key(0), x), x).sum()))
  return found
"""


def test_classes_in_parentheses_are_constructed() -> None:
    """`(Small if small else Wide)(8)`: the file could not be rewritten."""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", PARENTHESES)])
    assert {str(plan.outcome) for plan in result.classes} == {"native"}
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after
    assert after is not None and after != PARENTHESES
    old, new = module("parentheses_linen", PARENTHESES), module("parentheses_nnx", after)
    np.testing.assert_allclose(new.run(), old.run(), rtol=1e-6)
