"""Conditions and iterators that only their brackets let go over several lines; `CASES` as in forms_basic."""

import flax.linen as nn


class InALoop(nn.Module):
  kind: str = 'a'
  first: int = 1
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      if (self.kind in {'a', 'b'} and
          i >= self.first):
        x = nn.Dense(4)(x)
      x = nn.LayerNorm()(x)
    return x


class Plain(nn.Module):
  kind: str = 'a'
  first: int = 1
  @nn.compact
  def __call__(self, x):
    if (self.kind in {'a', 'b'} and
        self.first > 0):
      x = nn.Dense(4)(x)
    elif (self.first <
          0):
      x = nn.Dense(7)(x)
    return x


class OverSums(nn.Module):
  widths: tuple = (4, 5)
  @nn.compact
  def __call__(self, x):
    for width in (self.widths +
                  (3,)):
      x = nn.Dense(width)(x)
    return x


class InsideOfACall(nn.Module):
  widths: tuple = (4, 5)
  @nn.compact
  def __call__(self, x):
    if max(self.widths,
           default=0) > 4:
      x = nn.Dense(3)(x)
    return x


CASES = [
  ('InALoop', {}, [(2, 5)], {}),
  ('InALoop', dict(kind='c'), [(2, 5)], {}),
  ('Plain', {}, [(2, 5)], {}),
  ('Plain', dict(first=0), [(2, 5)], {}),
  ('Plain', dict(first=-1), [(2, 5)], {}),
  ('OverSums', {}, [(2, 5)], {}),
  ('InsideOfACall', {}, [(2, 5)], {}),
  ('InsideOfACall', dict(widths=()), [(2, 5)], {}),
]
