"""A scanned method calls what only programs hand in: a module there may draw at every step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

TEXT = """import functools
from collections.abc import Callable
from typing import Any
import jax.numpy as jnp
from flax import linen as nn


class Scanned(nn.Module):
  inner: Callable[[Any], Any]
  @functools.partial(nn.scan, variable_broadcast="params", in_axes=1, out_axes=1, split_rngs={"params": False, SPLIT})
  @nn.compact
  def __call__(self, carry, x):
    return carry + 1, self.inner(x)


class Mapped(nn.Module):
  inner: Callable[[Any], Any]
  @functools.partial(nn.vmap, variable_axes={"params": None}, in_axes=(None, 1), out_axes=(None, 1),
                     split_rngs={"params": False, SPLIT})
  @nn.compact
  def __call__(self, carry, x):
    return carry + 3, self.inner(x)


class Step(nn.Module):
  inner: Callable[[Any], Any]
  @nn.compact
  def __call__(self, carry, x):
    return carry + 1, self.inner(x)


class Held(nn.Module):
  inner: Callable[[Any], Any]
  @nn.compact
  def __call__(self, carry, x):
    step = nn.scan(Step, variable_broadcast="params", in_axes=1, out_axes=1, split_rngs={"params": False, SPLIT})
    return step(self.inner)(carry, x)
"""
NAMES = ("Scanned", "Mapped", "Held")


def _migrated(split: str) -> Any:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT.replace("SPLIT", split))])
    assert {c.outcome.value for c in result.classes} == {"native"}
    for created, content in result.created.items():
        _module(created.stem, content)
    return _module("scanned_nnx", result.files[0].after or "")


@pytest.mark.parametrize("name", NAMES)
def test_it_draws_anew_at_every_step_and_call(name: str) -> None:
    native = _migrated("'dropout': True")
    model = getattr(native, name)(nnx.Dropout(0.5, rngs=nnx.Rngs(0)), rngs=nnx.Rngs(1))
    drawn = [np.asarray(model(jnp.zeros(()), jnp.ones((2, 3, 64)))[1]) for _ in range(2)]
    masks = [drawn[call][:, step] for call in range(2) for step in range(3)]
    assert all((a != b).any() for i, a in enumerate(masks) for b in masks[:i])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", ["'dropout': True", ""])
def test_functions_are_called_as_before(name: str, split: str) -> None:
    native = _migrated(split)
    x = jnp.arange(12.0).reshape(2, 3, 2)
    carry, y = getattr(native, name)(jnp.tanh, rngs=nnx.Rngs(0))(jnp.zeros(()), x)
    assert carry == 3
    np.testing.assert_array_equal(y, jnp.tanh(x))
