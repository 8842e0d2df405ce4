"""Lists of lists that `setup` makes, whose input sizes follow from one item to the next; `CASES` as in forms_basic."""
from typing import Sequence
import flax.linen as nn

class Block(nn.Module):
  dim: int
  scale: int = 1
  @nn.compact
  def __call__(self, x):
    y = nn.relu(nn.LayerNorm()(nn.Dense(self.dim)(x)))
    if x.shape[-1] != self.dim:
      x = nn.Dense(self.dim)(x)
    return x + y * self.scale

class Base(nn.Module):
  dims: Sequence[int] = (4, 8)
  depths: Sequence[int] = (1, 3)

class Stages(Base):
  def setup(self):
    self.stages = [[Block(d) for _ in range(n)] for d, n in zip(self.dims, self.depths)]
    self.norm = nn.LayerNorm()
    self.head = nn.Dense(3)
  def __call__(self, x):
    for stage in self.stages:
      for block in stage:
        x = block(x)
    return self.head(self.norm(x))

class Sequences(Base):
  def setup(self):
    self.stem = nn.Dense(5)
    self.stages = [nn.Sequential([Block(d, scale=2 if j == 0 else 1) for j in range(n)]) for d, n in zip(self.dims, self.depths)]
  def __call__(self, x):
    x = self.stem(x)
    for stage in self.stages:
      x = stage(x)
    return x

class PickedStage(Base):
  def setup(self):
    self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
  def __call__(self, x):
    for i in range(len(self.stages)):
      for block in self.stages[i]:
        x = block(x)
    return x

class Summed(Base):
  def setup(self):
    self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
  def __call__(self, x):
    for stage in self.stages:
      x = sum([l(x) for l in stage])
    return x

class Pairs(Base):
  def setup(self):
    self.stages = [[(nn.Dense(d), nn.LayerNorm()) for _ in range(2)] for d in self.dims]
  def __call__(self, x):
    for stage in self.stages:
      for l, n in stage:
        x = n(l(x))
    return x

class Counted(Base):
  def setup(self):
    self.stages = [[nn.Dense(d + j) for j in range(2)] for i, d in enumerate(self.dims)]
  def __call__(self, x):
    for i, s in enumerate(self.stages):
      for j, b in enumerate(s):
        x = b(x)
        if j > 0:
          x = nn.relu(x)
    return x

class Appended(Base):
  def setup(self):
    stages, norms = [], []
    for d, n in zip(self.dims, self.depths):
      blocks = []
      for j in range(n):
        blocks.append(nn.Dense(d + j))
      stages.append(blocks)
      norms.append(nn.LayerNorm())
    self.stages = stages
    self.norms = norms
  def __call__(self, x):
    for s, n in zip(self.stages, self.norms):
      for l in s:
        x = l(x)
      x = n(x)
    return x

class PickedTwice(Base):
  def setup(self):
    self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
  def __call__(self, x):
    for i in range(len(self.stages)):
      for j in range(len(self.stages[i])):
        x = self.stages[i][j](x)
    return x

class Activated(Base):
  def setup(self):
    self.stages = [[nn.Dense(d) for _ in range(n)] for d, n in zip(self.dims, self.depths)]
  def __call__(self, x):
    for i, stage in enumerate(self.stages):
      for j, block in enumerate(stage):
        x = block(x)
      if i < len(self.stages) - 1:
        x = nn.relu(x)
    return x

class AppendedSequences(nn.Module):
  dims: Sequence[int] = (4, 8)
  def setup(self):
    stages = []
    for d in self.dims:
      stages.append(nn.Sequential([nn.Dense(d) for _ in range(2)]))
    self.stages = stages
  def __call__(self, x):
    for s in self.stages:
      x = s(x)
    return x

class PlainSequences(nn.Module):
  dims: Sequence[int] = (4, 8)
  def setup(self):
    self.stages = [nn.Sequential([nn.Dense(d) for _ in range(2)]) for d in self.dims]
  def __call__(self, x):
    for s in self.stages:
      x = s(x)
    return x

class AppendedLists(nn.Module):
  dims: Sequence[int] = (4, 8)
  def setup(self):
    stages = []
    for d in self.dims:
      stages.append([nn.Dense(d) for _ in range(2)])
    self.stages = stages
  def __call__(self, x):
    for s in self.stages:
      for l in s:
        x = l(x)
    return x

class FilledSequences(nn.Module):
  dims: Sequence[int] = (4, 8)
  def setup(self):
    stages = []
    for d in self.dims:
      ls = []
      for _ in range(2):
        ls.append(nn.Dense(d))
      stages.append(nn.Sequential(ls))
    self.stages = stages
  def __call__(self, x):
    for s in self.stages:
      x = s(x)
    return x

class OneWidth(nn.Module):
  dims: Sequence[int] = (4, 8)
  def setup(self):
    self.stages = [[nn.Dense(3) for _ in range(2)] for d in self.dims]
  def __call__(self, x):
    for s in self.stages:
      for l in s:
        x = l(x)
    return x

class FilledLists(nn.Module):
  dims: Sequence[int] = (4, 8)
  def setup(self):
    stages = []
    for d in self.dims:
      ls = []
      for _ in range(2):
        ls.append(nn.Dense(3))
      stages.append(ls)
    self.stages = stages
  def __call__(self, x):
    for s in self.stages:
      for l in s:
        x = l(x)
    return x

CASES = [
  ('Stages', {}, [(2, 3)], {}),
  ('Sequences', {}, [(2, 3)], {}),
  ('PickedStage', {}, [(2, 3)], {}),
  ('Summed', {}, [(2, 3)], {}),
  ('Pairs', {}, [(2, 3)], {}),
  ('Counted', {}, [(2, 3)], {}),
  ('Appended', {}, [(2, 3)], {}),
  ('PickedTwice', {}, [(2, 3)], {}),
  ('Activated', {}, [(2, 3)], {}),
  ('AppendedSequences', {}, [(2, 3)], {}),
  ('PlainSequences', {}, [(2, 3)], {}),
  ('AppendedLists', {}, [(2, 3)], {}),
  ('FilledSequences', {}, [(2, 3)], {}),
  ('OneWidth', {}, [(2, 3)], {}),
  ('FilledLists', {}, [(2, 3)], {}),
  ('Stages', {'dims': (5,), 'depths': (2,)}, [(2, 3)], {}),
]
