"""Items of lists made in setup that are given other sizes than their place in the list says."""

HEAD = """from collections.abc import Sequence
import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  widths: Sequence[int] = (4, 5, 7)
  count: int = 2
  flag: bool = True
"""

INDENT = 2  # of the bodies below

REFUSED = {
    "sizes that change in a loop over what only the call knows": (
        "NNX110",
        """@nn.compact
def __call__(self, x):
  for _ in range(x.shape[0]):
    x = jnp.concatenate([x, x], -1)
  return nn.Dense(4)(x)""",
    ),
    "a loop over a list that a field ends": (
        "NNX157",
        """def setup(self):
  self.layers = [nn.Dense(4) for _ in range(self.count)]
def __call__(self, x):
  for i, layer in enumerate(self.layers):
    x = layer(x)
    if i == self.widths[0]:
      break
  return x""",
    ),
    "a loop over a list out of which a field returns": (
        "NNX157",
        """def setup(self):
  self.layers = [nn.Dense(4) for _ in range(self.count)]
def __call__(self, x):
  for i in range(self.count):
    x = self.layers[i](x)
    if self.flag and i > 0:
      return x
  return x""",
    ),
    "items picked by number": (
        "NNX114",
        """def setup(self):
  self.layers = [nn.Dense(4) for _ in range(self.count)]
def __call__(self, x):
  x = self.layers[0](x)
  return self.layers[1](x)""",
    ),
    "items picked by number, each with its width": (
        "NNX114",
        """def setup(self):
  self.layers = [nn.Dense(d) for d in self.widths]
  self.norms = [nn.LayerNorm() for d in self.widths]
def __call__(self, x):
  x = self.norms[0](self.layers[0](x))
  return self.norms[1](self.layers[1](x))""",
    ),
    "counted from the end": (
        "NNX114",
        """def setup(self):
  layers, norms = [], []
  for i, d in enumerate(self.widths):
    layers.append(nn.Dense(d))
    norms.append(nn.LayerNorm())
  self.layers = layers
  self.norms = norms
def __call__(self, x):
  for i, layer in enumerate(self.layers):
    x = self.norms[len(self.widths) - 1 - i](layer(x))
  return x""",
    ),
    "made in another order under the same name": (
        "NNX114",
        """def setup(self):
  self.layers = [nn.Dense(d) for d in self.widths]
  self.norms = [nn.LayerNorm() for d in reversed(self.widths)]
def __call__(self, x):
  for layer, norm in zip(self.layers, self.norms):
    x = norm(layer(x))
  return x""",
    ),
    "filled in some passes of the loop": (
        "NNX110",
        """def setup(self):
  layers, norms = [], []
  for i, d in enumerate(self.widths):
    layers.append(nn.Dense(d))
    if i > 0:
      norms.append(nn.LayerNorm())
  self.layers = layers
  self.norms = norms
def __call__(self, x):
  for i, layer in enumerate(self.layers):
    x = layer(x)
    if i < 2:
      x = self.norms[i](x)
  return x""",
    ),
    "kept in the reverse of the order in which they are made": (
        "NNX110",
        """def setup(self):
  layers = []
  for d in self.widths:
    layers.append(nn.Dense(d))
  self.layers = list(reversed(layers))
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "each made before all others": (
        "NNX110",
        """def setup(self):
  layers = []
  for d in self.widths:
    layers.insert(0, nn.Dense(d))
  self.layers = layers
def __call__(self, x):
  for layer in self.layers:
    x = layer(x)
  return x""",
    ),
    "made in another order and counted": (
        "NNX114",
        """def setup(self):
  layers = []
  for d in self.widths:
    layers.append(nn.Dense(d))
  self.layers = list(reversed(layers))
def __call__(self, x):
  for i, d in enumerate(self.widths):
    x = self.layers[i](x)
  return x""",
    ),
    "arrays written out, of which one may be None": (
        "NNX123",
        """@nn.compact
def __call__(self, x, y=None):
  out = 0
  for v in (x, y):
    if v is not None:
      out = out + nn.Dense(4)(v)
  return out""",
    ),
    "a name for arrays, of which one may be None": (
        "NNX123",
        """@nn.compact
def __call__(self, x, y=None):
  both, out = [x, y], 0
  for v in both:
    if v is not None:
      out = out + nn.Dense(4)(v)
  return out""",
    ),
    "a layer of setup for arrays of several widths": (
        "NNX114",
        """def setup(self):
  self.one = nn.Dense(4)
def __call__(self, x, y):
  out = 0
  for v in (x, y):
    out = out + self.one(v)
  return out""",
    ),
    "a layer of setup for a list that a loop fills": (
        "NNX114",
        """def setup(self):
  self.one = nn.Dense(4)
@nn.compact
def __call__(self, x):
  steps, out = [], 0
  for d in self.widths:
    x = nn.Dense(d)(x)
    steps.append(x)
  for step in steps:
    out = out + self.one(step)
  return out""",
    ),
    "arrays of unlike widths that a loop puts in a list, one of them given to a layer of setup": (
        "NNX114",
        """def setup(self):
  self.layers = [nn.Dense(d) for d in self.widths]
  self.out = nn.Dense(3)
def __call__(self, x):
  outs = []
  for layer in self.layers:
    x = layer(x)
    outs.append(x)
  return self.out(outs[0])""",
    ),
    "the sum of a list that has the input, too, given to a layer of setup": (
        "NNX114",
        """def setup(self):
  self.layers = [nn.Dense(4) for _ in range(self.count)]
  self.out = nn.Dense(3)
def __call__(self, x):
  outs = [x]
  for layer in self.layers:
    x = layer(x)
    outs.append(x)
  return self.out(sum(outs))""",
    ),
    "arrays of one width, of which another takes the place": (
        "NNX110",
        """def setup(self):
  self.layers = [nn.Dense(1) for _ in range(self.count)]
  self.out = nn.Dense(3)
def __call__(self, x):
  outs, y = [], x
  for layer in self.layers:
    y = layer(y)
    outs.append(y)
  outs[0] = x
  return self.out(sum(outs))""",
    ),
    "rows of unlike lengths": (
        "NNX123",
        """@nn.compact
def __call__(self, x, y):
  out = 0
  for row in ((x, 4), (y, 4, 5)):
    out = out + nn.Dense(row[1])(row[0])
  return out""",
    ),
    "a key that stands there twice": (
        "NNX123",
        """@nn.compact
def __call__(self, x, y):
  out = 0
  for k, v in {'a': x, 'a': y}.items():
    out = out + nn.Dense(3, name=k)(v)
  return out""",
    ),
}
