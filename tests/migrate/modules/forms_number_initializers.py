"""Parameters and variables that start as Python numbers, which NNX cannot read by indexing."""

from flax import linen as nn


class Scalar(nn.Module):
  init_value: float

  def setup(self):
    self.value = self.param('value', lambda x: self.init_value)

  def __call__(self):
    return self.value


class Numbers(nn.Module):
  scale: float = 2.0
  n: int = 3

  @nn.compact
  def __call__(self, x):
    def one(key):
      return 1.5
    x = x * self.param('a', lambda _: 0.5) + self.param('b', one)
    return x * self.param('c', lambda _: self.scale * 2) + self.param('d', lambda _: -self.n / 4)


class Counts(nn.Module):
  @nn.compact
  def __call__(self, x):
    count = self.variable('stats', 'count', lambda: 0)
    mean = self.variable('stats', 'mean', lambda: 0.5)
    seen = self.variable('stats', 'seen', lambda: False)
    count.value += 1
    mean.value = (mean.value + x.mean()) / 2
    return x * mean.value + count.value + seen.value


CASES = [
    ('Scalar', {'init_value': 0.5}, [], {}),
    ('Numbers', {}, [(2, 3)], {}),
    ('Counts', {}, [(2, 3)], {}),
]
