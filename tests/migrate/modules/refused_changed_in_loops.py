"""Classes that stay Linen as a pass of a loop leaves to the next what the constructor does not know; and bases by name."""

CLASS = """class M(nn.Module):
  sizes: Any = (3, 4, 5)
  @nn.compact
  def __call__(self, x):
"""

REFUSED = {
    "a layer that the first pass makes": (
        "NNX122",
        CLASS
        + """    layer = None
    for i in range(3):
      layer = layer or nn.Dense(4)
      x = layer(x)
    return x
""",
    ),
    "a layer that a pass makes where there is none": (
        "NNX122",
        CLASS
        + """    layer = None
    for i in range(3):
      if layer is None:
        layer = nn.Dense(4)
      x = layer(x)
    return x
""",
    ),
    "a layer that a pass makes in an expression": (
        "NNX122",
        CLASS
        + """    layer = None
    for i in range(3):
      x = (layer := nn.Dense(4) if not layer else layer)(x)
    return x
""",
    ),
    "a list that is filled up to a length": (
        "NNX122",
        CLASS
        + """    layers = []
    for i in range(4):
      if len(layers) < 2:
        layers.append(nn.Dense(4))
      x = layers[-1](x)
    return x
""",
    ),
    "a layer for the passes after the first": (
        "NNX157",
        CLASS
        + """    skips = []
    for i in range(3):
      x = nn.Dense(4)(x)
      if skips:
        x = x + nn.Dense(4)(skips[-1])
      skips.append(x)
    return x
""",
    ),
    "layers of a class of their own for the passes after the first": (
        "NNX157",
        CLASS
        + """    kept = {}
    for i in range(3):
      x = nn.Dense(4)(x)
      if kept:
        x = nn.LayerNorm()(x)
      kept[f'l{i}'] = x
    return x
""",
    ),
    "a layer where a pass before left an array": (
        "NNX157",
        CLASS
        + """    last = None
    for i in range(3):
      x = nn.Dense(4)(x)
      if last is not None:
        x = nn.LayerNorm()(x)
      last = x
    return x
""",
    ),
    "a shape that a loop over axes of the call's own fills": (
        "NNX111",
        """from otherlib import axes_of


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    shape = []
    for axis in axes_of(x):
      shape.append(x.shape[axis])
    return x * self.param('scale', nn.initializers.ones, shape)
""",
    ),
    "an iterator of which an item is taken": (
        "NNX123",
        CLASS
        + """    items = iter(self.sizes)
    first = next(items)
    for n in items:
      x = nn.Dense(n)(x)
    return x * first
""",
    ),
    "a size that an iterator gives": (
        "NNX113",
        CLASS
        + """    items = iter(self.sizes)
    return nn.Dense(next(items))(nn.Dense(next(items))(x))
""",
    ),
    "a name that a comprehension changes": (
        "NNX113",
        CLASS
        + """    width = 2
    widths = [width := width + 1 for _ in range(2)]
    return nn.Dense(width)(x)
""",
    ),
    "a default that every call changes": (
        "NNX113",
        """def part(x, sizes=[2, 3]):
  sizes[0] += 1
  return nn.Dense(sizes[0])(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return part(part(x))
""",
    ),
    "a shape that a function changes": (
        "NNX110",
        """class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    shape = list(x.shape)
    def double(sizes):
      sizes[-1] *= 2
    double(shape)
    return nn.Dense(3)(jnp.zeros(shape)) + x.sum()
""",
    ),
    "the setup of a class by its name": (
        "NNX161",
        """class Base(nn.Module):
  width: int = 4
  def setup(self):
    self.dense = nn.Dense(self.width)
  def __call__(self, x):
    return self.dense(x)


class M(Base):
  def setup(self):
    Base.setup(self)
    self.head = nn.Dense(7)
  def __call__(self, x):
    return self.head(self.dense(x))
""",
    ),
    "a module that a class method makes": (
        "NNX135",
        """class Part(nn.Module):
  width: int = 4
  @classmethod
  def of(cls, width):
    return cls(width=width)
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Part.of(2)(x)
""",
    ),
    "a module that an inherited class method makes": (
        "NNX135",
        """class Part(nn.Module):
  width: int = 4
  @classmethod
  def of(cls, width):
    return cls(width=width)
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class Wide(Part):
  width: int = 8


class M(nn.Module):
  def setup(self):
    self.part = Wide.of(2)
  def __call__(self, x):
    return self.part(x)
""",
    ),
}
