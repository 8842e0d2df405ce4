"""Widths that only a part of a part knows, behind records, transposes and pools."""
from functools import partial
from typing import Any, Optional, Sequence
import flax.linen as nn
import jax.numpy as jnp

class Output:
  def __init__(self, last, pooled=None):
    self.last, self.pooled = last, pooled

class Stage(nn.Module):
  wide: int
  def setup(self):
    self.conv = nn.Conv(self.wide, (1, 1))
  def __call__(self, x):
    return nn.relu(self.conv(x))

class Stages(nn.Module):
  widths: Sequence[int] = (4, 6)
  def setup(self):
    stages = [Stage(3, name="0")]
    for i, (before, wide) in enumerate(zip(self.widths, self.widths[1:])):
      stages.append(Stage(wide, name=str(i + 1)))
    self.stages = stages
  def __call__(self, x, keep: bool = False):
    kept = () if keep else None
    for stage in self.stages:
      if keep:
        kept = kept + (x.transpose(0, 3, 1, 2),)
      x = stage(x)
    return x, kept

class Encoder(nn.Module):
  widths: Sequence[int] = (4, 6)
  def setup(self):
    self.stages = Stages(self.widths)
  def __call__(self, x, keep: bool = False, as_record: bool = False):
    x, kept = self.stages(x, keep)
    if not as_record:
      return tuple(v for v in [x, kept] if v is not None)
    return {"last": x, "kept": kept}

class Backbone(nn.Module):
  widths: Sequence[int] = (4, 6)
  def setup(self):
    self.encoder = Encoder(self.widths)
    self.pool = partial(nn.avg_pool, padding=((0, 0), (0, 0)))
  def __call__(self, x, keep: bool = False):
    outputs = self.encoder(x, keep)
    last = outputs[0]
    size = (last.shape[1], last.shape[2])
    pooled = self.pool(last, window_shape=size, strides=size).transpose(0, 3, 1, 2)
    return (last.transpose(0, 3, 1, 2), pooled) + outputs[1:]

class Classifier(nn.Module):
  widths: Sequence[int] = (4, 6)
  labels: int = 5
  def setup(self):
    self.backbone = Backbone(self.widths)
    self.head = nn.Dense(self.labels)
  def __call__(self, x, keep: bool = False):
    return self.head(self.backbone(x, keep)[1][:, :, 0, 0])

CASES = [
  ("Stages", {}, [(2, 4, 4, 3)], {}),
  ("Backbone", {}, [(2, 4, 4, 3)], {}),
  ("Classifier", {}, [(2, 4, 4, 3)], {}),
  ("Classifier", {"widths": (4, 5, 7)}, [(2, 4, 4, 3)], {}),
]
NUMBERED = ("Stages", "Backbone", "Classifier")
