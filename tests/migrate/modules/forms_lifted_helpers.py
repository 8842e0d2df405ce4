"""Lifted functions in helpers outside of classes, to which modules with and without random streams are handed."""

import flax.linen as nn


def blockwise(module, x, chunks):
  x = x.reshape(x.shape[0], chunks, -1, x.shape[-1])

  def body(m, carry, h):
    return carry, m(h)

  _, y = nn.scan(
    body, variable_broadcast="params", split_rngs={"params": False, "dropout": True}, in_axes=1, out_axes=1
  )(module, None, x)
  return y.reshape(y.shape[0], -1, y.shape[-1])


class Plain(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class Dropped(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=True)(nn.Dense(4)(x))


class OfPlain(nn.Module):
  chunks: int = 2

  def setup(self):
    self.feed = Plain()

  def __call__(self, x):
    return blockwise(self.feed, x, self.chunks)


class OfDropped(nn.Module):
  chunks: int = 2

  def setup(self):
    self.feed = Dropped()

  def __call__(self, x):
    return blockwise(self.feed, x, self.chunks)


CASES = [
  ("OfPlain", {}, [(2, 4, 3)], {}),
  ("OfDropped", {}, [(2, 4, 3)], {}),
]
