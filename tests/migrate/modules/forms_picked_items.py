"""Items of a list that a loop picks by a number that it computes; and numbers that a submodule's setup keeps."""

from flax import linen as nn


class Block(nn.Module):
  width: int = 8
  def setup(self):
    self.a = nn.Dense(16)
    self.b = nn.Dense(self.width)
  def __call__(self, x):
    return x + self.b(nn.relu(self.a(x)))


class Groups(nn.Module):
  width: int = 8
  times: int = 4
  groups: int = 2
  def setup(self):
    self.layers = [Block(self.width) for i in range(self.groups)]
  def __call__(self, x):
    for i in range(self.times):
      x = self.layers[int(i / (self.times / self.groups))](x)
    return x


class Cyclic(nn.Module):
  width: int = 8
  times: int = 4
  groups: int = 2
  def setup(self):
    self.layers = [Block(self.width) for i in range(self.groups)]
    self.out = nn.Dense(3)
  def __call__(self, x):
    for i in range(self.times):
      block = self.layers[i % self.groups]
      x = block(x)
    return self.out(x)


class CyclicCompact(nn.Module):
  width: int = 8
  times: int = 4
  groups: int = 2
  @nn.compact
  def __call__(self, x):
    layers = [Block(self.width) for i in range(self.groups)]
    for i in range(self.times):
      x = layers[i % self.groups](x)
    return nn.Dense(3)(x)


class MadeInTheLoop(nn.Module):
  """Not picked: made where it is called, so that each has its own width."""

  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    for _ in range(2):
      x = nn.Dense(6)(x * 2)
    for size in (3, 5):
      for _ in range(2):
        x = nn.relu(nn.Dense(size)(x))
    return x


class Patches(nn.Module):
  size: int
  patch: int

  def setup(self):
    shape = (self.size // self.patch, self.size // self.patch)
    self.count = shape[0] * shape[1]
    self.grid = shape
    self.projection = nn.Conv(4, (self.patch, self.patch), (self.patch, self.patch), padding="VALID")

  def __call__(self, x):
    y = self.projection(x)
    return y.reshape(y.shape[0], -1, y.shape[-1])


class Embeddings(nn.Module):
  size: int
  patch: int

  def setup(self):
    self.patches = Patches(self.size, self.patch)
    self.table = self.param("table", nn.initializers.normal(), (1, self.patches.count, 4))

  def __call__(self, x):
    return self.patches(x) + self.table


class Bias(nn.Module):
  window: tuple

  def setup(self):
    n = (2 * self.window[0] - 1) * (2 * self.window[1] - 1)
    self.bias = self.param("bias", nn.initializers.normal(), (n, 4))

  def __call__(self, x):
    return x + self.bias.sum(0)


class Windows(nn.Module):
  size: int = 8
  patch: int = 2

  def setup(self):
    self.embeddings = Embeddings(self.size, self.patch)
    self.bias = Bias(window=self.embeddings.patches.grid)

  def __call__(self, x):
    return self.bias(self.embeddings(x))


CASES = [
  ("Groups", {}, [(2, 8)], {}),
  ("Groups", {"groups": 4}, [(2, 8)], {}),
  ("Cyclic", {}, [(2, 8)], {}),
  ("Cyclic", {"groups": 3, "times": 7}, [(2, 8)], {}),
  ("CyclicCompact", {}, [(2, 8)], {}),
  ("MadeInTheLoop", {}, [(2, 3)], {}),
  ("Windows", {}, [(2, 8, 8, 3)], {}),
]
