"""Lists that `setup` fills under a condition, and calls that go through them; `CASES` as in forms_basic."""
from typing import Sequence
import flax.linen as nn

class Residual(nn.Module):
  out: int
  def setup(self):
    self.norm = nn.LayerNorm()
    self.dense = nn.Dense(self.out)
    self.shortcut = nn.Dense(self.out, use_bias=False)
  def __call__(self, x, deterministic=True):
    return self.dense(nn.relu(self.norm(x))) + self.shortcut(x)

class Attend(nn.Module):
  channels: int
  def setup(self):
    self.norm = nn.LayerNorm()
    self.query = nn.Dense(self.channels)
  def __call__(self, x):
    return x + self.query(self.norm(x))

class Stage(nn.Module):
  out: int = 5
  count: int = 2
  resolution: int = 8
  attend_at: Sequence[int] = (8,)
  def setup(self):
    blocks, attentions = [], []
    for _ in range(self.count):
      blocks.append(Residual(self.out))
      if self.resolution in self.attend_at:
        attentions.append(Attend(self.out))
    self.blocks = blocks
    self.attentions = attentions
  def __call__(self, x, deterministic=True):
    for i, block in enumerate(self.blocks):
      x = block(x, deterministic=deterministic)
      if self.attentions:
        x = self.attentions[i](x)
    return x

class Widths(nn.Module):
  widths: Sequence[int] = (4, 5, 7)
  normed: bool = True
  def setup(self):
    layers, norms = [], []
    for width in self.widths:
      layers.append(nn.Dense(width))
      if self.normed:
        norms.append(nn.LayerNorm())
    self.layers = layers
    self.norms = norms
  def __call__(self, x):
    for i, layer in enumerate(self.layers):
      x = layer(x)
      if self.normed:
        x = self.norms[i](x)
    return x

CASES = [
  ('Stage', {}, [(3, 6)], {}),
  ('Stage', {'resolution': 4, 'count': 3}, [(3, 6)], {}),
  ('Widths', {}, [(3, 6)], {}),
  ('Widths', {'normed': False}, [(3, 6)], {}),
]
