"""Functions whose text does not mean the same in place of their calls: the classes that call them stay Linen."""

REFUSED = {
    "functions in the text keep what a loop gives": (
        "NNX135",
        """def scaled(d, k):
  inner = nn.Dense(d)
  return nn.Sequential([inner, lambda x: x * k])


class M(nn.Module):
  n: int = 3
  def setup(self):
    ls = []
    for i in range(self.n):
      ls.append(scaled(4, i))
    self.ls = ls
  def __call__(self, x):
    for l in self.ls:
      x = l(x)
    return x
""",
    ),
    "a maker that returns out of a loop": (
        "NNX122",
        """def first(sizes):
  for s in sizes:
    if s > 2:
      return nn.Sequential([nn.Dense(s), jnp.tanh])
  return nn.Dense(1)


class M(nn.Module):
  sizes: Any = (1, 3)
  def setup(self):
    self.a = first(self.sizes)
    self.b = first(self.sizes)
  def __call__(self, x):
    return self.b(self.a(x))
""",
    ),
    "a maker that calls itself": (
        "NNX135",
        """def deep(n):
  if n == 0:
    return [nn.Dense(3)]
  return [nn.Dense(4), *deep(n - 1)]


class M(nn.Module):
  n: int = 2
  def setup(self):
    self.a = nn.Sequential(deep(self.n))
  def __call__(self, x):
    return self.a(x)
""",
    ),
    "a list that is a default": (
        "NNX135",
        """def chain(d, more=[]):
  layers = [nn.Dense(d), jnp.tanh]
  layers += more
  return nn.Sequential(layers)


class M(nn.Module):
  n: int = 2
  def setup(self):
    self.a = chain(3)
    self.b = chain(4)
  def __call__(self, x):
    return self.b(self.a(x))
""",
    ),
    "a decorated maker": (
        "NNX135",
        """@functools.lru_cache
def chain(d):
  layers = [nn.Dense(d), jnp.tanh]
  return nn.Sequential(layers)


class M(nn.Module):
  n: int = 2
  def setup(self):
    self.a = chain(3)
    self.b = chain(3)
  def __call__(self, x):
    return self.b(self.a(x))
""",
    ),
    "a method that a derived class has in another way": (
        "NNX135",
        """class M(nn.Module):
  dim: int = 4
  n: int = 2
  def setup(self):
    self.layers = self.fill()
  def fill(self):
    layers = []
    for _ in range(self.n):
      layers.append(nn.Dense(self.dim))
    return layers
  def __call__(self, x):
    for l in self.layers:
      x = l(x)
    return x


class N(M):
  def fill(self):
    return [nn.Dense(3)]
""",
    ),
    "a method that something else calls, too": (
        "NNX170",
        """class M(nn.Module):
  dim: int = 4
  def setup(self):
    self.a = self.make()
    self.b = self.make()
  @nn.nowrap
  def make(self):
    return nn.Dense(self.dim)
  def __call__(self, x):
    return self.b(self.a(x))


def more(model):
  return model.make()
""",
    ),
    "a default that was computed before the caller changed it": (
        "NNX113",
        """class M(nn.Module):
  def setup(self):
    width = 3
    def chain(d, w=width):
      first = nn.Dense(d)
      return nn.Sequential([first, nn.Dense(w)])
    width = 5
    self.a = chain(1)
    self.b = chain(width)
  def __call__(self, x):
    return self.b(self.a(x))
""",
    ),
    "a function that lifts a class as often as a field says": (
        "NNX138",
        """def vmapped(module, dims=1):
  for _ in range(dims):
    module = nn.vmap(module, variable_axes={"params": None}, split_rngs={"params": False}, in_axes=0)
  return module


class M(nn.Module):
  dims: int = 2
  @nn.compact
  def __call__(self, x):
    return vmapped(nn.Dense, self.dims)(3)(x)
""",
    ),
    "a mapping that may hold an argument of the function": (
        "NNX135",
        """def with_options(d, act=jnp.tanh, **options):
  first = nn.Dense(d, **options)
  return nn.Sequential([first, act])


class M(nn.Module):
  options: dict
  def setup(self):
    self.a = with_options(4, **self.options)
    self.b = with_options(3, **self.options)
  def __call__(self, x):
    return self.b(self.a(x))
""",
    ),
    "a layer made before those of a loop and called behind them": (
        "NNX158",
        """class M(nn.Module):
  n: int = 2
  def block(self, x):
    for i in range(self.n):
      x = nn.relu(nn.Dense(4)(x))
    return x
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(self.block(x)) + nn.Dense(4)(self.block(x))
""",
    ),
}
