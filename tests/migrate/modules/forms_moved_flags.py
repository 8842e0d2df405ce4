"""Flags given where a layer is made, which NNX takes at its call; `CASES` as in forms_basic."""
from functools import partial
import flax.linen as nn

class Helper(nn.Module):
  def make(self, train):
    return nn.BatchNorm(use_running_average=not train, momentum=0.5)
  @nn.compact
  def __call__(self, x, train: bool = True):
    return self.make(train)(x)

class Named(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = True):
    averaged = not train
    norm = partial(nn.BatchNorm, use_running_average=averaged)
    for i in range(2):
      x = norm()(nn.Dense(4)(x))
    if train:
      x = x + 1
    def last(y):
      return norm(momentum=0.5)(y)
    return last(x)

CASES = [
  ('Helper', {}, [(3, 6)], {'train': True}),
  ('Helper', {}, [(3, 6)], {'train': False}),
  ('Named', {}, [(3, 6)], {'train': True}),
  ('Named', {}, [(3, 6)], {'train': False}),
]
