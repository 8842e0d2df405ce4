"""Items of setup's lists that may be there or not: where it is not known which one is meant, or what Linen calls it."""

HEAD = """from flax import linen as nn


class M(nn.Module):
  depth: int = 3
  more: bool = True
  other: bool = True
"""

INDENT = 2  # of the bodies below

REFUSED = {
    "picked where nothing says whether an item before it is there": (
        "NNX110",
        """def setup(self):
  layers = [nn.Dense(8)]
  if self.more:
    layers.append(nn.Dense(8))
  layers.append(nn.Dense(4))
  self.layers = layers
def __call__(self, x):
  return self.layers[1](self.layers[0](x))""",
    ),
    "picked under another condition": (
        "NNX110",
        """def setup(self):
  self.layers = [nn.Dense(8)]
  if self.more:
    self.layers += [nn.Dense(8)]
  self.layers += [nn.Dense(4)]
def __call__(self, x):
  x = self.layers[0](x)
  if self.other and x.ndim == 2:
    x = self.layers[1](x)
  return x""",
    ),
    "a name that is another place than the item's": (
        "NNX155",
        """def setup(self):
  last = 1
  layers = [nn.Dense(8, name="0")]
  if self.more:
    layers.append(nn.Dense(8, name="1"))
    last += 2
  layers.append(nn.Dense(4, name=str(last)))
  self.layers = layers
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "names of a loop that are other places": (
        "NNX155",
        """def setup(self):
  layers = [nn.Dense(8, name="0")]
  for i in range(self.depth):
    layers.append(nn.Dense(8, name=str(i + 2)))
  self.layers = layers
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "a name that a condition turns twice": (
        "NNX155",
        """def setup(self):
  last = 1
  layers = [nn.Dense(8, name="0")]
  if self.more:
    layers.append(nn.Dense(8, name="1"))
    last += 1
  if self.other:
    layers.append(nn.Dense(8, name=str(last)))
    last += 1
  layers.append(nn.Dense(4, name=str(last)))
  self.layers = layers
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "appended in a pass of a loop, by whether the model is trained": (
        "NNX157",
        """@nn.compact
def __call__(self, x, train=False):
  layers = []
  for i in range(self.depth):
    layers.append(nn.Dense(i + 2))
    if train:
      layers.append(nn.Dense(7))
  return nn.Sequential(layers)(x)""",
    ),
    "appended under a condition that the pass changes then": (
        "NNX110",
        """@nn.compact
def __call__(self, x):
  layers = []
  for i in range(self.depth):
    layers.append(nn.Dense(i + 2))
    last = i == self.depth - 1
    if not last:
      layers.append(nn.Dense(3 * i + 1))
    last = False
  return nn.Dense(2)(nn.Sequential(layers)(x))""",
    ),
    "appended under a condition whose number is another when the list is called": (
        "NNX110",
        """@nn.compact
def __call__(self, x):
  layers, last = [], self.depth - 1
  for i in range(self.depth):
    layers.append(nn.Dense(i + 2))
    if i < last:
      layers.append(nn.Dense(2 * i + 3))
  last = 0
  return nn.Sequential(layers)(x) + last""",
    ),
    "the last one of a list that grows under conditions": (
        "NNX132",
        """@nn.compact
def __call__(self, x):
  layers = []
  for i in range(self.depth):
    layers.append(nn.Dense(i + 2))
    if i < self.depth - 1:
      layers.append(nn.LayerNorm())
  return layers[-1](nn.Sequential(layers[:-1])(x))""",
    ),
    "widths that conditions of setup decide from one pass to the next": (
        "NNX114",
        """def setup(self):
  layers = []
  for i in range(self.depth):
    layers.append(nn.Dense(i + 2))
    if i % 2 == 0:
      layers.append(nn.Dense(2 * i + 3))
  self.net = nn.Sequential(layers)
def __call__(self, x):
  return self.net(x)""",
    ),
}
