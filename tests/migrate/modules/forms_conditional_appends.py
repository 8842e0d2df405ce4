"""Lists that loops fill, some of whose items a pass appends under a condition; `CASES` as in forms_basic."""
from typing import Callable, Sequence
import flax.linen as nn

class Activated(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        layers.append(nn.relu)
    return nn.Sequential(layers)(x)

class Normed(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        layers.append(nn.LayerNorm())
        layers.append(nn.relu)
    return nn.Sequential(layers)(x)

class ActivatedOfSetup(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  def setup(self):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        layers.append(nn.relu)
    self.net = nn.Sequential(layers)
  def __call__(self, x):
    return self.net(x)

class NormedOfSetup(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  def setup(self):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        layers.append(nn.LayerNorm())
        layers.append(nn.relu)
    self.net = nn.Sequential(layers)
  def __call__(self, x):
    return self.net(x)

class GivenActivation(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  final: bool = False
  act: Callable = nn.relu
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if self.final or i + 1 < len(self.sizes):
        layers.append(self.act)
    return nn.Sequential(layers)(x)

class Looped(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        layers.append(nn.relu)
    for l in layers:
      x = l(x)
    return x

class Before(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      if i > 0:
        layers.append(nn.relu)
      layers.append(nn.Dense(s))
    return nn.Sequential(layers)(x)

class ByField(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  norm: bool = True
  @nn.compact
  def __call__(self, x):
    layers = []
    for s in self.sizes:
      layers.append(nn.Dense(s))
      if self.norm:
        layers.append(nn.LayerNorm())
      layers.append(nn.relu)
    layers.append(nn.Dense(2))
    return nn.Sequential(layers)(x)

class ByFieldOfSetup(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  norm: bool = True
  def setup(self):
    layers = []
    for s in self.sizes:
      layers.append(nn.Dense(s))
      if self.norm:
        layers.append(nn.LayerNorm())
      layers.append(nn.relu)
    layers.append(nn.Dense(2))
    self.net = nn.Sequential(layers)
  def __call__(self, x):
    return self.net(x)

class Joined(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i in range(len(self.sizes)):
      layers += [nn.Dense(self.sizes[i])]
      if i < len(self.sizes) - 1:
        layers += [nn.LayerNorm(), nn.relu]
    return nn.Sequential(layers)(x)

class Otherwise(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        layers.append(nn.relu)
      else:
        layers.append(nn.tanh)
    return nn.Sequential(layers)(x)

class Either(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      layers.append(nn.relu if i < len(self.sizes) - 1 else nn.tanh)
    return nn.Sequential(layers)(x)

class Widening(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i % 2 == 0:
        layers.append(nn.Dense(2 * s))
    return nn.Sequential(layers)(x)

class Continued(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i == len(self.sizes) - 1:
        continue
      layers.append(nn.LayerNorm())
      layers.append(nn.relu)
    return nn.Sequential(layers)(x)

class Nested(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  norm: bool = True
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        if self.norm:
          layers.append(nn.LayerNorm())
        layers.append(nn.relu)
    return nn.Sequential(layers)(x)

class Kinds(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  kind: str = "layer"
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if self.kind == "layer":
        layers.append(nn.LayerNorm())
      elif self.kind == "rms":
        layers.append(nn.RMSNorm())
      else:
        layers.append(nn.relu)
    return nn.Sequential(layers)(x)

class TwoLoops(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i > 0:
        layers.append(nn.Dense(s + 1))
    for i, s in enumerate(reversed(self.sizes)):
      if i > 0:
        layers.append(nn.relu)
      layers.append(nn.Dense(s))
    return nn.Sequential(layers)(x)

class Twice(nn.Module):
  sizes: Sequence[int] = (4, 4)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(s))
      if i < len(self.sizes) - 1:
        layers.append(nn.relu)
    net = nn.Sequential(layers)
    return net(net(x))

class EitherLayer(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      if i == 0:
        layers.append(nn.Dense(s))
      else:
        layers.append(nn.Dense(2 * s))
      layers.append(nn.tanh)
    return nn.Sequential(layers)(x)

class OfItems(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  norms: Sequence[bool] = (True, False, True)
  @nn.compact
  def __call__(self, x):
    layers = []
    for s, use in zip(self.sizes, self.norms):
      layers.append(nn.Dense(s))
      if use:
        layers.append(nn.LayerNorm())
    return nn.Sequential(layers)(x)

class Gated(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      layers.append(nn.Dense(2 * s))
      if i < len(self.sizes) - 1:
        layers.append(nn.glu)
      else:
        layers.append(lambda x: x[..., :2])
    layers.append(nn.Dense(2))
    return nn.Sequential(layers)(x)

class FirstOrLast(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  first: bool = True
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      if self.first:
        layers.append(nn.LayerNorm())
      layers.append(nn.Dense(s))
      if not self.first:
        layers.append(nn.LayerNorm())
    return nn.Sequential(layers)(x)

class Perhaps(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  deep: bool = False
  @nn.compact
  def __call__(self, x):
    layers = []
    for i, s in enumerate(self.sizes):
      if self.deep:
        layers.append(nn.Dense(s))
    layers.append(nn.Dense(2))
    return nn.Sequential(layers)(x)

class OutsideLoops(nn.Module):
  n: int = 2
  norm: bool = False
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(4)]
    if self.norm:
      layers.append(nn.LayerNorm())
    layers += [nn.relu, nn.Dense(3)]
    return nn.Sequential(layers)(x)

class TwoPerhaps(nn.Module):
  sizes: Sequence[int] = (4, 6, 3)
  deep: bool = True
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(5)]
    if self.deep:
      layers.append(nn.relu)
      layers.append(nn.LayerNorm())
    layers.append(nn.Dense(4))
    return nn.Sequential(layers)(x)

class Extended(nn.Module):
  deep: bool = True
  @nn.compact
  def __call__(self, x):
    layers = [nn.Dense(5)]
    if self.deep:
      layers += [nn.relu, nn.Dense(7)]
    for l in layers:
      x = l(x)
    return nn.Dense(3)(x)

class LoopedOfSetup(nn.Module):
  n: int = 3
  norm: bool = True
  def setup(self):
    layers = []
    for _ in range(self.n):
      layers.append(nn.Dense(4))
      if self.norm:
        layers.append(nn.LayerNorm())
    self.layers = layers
  def __call__(self, x):
    for layer in self.layers:
      x = nn.relu(layer(x))
    return x

CASES = [
  ('LoopedOfSetup', {}, [(2, 4)], {}),
  ('LoopedOfSetup', {'norm': False}, [(2, 4)], {}),
  ('Activated', {}, [(2, 4)], {}),
  ('Normed', {}, [(2, 4)], {}),
  ('ActivatedOfSetup', {}, [(2, 4)], {}),
  ('NormedOfSetup', {}, [(2, 4)], {}),
  ('GivenActivation', {}, [(2, 4)], {}),
  ('Looped', {}, [(2, 4)], {}),
  ('Before', {}, [(2, 4)], {}),
  ('ByField', {}, [(2, 4)], {}),
  ('ByFieldOfSetup', {}, [(2, 4)], {}),
  ('Joined', {}, [(2, 4)], {}),
  ('Otherwise', {}, [(2, 4)], {}),
  ('Either', {}, [(2, 4)], {}),
  ('Widening', {}, [(2, 4)], {}),
  ('Continued', {}, [(2, 4)], {}),
  ('Nested', {}, [(2, 4)], {}),
  ('Kinds', {}, [(2, 4)], {}),
  ('TwoLoops', {}, [(2, 4)], {}),
  ('Twice', {}, [(2, 4)], {}),
  ('EitherLayer', {}, [(2, 4)], {}),
  ('OfItems', {}, [(2, 4)], {}),
  ('Gated', {}, [(2, 4)], {}),
  ('FirstOrLast', {}, [(2, 4)], {}),
  ('Perhaps', {}, [(2, 4)], {}),
  ('OutsideLoops', {}, [(2, 4)], {}),
  ('TwoPerhaps', {}, [(2, 4)], {}),
  ('Extended', {}, [(2, 4)], {}),
  ('GivenActivation', {'final': True}, [(2, 4)], {}),
  ('ByField', {'norm': False}, [(2, 4)], {}),
  ('ByFieldOfSetup', {'norm': False}, [(2, 4)], {}),
  ('OutsideLoops', {'norm': True}, [(2, 4)], {}),
  ('Nested', {'norm': False}, [(2, 4)], {}),
  ('Kinds', {'kind': 'rms'}, [(2, 4)], {}),
  ('Kinds', {'kind': ''}, [(2, 4)], {}),
  ('FirstOrLast', {'first': False}, [(2, 4)], {}),
  ('Perhaps', {'deep': True}, [(2, 4)], {}),
  ('TwoPerhaps', {'deep': False}, [(2, 4)], {}),
  ('Extended', {'deep': False}, [(2, 4)], {}),
]
