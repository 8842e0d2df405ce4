"""Modules that setup puts in containers which are not followed: their classes stay Linen, with the code."""

REFUSED = {
    "lists of a dict by setdefault": (
        "NNX121",
        """class M(nn.Module):
  def setup(self):
    tables = {}
    for order in range(2):
      tables.setdefault(str(order), []).append(nn.Embed(7, 4))
    self.tables = tables
  def __call__(self, x):
    return sum(e(x) for ts in self.tables.values() for e in ts)
""",
    ),
    "modules of a namespace": (
        "NNX121",
        """import types


class M(nn.Module):
  def setup(self):
    self.tables = types.SimpleNamespace(a=nn.Embed(7, 4))
  def __call__(self, x):
    return self.tables.a(x)
""",
    ),
    "modules of a named tuple": (
        "NNX121",
        """import collections

Pair = collections.namedtuple('Pair', 'a b')


class M(nn.Module):
  def setup(self):
    self.tables = Pair(nn.Embed(7, 4), nn.Embed(7, 4))
  def __call__(self, x):
    return self.tables.a(x) + self.tables.b(x)
""",
    ),
    "modules out of a queue": (
        "NNX121",
        """import collections


class M(nn.Module):
  def setup(self):
    queue = collections.deque()
    queue.append(nn.Embed(7, 4))
    self.queue = list(queue)
  def __call__(self, x):
    return self.queue[0](x)
""",
    ),
    "lists of a list by their numbers": (
        "NNX121",
        """class M(nn.Module):
  def setup(self):
    rows = [[] for _ in range(2)]
    for i in range(2):
      rows[i].append(nn.Embed(7, 4))
    self.rows = rows
  def __call__(self, x):
    return sum(r[0](x) for r in self.rows)
""",
    ),
    "a list in a dict that grows afterwards": (
        "NNX121",
        """class M(nn.Module):
  def setup(self):
    a = []
    b = {'x': a}
    a.append(nn.Embed(7, 4))
    self.b = b
  def __call__(self, x):
    return self.b['x'][0](x)
""",
    ),
}
