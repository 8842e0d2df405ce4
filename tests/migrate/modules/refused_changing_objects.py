"""Objects of setup that change when they are used, and that Linen makes for every call: their classes stay Linen."""

REFUSED = {
    "a counter": (
        "NNX186",
        """import itertools


class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.count = itertools.count()
  def __call__(self, x):
    return self.d(x) + next(self.count)
""",
    ),
    "a generator": (
        "NNX186",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.scales = (i * 2.0 for i in range(3))
  def __call__(self, x):
    x = self.d(x)
    for s in self.scales:
      x = x + s
    return x
""",
    ),
    "a generator under a local name": (
        "NNX186",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    scales = (i * 2.0 for i in range(3))
    self.scales = scales
  def __call__(self, x):
    x = self.d(x)
    for s in self.scales:
      x = x + s
    return x
""",
    ),
    "an iterator": (
        "NNX186",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.scales = map(float, range(3))
  def __call__(self, x):
    x = self.d(x)
    for s in self.scales:
      x = x + s
    return x
""",
    ),
    "one of two": (
        "NNX186",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.first, self.scales = 0, iter([1.0, 2.0])
  def __call__(self, x):
    x = self.d(x)
    for s in self.scales:
      x = x + s
    return x
""",
    ),
    "a random state": (
        "NNX186",
        """import numpy as np


class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.random = np.random.RandomState(0)
  def __call__(self, x):
    return self.d(x) + self.random.rand()
""",
    ),
    "a set that grows": (
        "NNX186",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.seen = set()
  def __call__(self, x):
    y = self.d(x) + len(self.seen)
    self.seen.add('a')
    return y
""",
    ),
    "an object that counts": (
        "NNX186",
        """class Counter:
  def __init__(self):
    self.n = 0
  def next(self):
    self.n += 1
    return self.n


class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.counter = Counter()
  def __call__(self, x):
    return self.d(x) * self.counter.next()
""",
    ),
    "an iterator that another module is given": (
        "NNX186",
        """class Sub(nn.Module):
  scales: Any
  @nn.compact
  def __call__(self, x):
    for s in self.scales:
      x = x + s
    return nn.Dense(4)(x)


class M(nn.Module):
  def setup(self):
    self.d = Sub(map(float, range(3)))
  def __call__(self, x):
    return self.d(x)
""",
    ),
    "an attribute that the call sets around Linen": (
        "NNX186",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    if not hasattr(self, 'once'):
      x = x * 2
      object.__setattr__(self, 'once', True)
    return nn.Dense(4)(x)
""",
    ),
    "the module's dict": (
        "NNX186",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    self.__dict__['n'] = self.__dict__.get('n', 0) + 1
    return nn.Dense(4)(x) * self.__dict__['n']
""",
    ),
    "an object that keeps tables of the last length": (
        "NNX186",
        """class Tables:
  def __init__(self, width):
    self.width = width
    self.table = None
  def of(self, x):
    if self.table is None:
      self.table = jnp.ones(x.shape[-1])
    return self.table


class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.tables = Tables(4)
  def __call__(self, x):
    return self.d(x) * self.tables.of(x)
""",
    ),
    "an iterator in an annotated attribute": (
        "NNX186",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.scales: Any = iter([1.0, 2.0])
  def __call__(self, x):
    return self.d(x) + sum(self.scales)
""",
    ),
    "a buffer that the call writes to": (
        "NNX186",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    self.buffer = bytearray(1)
  def __call__(self, x):
    self.buffer[0] = self.buffer[0] + 1
    return self.d(x) * self.buffer[0]
""",
    ),
    "a function that counts in a list around it": (
        "NNX184",
        """class M(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
    n = [0]
    def count(x):
      n[0] += 1
      return x * n[0]
    self.count = count
  def __call__(self, x):
    return self.count(self.d(x))
""",
    ),
}
