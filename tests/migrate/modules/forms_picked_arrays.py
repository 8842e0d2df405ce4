"""Arrays that a computed key picks of a dict, and functions that one picks of `dict(relu=...)`; `CASES` as in forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
from flax import linen as nn

SHAPES = dict(first=nn.swish, second=jnp.tanh, third=lambda x: x * 2)


def grown(x):
  b, h, w, c = x.shape
  x = jnp.broadcast_to(x.reshape(b, h, 1, w, 1, c), (b, h, 2, w, 2, c))
  return x.reshape(b, h * 2, w * 2, c)


class Chain(nn.Module):
  kind: str = 'first'
  @nn.compact
  def __call__(self, x):
    fn = SHAPES[self.kind]
    return nn.Sequential([fn, nn.Dense(6)])(x)


class Plain(nn.Module):
  kind: str = 'first'
  @nn.compact
  def __call__(self, x):
    fn = SHAPES.get(self.kind)
    h = nn.Dense(3)(x)
    return nn.Dense(4)(fn(h))


class Resampled(nn.Module):
  features: int
  kind: str | None = None
  @nn.compact
  def __call__(self, x):
    h = x
    if self.kind is not None:
      def resampled(z):
        return {'up': grown(z), 'down': nn.avg_pool(z, (2, 2), (2, 2))}[self.kind]
      h = resampled(h)
      x = resampled(x)
    h = nn.Conv(self.features, (3, 3))(h)
    if x.shape[-1] != self.features:
      x = nn.Dense(self.features)(x)
    return x + h


CASES: list[Any] = [
    ('Chain', dict(), [(2, 5, 3)], dict()),
    ('Chain', dict(kind='second'), [(2, 5, 3)], dict()),
    ('Plain', dict(kind='third'), [(2, 5, 3)], dict()),
    ('Resampled', dict(features=4), [(2, 8, 8, 3)], dict()),
    ('Resampled', dict(features=3, kind='up'), [(2, 8, 8, 3)], dict()),
    ('Resampled', dict(features=4, kind='down'), [(2, 8, 8, 3)], dict()),
]
