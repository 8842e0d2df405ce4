"""Classes that stay Linen because a name would mean something else where the rewritten loop, or helper, reads it."""

REFUSED = {
    "a number that a loop without layers left in a name": (
        "NNX113",
        """class M(nn.Module):
  sizes: Any = (3, 5)
  @nn.compact
  def __call__(self, x):
    n = 4
    x = nn.Dense(n)(x)
    for n in self.sizes:
      x = x + n
    return nn.Dense(n)(x)
""",
    ),
    "the name of a loop that another loop within it, without layers, binds again": (
        "NNX113",
        """class M(nn.Module):
  sizes: Any = (3, 5)
  @nn.compact
  def __call__(self, x):
    for n in (4, 6):
      for n in self.sizes:
        x = x + 1
      x = nn.Dense(n)(x)
    return x
""",
    ),
    "a comprehension's name that setup has for another number, as an argument": (
        "NNX114",
        """class M(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    f = 3
    self.net = nn.Sequential([nn.Dense(f) for f in self.widths])
    self.out = nn.Dense(f)
  def __call__(self, x):
    return self.out(self.net(x))
""",
    ),
    "a comprehension's name that setup has for another number": (
        "NNX114",
        """class M(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    f = 3
    self.net = [nn.Dense(f) for f in self.widths]
    self.out = nn.Dense(f)
  def __call__(self, x):
    for l in self.net:
      x = l(x)
    return self.out(x)
""",
    ),
    "a comprehension of pairs whose name setup has for another number": (
        "NNX114",
        """class M(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    w = 2
    self.ls = [(nn.Dense(w), nn.LayerNorm()) for w in self.widths]
    self.out = nn.Dense(w)
  def __call__(self, x):
    for l, n in self.ls:
      x = n(l(x))
    return self.out(x)
""",
    ),
    "a comprehension's name that a lambda of setup reads": (
        "NNX114",
        """class M(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    f = 2
    scale = lambda x: x * f
    self.ls = [nn.Dense(f) for f in self.widths]
    self.scale = scale
  def __call__(self, x):
    for l in self.ls:
      x = l(x)
    return self.scale(x)
""",
    ),
    "a comprehension's counter that setup assigns later": (
        "NNX114",
        """class M(nn.Module):
  depth: int = 2
  def setup(self):
    self.ls = [nn.Dense(4 * (i + 1)) for i in range(self.depth)]
    i = self.depth
    self.o = nn.Dense(i)
  def __call__(self, x):
    for i, l in enumerate(self.ls):
      x = l(x) * (i + 1)
    return self.o(x)
""",
    ),
    "a loop without a name that would take one of setup's numbers": (
        "NNX114",
        """class M(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    f = 3
    self.ls = [nn.Dense(g) for g in self.widths]
    ns = []
    g = 5
    for _ in self.widths:
      ns.append(nn.LayerNorm())
    self.ns = ns
    self.out = nn.Dense(g + f)
  def __call__(self, x):
    for l, n in zip(self.ls, self.ns):
      x = n(l(x))
    return self.out(x)
""",
    ),
    "a loop without a name that would take setup's number for its counter": (
        "NNX157",
        """class M(nn.Module):
  n: int = 3
  def setup(self):
    i = 7
    self.ls = [nn.Dense(4) for _ in range(self.n)]
    ns = []
    for _ in range(self.n):
      ns.append(nn.LayerNorm())
    self.ns = ns
    self.out = nn.Dense(i)
  def __call__(self, x):
    for i, l in enumerate(self.ls):
      x = l(x)
      if i < self.n - 1:
        x = self.ns[i](x)
    return self.out(x)
""",
    ),
    "a sequence that is another one for the second list": (
        "NNX114",
        """class M(nn.Module):
  a: Any = (4, 6)
  b: Any = (5, 7)
  def setup(self):
    ws = self.a
    self.l1 = [nn.Dense(f) for f in ws]
    ws = self.b
    self.l2 = [nn.Dense(f) for f in ws]
  def __call__(self, x):
    for p, q in zip(self.l1, self.l2):
      x = q(p(x))
    return x
""",
    ),
    "a sequence that is another one for the norms": (
        "NNX114",
        """class M(nn.Module):
  a: Any = (4, 6)
  b: Any = (5, 7)
  def setup(self):
    ws = self.a
    self.l1 = [nn.Dense(f) for f in ws]
    ws = self.b
    self.l2 = [nn.LayerNorm() for _ in ws]
  def __call__(self, x):
    for p, q in zip(self.l1, self.l2):
      x = q(p(x))
    return x
""",
    ),
    "items of a turned list under a condition": (
        "NNX157",
        """class M(nn.Module):
  n: int = 3
  def setup(self):
    self.ls = [nn.Dense(4) for _ in range(self.n)]
  def __call__(self, x):
    x = nn.relu(x)
    for i, l in enumerate(reversed(self.ls)):
      if i > 0:
        x = l(x)
    return x
""",
    ),
    "items of a part of a list under a condition": (
        "NNX157",
        """class M(nn.Module):
  n: int = 3
  def setup(self):
    self.ls = [nn.Dense(5) for _ in range(self.n)]
  def __call__(self, x):
    for i, l in enumerate(self.ls[1:]):
      if i > 0:
        x = l(x)
    return x
""",
    ),
    "items of two lists, one of them turned, under a condition": (
        "NNX157",
        """class M(nn.Module):
  n: int = 3
  def setup(self):
    self.ls = [nn.Dense(5) for _ in range(self.n)]
    self.ns = [nn.LayerNorm() for _ in range(self.n)]
  def __call__(self, x):
    for i, (l, m) in enumerate(zip(self.ls, self.ns[::-1])):
      x = l(x)
      if i < self.n - 1:
        x = m(x)
    return x
""",
    ),
    "a helper of setup that needs a size before the list that says it": (
        "NNX135",
        """class M(nn.Module):
  widths: Any = (4, 6)
  def setup(self):
    self.b = self.make()
    self.a = [nn.Dense(f) for f in self.widths]
  def make(self):
    return nn.Dense(3)
  def __call__(self, x):
    for l in self.a:
      x = l(x)
    return self.b(x)
""",
    ),
    "a partial that holds a flag and a number which changes before the call": (
        "NNX138",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    d = 4
    block = functools.partial(Block, dim=d, train=train)
    d = 8
    return block()(x)


class Block(nn.Module):
  dim: int
  train: bool = False
  @nn.compact
  def __call__(self, x):
    y = nn.BatchNorm(use_running_average=not self.train)(x)
    return nn.Dense(self.dim)(y)
""",
    ),
    "a partial that holds a flag and a number which changes from pass to pass": (
        "NNX138",
        """class M(nn.Module):
  w: int = 4
  @nn.compact
  def __call__(self, x, train=False):
    d = self.w
    block = functools.partial(Block, dim=d, train=train)
    for i in range(2):
      x = block()(x)
      d = d * 2
    return x


class Block(nn.Module):
  dim: int
  train: bool = False
  @nn.compact
  def __call__(self, x):
    y = nn.BatchNorm(use_running_average=not self.train)(x)
    return nn.Dense(self.dim)(y)
""",
    ),
    "a list that is turned under another name": (
        "NNX110",
        """class M(nn.Module):
  ws: Any = (5, 5, 5)
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
  def __call__(self, x):
    ls = self.ls[::-1]
    for l in ls:
      x = l(x)
    return x
""",
    ),
    "a part of a list under another name": (
        "NNX157",
        """class M(nn.Module):
  ws: Any = (5, 6, 4)
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
  def __call__(self, x):
    ls = self.ls[1:]
    for l in ls:
      x = l(x)
    return x
""",
    ),
    "one of two lists under another name": (
        "NNX110",
        """class M(nn.Module):
  ws: Any = (5, 6)
  which: bool = True
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
    self.ms = [nn.Dense(w + 1) for w in self.ws]
  def __call__(self, x):
    ls = self.ls if self.which else self.ms
    for l in ls:
      x = l(x)
    return x
""",
    ),
    "a copy of a list that is emptied": (
        "NNX110",
        """class M(nn.Module):
  ws: Any = (5, 6)
  def setup(self):
    self.ls = [nn.Dense(w) for w in self.ws]
    self.o = nn.Dense(2)
  def __call__(self, x):
    ls = list(self.ls)
    last = ls.pop()
    for l in ls:
      x = l(x)
    return self.o(last(x))
""",
    ),
    "a flattened list whose name setup has for another number": (
        "NNX114",
        """class M(nn.Module):
  hidden: Any = (6, 5)
  def setup(self):
    h = 3
    self.net = nn.Sequential([l for h in self.hidden for l in (nn.Dense(h), nn.relu)])
    self.o = nn.Dense(h)
  def __call__(self, x):
    return self.o(self.net(x))
""",
    ),
    "a name that every pass but one gives": (
        "NNX154",
        """class M(nn.Module):
  dims: Any = (4, 4, 4)
  @nn.compact
  def __call__(self, x):
    for i, d in enumerate(self.dims):
      if i == 0:
        x = nn.relu(x)
      else:
        x = nn.Dense(d, name='out')(x)
    return x
""",
    ),
    "a name of one pass of a loop within another": (
        "NNX154",
        """class M(nn.Module):
  dims: Any = (4, 4, 4)
  @nn.compact
  def __call__(self, x):
    for i, d in enumerate(self.dims):
      for _ in range(2):
        if i == 0:
          x = nn.Dense(d, name='out')(x)
    return x
""",
    ),
    "the last module that a loop made, which called none of them": (
        "NNX157",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    for i in range(3):
      layer = nn.Embed(5, 4, name=f'e{i}')
    return layer(x)
""",
    ),
    "the last module of a loop, in functions that the loop made": (
        "NNX157",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    fs = []
    for i in range(3):
      layer = nn.Dense(4)
      fs.append(lambda y: nn.relu(layer(y)))
    for f in fs:
      x = f(x)
    return x
""",
    ),
    "the last item of a list that a loop only goes through": (
        "NNX157",
        """class M(nn.Module):
  def setup(self):
    self.layers = [nn.Dense(4) for _ in range(3)]
  def __call__(self, x):
    for layer in self.layers:
      last = layer
    return last(x)
""",
    ),
    "a filter that the call decides": (
        "NNX157",
        """class M(nn.Module):
  dims: Any = (4, 5, 6)
  @nn.compact
  def __call__(self, x, big=False):
    return [nn.Dense(d)(x) for d in self.dims if not big or d > 4]
""",
    ),
    "a name that a layer's arguments give to a number": (
        "NNX134",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense((width := 4))(x)
    return x * width
""",
    ),
}
