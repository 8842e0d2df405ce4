"""Lists that loops fill with arrays of one shape, and what is made of them; `CASES` as in forms_basic."""

from typing import Any
import jax.numpy as jnp
from flax import linen as nn


class Encoder(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Conv(4, (3, 3))(x)


class Joined(nn.Module):
  passes: int = 3
  def setup(self):
    self.first = nn.Dense(4)
    self.last = nn.Dense(5)
  def __call__(self, x):
    found = []
    for i in range(self.passes):
      found.append(self.first(x) * i)
    return self.last(jnp.concatenate(found))


class Stacked(nn.Module):
  passes: int = 3
  @nn.compact
  def __call__(self, x):
    first = nn.Dense(4)
    found = []
    for i in range(self.passes):
      found.append(first(x) * i)
    h = jnp.stack(found, axis=1)
    return nn.Dense(5)(h) + nn.Dense(5)(found[-1]).sum() + nn.Dense(5)(found[0]).sum()


class Batches(nn.Module):
  def setup(self):
    self.encoder = Encoder()
    self.middle = nn.Conv(6, (1, 1))
    self.decoder = Encoder()
  def encode(self, x):
    single = len(x.shape) == 4
    if not single:
      b, t = x.shape[:2]
      x = x.reshape(b * t, *x.shape[2:])
    found = []
    for i in range(0, x.shape[0], 2):
      found.append(self.encoder(x[i:i + 2]))
    found = jnp.concatenate(found)
    if not single:
      found = found.reshape(b, t, *found.shape[1:])
    return found
  def decode(self, z):
    if len(z.shape) == 4:
      return self.decoder(self.middle(z))
    b, t = z.shape[:2]
    h = self.decoder(self.middle(z.reshape(b * t, *z.shape[2:])))
    return h.reshape(b, t, *h.shape[1:])
  def __call__(self, x):
    return self.decode(self.encode(x))


class Growing(nn.Module):
  passes: int = 3
  @nn.compact
  def __call__(self, x):
    found = []
    for _ in range(self.passes):
      found.append(x)
      x = nn.Dense(6)(x)
    return nn.Dense(5)(found[-1]) + nn.Dense(4)(found[0]).sum()


class FirstOther(nn.Module):
  passes: int = 3
  @nn.compact
  def __call__(self, x):
    found = [x]
    for _ in range(self.passes):
      found.append(nn.Dense(6)(x))
    return nn.Dense(5)(found[-1]) + nn.Dense(4)(found[0]).sum()


class Wide(nn.Module):
  passes: int = 3
  @nn.compact
  def __call__(self, x):
    found = []
    for _ in range(self.passes):
      found.append(nn.Dense(6)(x))
    return nn.Dense(5)(jnp.concatenate(found, axis=-1)) + nn.Dense(4)(jnp.concatenate(found, axis=0)).sum()


class Sized(nn.Module):
  sizes: tuple = (2, 3)
  @nn.compact
  def __call__(self, x):
    found = []
    for size in self.sizes:
      found.append(nn.Dense(size)(x))
    return nn.Dense(5)(found[0]) + nn.Dense(5)(found[-1])


CASES: list[Any] = [
    ('Joined', dict(), [(2, 5, 3)], dict()),
    ('Stacked', dict(), [(2, 5, 3)], dict()),
    ('Batches', dict(), [(4, 6, 6, 3)], dict()),
    ('Batches', dict(), [(2, 3, 6, 6, 3)], dict()),
    ('Growing', dict(), [(2, 5, 3)], dict()),
    ('Growing', dict(passes=1), [(2, 5, 3)], dict()),
    ('FirstOther', dict(), [(2, 5, 3)], dict()),
    ('Wide', dict(), [(2, 5, 3)], dict()),
    ('Sized', dict(), [(2, 5, 3)], dict()),
]
