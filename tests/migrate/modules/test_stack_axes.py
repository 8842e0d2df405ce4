"""Stacks along several axes: what members sow stands where Linen puts it, and they draw together or apart as there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

TEXT = """from flax import linen as nn


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(4)(x)
    self.sow('intermediates', 'c', y)
    self.sow('intermediates', 'c', y * 2)
    return y


class Step(nn.Module):
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(x.shape[-1])(x)
    self.sow('intermediates', 'c', y)
    return y, None


class Members(nn.Module):
  axis: int = 1

  @nn.compact
  def __call__(self, x):
    axes = {'params': 0, 'intermediates': self.axis}
    return nn.vmap(Outer, variable_axes=axes, split_rngs={'params': True}, in_axes=None, axis_size=3)(name='inner')(x)


class Steps(nn.Module):
  @nn.compact
  def __call__(self, x):
    axes = {'params': 1, 'intermediates': 0}
    return nn.scan(Step, variable_axes=axes, split_rngs={'params': True}, in_axes=(), length=3)(name='inner')(x)[0]


class Drop(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=False)(nn.Dense(8)(x) + 9)


class Draws(nn.Module):
  apart: bool = False

  @nn.compact
  def __call__(self, x):
    split = {'params': True, 'dropout': self.apart}
    drops = nn.vmap(Drop, variable_axes={'params': 1}, split_rngs=split, in_axes=None, axis_size=3)
    return drops(name='inner')(x)
"""
RESULT = migrate_project([SourceFile.parse(Path("stack_axes.py"), "stack_axes", TEXT)])


for created, content in RESULT.created.items():
    _module(created.stem, content)
LINEN: Any = _module("stack_axes_linen", TEXT)
NATIVE: Any = _module("stack_axes_nnx", RESULT.files[0].after or "")


@pytest.mark.parametrize("name,fields", [("Members", {}), ("Members", {"axis": 0}), ("Members", {"axis": 2}), ("Steps", {})])
def test_sown_values_stand_along_their_own_axis(name: str, fields: dict[str, int]) -> None:
    assert {c.outcome for c in RESULT.classes} == {"native"}
    x = jax.random.normal(jax.random.key(0), (2, 5))
    linen = getattr(LINEN, name)(**fields)
    params = {"params": linen.init(jax.random.key(1), x)["params"]}
    expected, sown = linen.apply(params, x, mutable=["intermediates"])
    model = getattr(NATIVE, name)(**fields, in_features=5, rngs=nnx.Rngs(0))
    compat.from_linen(params, model)
    got, ours = nnx.capture(model, nnx.Intermediate)(x)
    np.testing.assert_allclose(expected, got, rtol=1e-6)
    theirs, ours = sown["intermediates"]["inner"]["c"], nnx.to_pure_dict(ours)["inner"]["c"]
    assert [v.shape for v in theirs] == [v.shape for v in ours]
    for a, b in zip(theirs, ours):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("rngs", [nnx.Rngs(0), nnx.Rngs(params=0, dropout=1)])
def test_members_draw_together_or_apart(apart: bool, rngs: nnx.Rngs) -> None:
    x = jax.random.normal(jax.random.key(0), (2, 5))
    linen = LINEN.Draws(apart)
    variables = linen.init({"params": jax.random.key(1), "dropout": jax.random.key(2)}, x)
    model = NATIVE.Draws(apart, in_features=5, rngs=rngs)
    first = np.asarray(model(x))
    for drawn in (linen.apply(variables, x, rngs={"dropout": jax.random.key(3)}), first):
        masks = [(np.asarray(member) == 0).tobytes() for member in drawn]
        assert len(set(masks)) == (3 if apart else 1)
    assert not np.array_equal(first, model(x))  # each call draws anew
    assert len(np.unique(np.asarray(model.inner.Dense_0.kernel[...])[0, :, 0])) == 3  # each member has its own parameters
