"""Modules that a function makes of classes in a registry, of which no second Linen class can be kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

LAYERS = """import jax.numpy as jnp
from flax import linen as nn

KINDS = {}


def register(kind):
  def inner(cls):
    KINDS[kind] = cls
    return cls

  return inner


@register("plain")
class Rotary(nn.Module):
  base: float
COMPACT
  def __call__(self, x):
    return x * jnp.cos(self.base)


def get_rotary(base):
  return Rotary(base)
"""

MODEL = """from flax import linen as nn

from layers import get_rotary


def report(cls):
  print(cls.__dataclass_fields__)
  return cls


class Attention(nn.Module):
  def setup(self):
    self.rotary = get_rotary(10.0)
    self.out = nn.Dense(4)

  def __call__(self, x):
    return self.out(self.rotary(x))


@report
class Model(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Attention()(x)
"""


def _migrated(texts: dict[str, str]) -> RunResult:
    sources = [SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()]
    return migrate_project(sources, Options())


@pytest.mark.parametrize(("compact", "native"), [("", True), ("\n  @nn.compact", False)])
def test_modules_that_stay_linen_are_called_by_native_ones_where_linen_lets_them(compact: str, native: bool) -> None:
    first = _migrated({"layers": LAYERS.replace("COMPACT", compact), "model": MODEL})
    outcomes = {c.qualname: c.outcome == "native" for c in first.classes}
    assert outcomes == {"layers.Rotary": False, "model.Attention": native, "model.Model": False}
    texts = {f.path.stem: f.after or "" for f in first.files}
    created = {path.stem: text for path, text in first.created.items()}
    assert ("model_linen" in created) == native
    second = _migrated(texts | created)
    assert [f.path.name for f in second.files if f.after != f.before] == [] and second.created == {}
