"""Lists of lists of setup that are called in another order than they were made in, or not whole: they stay Linen."""

HEAD = """from collections.abc import Sequence
import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  dims: Sequence[int] = (4, 8)
  depths: Sequence[int] = (1, 3)
"""

INDENT = 2  # of the bodies below

REFUSED = {
    "the inner lists from their ends": (
        "NNX110",
        """def setup(self):
  self.stages = [[nn.Dense(d + j) for j in range(2)] for d in self.dims]
def __call__(self, x):
  for stage in self.stages:
    for block in reversed(stage):
      x = block(x)
  return x""",
    ),
    "the outer list from its end": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d + j) for j in range(2)] for d in self.dims]
def __call__(self, x):
  for stage in reversed(self.stages):
    for block in stage:
      x = block(x)
  return x""",
    ),
    "the outer list from its end, by numbers": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
def __call__(self, x):
  for i in range(len(self.stages)):
    for block in self.stages[len(self.stages) - 1 - i]:
      x = block(x)
  return x""",
    ),
    "by a number that a pass changes": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
def __call__(self, x):
  for i in range(len(self.stages)):
    i = len(self.stages) - 1 - i
    for block in self.stages[i]:
      x = block(x)
  return x""",
    ),
    "a part of each inner list": (
        "NNX110",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
def __call__(self, x):
  for stage in self.stages:
    for block in stage[1:]:
      x = block(x)
  return x""",
    ),
    "all but the first of each inner list": (
        "NNX157",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
def __call__(self, x):
  for stage in self.stages:
    for k, l in enumerate(stage):
      if k == 0:
        continue
      x = l(x)
  return x""",
    ),
    "one inner list alone": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
def __call__(self, x):
  for l in self.stages[0]:
    x = l(x)
  return x""",
    ),
    "one list that loops around one another fill": (
        "NNX114",
        """def setup(self):
  layers = []
  for d in self.dims:
    for _ in range(2):
      layers.append(nn.Dense(d))
  self.layers = layers
def __call__(self, x):
  for l in self.layers:
    x = l(x)
  return x""",
    ),
    "an inner list that goes on from pass to pass": (
        "NNX114",
        """def setup(self):
  blocks = []
  stages = []
  for d in self.dims:
    for j in range(2):
      blocks.append(nn.Dense(d + j))
    stages.append(nn.Sequential(blocks))
  self.stages = stages
def __call__(self, x):
  for s in self.stages:
    x = s(x)
  return x""",
    ),
    "every stage given the same": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
def __call__(self, x):
  out = 0
  for stage in self.stages:
    y = x
    for l in stage:
      y = l(y)
    out = out + y.sum()
  return out""",
    ),
    "a layer behind each inner list, of a list of its own": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(n)] for d, n in zip(self.dims, self.depths)]
  self.downs = [nn.Dense(2 * d) for d in self.dims]
def __call__(self, x):
  for s, down in zip(self.stages, self.downs):
    for l in s:
      x = l(x)
    x = down(x)
  return x""",
    ),
    "inner lists that widen their input": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
  self.trans = [nn.Dense(d) for d in self.dims]
def __call__(self, x):
  for stage, t in zip(self.stages, self.trans):
    for l in stage:
      x = jnp.concatenate([x, l(x)], -1)
    x = t(x)
  return x""",
    ),
    "three lists around one another": (
        "NNX114",
        """def setup(self):
  self.stages = [[[nn.Dense(d) for _ in range(2)] for _ in range(2)] for d in self.dims]
def __call__(self, x):
  for stage in self.stages:
    for s in stage:
      for l in s:
        x = l(x)
  return x""",
    ),
    "several times, with a layer in between": (
        "NNX114",
        """def setup(self):
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
  self.last = nn.Dense(4)
def __call__(self, x):
  for _ in range(2):
    for stage in self.stages:
      for l in stage:
        x = l(x)
    x = self.last(x)
  return x""",
    ),
    "the name of a size means something else after it": (
        "NNX114",
        """def setup(self):
  d = 3
  self.stages = [[nn.Dense(d) for _ in range(2)] for d in self.dims]
  self.out = nn.Dense(d)
def __call__(self, x):
  for stage in self.stages:
    for l in stage:
      x = l(x)
  return self.out(x)""",
    ),
}
