"""Lists of modules of several kinds that a class is handed: a width that one kind keeps says nothing of the others."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """from typing import Sequence

from flax import linen as nn


class Width(nn.Module):
  hidden: int = 4
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.hidden)(x)


class Scale(nn.Module):
  scale: float = 2.0
  def __call__(self, x):
    return x * self.scale


class InTurn(nn.Module):
  blocks: Sequence[nn.Module]
  @nn.compact
  def __call__(self, x):
    for b in self.blocks:
      x = b(x)
    return nn.Dense(2)(x)


class Unlike(nn.Module):
  @nn.compact
  def __call__(self, x):
    return InTurn([nn.Dense(3), Scale(), nn.Dense(4)])(x)


class Others(nn.Module):
  def setup(self):
    self.net = InTurn(blocks=[Width(3), Width(5)])
  def __call__(self, x):
    return self.net(x)


class KeepTurn(nn.Module):
  blocks: Sequence[nn.Module]
  @nn.compact
  def __call__(self, x):
    for b in self.blocks:
      x = b(x)
    return nn.Dense(2)(x)


class Kept(nn.Module):
  @nn.compact
  def __call__(self, x):
    return KeepTurn([nn.LayerNorm(), Scale()])(x)
"""


@pytest.mark.parametrize("name, width", [("Unlike", 4), ("Others", 5), ("Kept", None)])
def test_the_width_is_asked_for_where_one_kind_alone_says_it(
    name: str, width: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    plan = {c.qualname: c for c in result.classes}[f"m.{name}"]
    assert plan.outcome == "native", plan.reason
    asked = [a.name for a in plan.added_arguments if a.name.endswith("dense_input_features")]
    assert len(asked) == (width is not None)
    sides = types.ModuleType("handed_linen"), types.ModuleType("handed_migrated")
    for module, text in zip(sides, (TEXT, result.files[0].after or "")):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(text, module.__name__, "exec"), module.__dict__)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 4), jnp.float32)
    linen = getattr(sides[0], name)()
    variables = linen.init(jax.random.key(0), x)
    sizes = {"in_features": 4, **dict.fromkeys(asked, width)}
    model = compat.from_linen(variables, getattr(sides[1], name)(**sizes, rngs=nnx.Rngs(0)))
    np.testing.assert_array_equal(model(x), linen.apply(variables, x))
