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
