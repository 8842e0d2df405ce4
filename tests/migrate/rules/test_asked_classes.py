"""Code outside of modules that asks a module for its class, where a class of the project stays Linen."""

from __future__ import annotations

from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODELS = """
from flax import linen as nn

class Net(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(8)({})
"""
ANALYSIS = """
from flax import linen as nn

def dense(module, name):
  return isinstance(module, nn.Dense) or isinstance(module, (nn.LayerNorm, nn.Embed))

def count(layers: list[nn.Dense]):
  return len(layers)

class Head(nn.Module):
  def setup(self):
    self.layers = [nn.Dense(4), nn.Dropout(0.0)]

  def __call__(self, x):
    for layer in self.layers:
      x = layer(x, deterministic=True) if isinstance(layer, nn.Dropout) else layer(x)
    return x
"""


def migrated(value: str, analysis: str = ANALYSIS) -> str:
    texts = {"models": MODELS.format(value), "analysis": analysis}
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()])
    after = next(file.after for file in result.files if file.path.name == "analysis.py")
    return after if after is not None else analysis


def test_layers_of_both_kinds_are_asked_where_a_class_stays_linen() -> None:
    after = migrated("self.perturb('hidden', x)")
    assert "isinstance(module, nn.Dense | nnx.Linear)" in after
    assert "nn.LayerNorm | nnx.LayerNorm, nn.Embed | nnx.Embed" in after
    assert "from flax import linen as nn" in after
    assert "list[nnx.Linear]" in after
    assert "isinstance(layer, nnx.Dropout)" in after  # a native class has native layers
    assert migrated("self.perturb('hidden', x)", after) == after


def test_native_layers_alone_are_asked_where_none_does() -> None:
    after = migrated("x")
    assert "isinstance(module, nnx.Linear)" in after and "(nnx.LayerNorm, nnx.Embed)" in after
    assert "linen" not in after
