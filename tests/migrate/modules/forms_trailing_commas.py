"""Calls with a comma behind their last argument, to which the rewrite adds another; `CASES` as in forms_basic."""

import flax.linen as nn


class Block(nn.Module):
  width: int
  deterministic: bool = False
  @nn.compact
  def __call__(self, x, twice=False):
    x = x * 2 if twice else x
    return nn.Dense(self.width)(nn.Dropout(0.5)(x, deterministic=self.deterministic))


class Tower(nn.Module):
  width: int
  depth: int = 2
  kind: str = 'plain'
  @nn.compact
  def __call__(self, x, train=False):
    if self.kind == 'plain':
      block = Block
    else:
      raise ValueError('no such kind')
    for i in range(self.depth):
      x = block(width=self.width, deterministic=not train, name=f'block_{i}')(
        x,
        twice=True,
      )
    x = Block(self.width, deterministic=not train)(
      x,
    )
    x = Block(self.width, deterministic=not train)(
      x  # the last, and then
    )
    x = Block(self.width, deterministic=not train)(x, )
    return Block(self.width, deterministic=not train)(x,)


class ByMethod(nn.Module):
  width: int
  def setup(self):
    self.body = nn.Dense(3)
    if self.width > 2:
      self.make(
        self.width,
      )
  def make(self, width):
    self.out = nn.Dense(width)
  def __call__(self, x):
    return self.out(self.body(x)) if self.width > 2 else self.body(x)


CASES = [
  *[('Tower', dict(width=3), [(2, 4, 5)], dict(train=t)) for t in (False,)],
  *[('ByMethod', dict(width=w), [(2, 5)], {}) for w in (2, 3)],
]
