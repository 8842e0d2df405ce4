"""Chain classes that do more than nnx.Sequential does, and what may be an array or a module where it is read."""

_CHAIN = """class Chain(nn.Module):
  layers: Any
  def __call__(self, x):
    for layer in self.layers:
      x = layer(x)
    return x


"""

REFUSED = {
    "a chain that is called with a keyword": (
        "NNX127",
        _CHAIN
        + """class M(nn.Module):
  def setup(self):
    self.net = Chain([nn.Dense(4), nn.relu])
  def __call__(self, x):
    return self.net(x=x)
""",
    ),
    "a chain whose items give each other tuples": (
        "NNX127",
        _CHAIN
        + """class M(nn.Module):
  def setup(self):
    self.net = Chain([nn.Dense(4), lambda x: (x, x), lambda t: t[0] + t[1]])
  def __call__(self, x):
    return self.net(x)
""",
    ),
    "a chain of another class's name for its items": (
        "NNX127",
        _CHAIN.replace("layers", "steps")
        + """class M(nn.Module):
  def setup(self):
    self.net = Chain([nn.Dense(4), nn.relu])
  def __call__(self, x):
    return self.net(x)
""",
    ),
    "a chain that another class derives from": (
        "NNX127",
        _CHAIN
        + """class Longer(Chain):
  def first(self):
    return self.layers[0]


class M(nn.Module):
  def setup(self):
    self.net = Chain([nn.Dense(4), nn.relu])
  def __call__(self, x):
    return self.net(x)
""",
    ),
    "a parameter or a layer, read before it is asked which": (
        "NNX132",
        """class M(nn.Module):
  shared: bool = True
  def setup(self):
    if self.shared:
      self.scale = self.param('scale', nn.initializers.ones, (4,))
    else:
      self.scale = nn.Dense(4)
  def __call__(self, x):
    scale = self.scale
    return x + scale if self.shared else scale(x)
""",
    ),
    "a parameter of another name, or a layer": (
        "NNX132",
        """class M(nn.Module):
  shared: bool = True
  def setup(self):
    if self.shared:
      self.scale = self.param('kept', nn.initializers.ones, (4,))
    else:
      self.scale = nn.Dense(4)
  def __call__(self, x):
    return x + self.scale if self.shared else self.scale(x)
""",
    ),
}
