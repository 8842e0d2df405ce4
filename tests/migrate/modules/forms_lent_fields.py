"""Fields of modules that each call computes and that decide no variables; `CASES` as in forms_basic."""

from typing import Any, Callable, Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn


class Softmax(nn.Module):
  """Sizes and arrays, and a number that decides a parameter."""
  height: int
  width: int
  pos_x: jnp.ndarray
  pos_y: jnp.ndarray
  temperature: float | None = None
  @nn.compact
  def __call__(self, features):
    if self.temperature == -1:
      temperature = self.param('temperature', nn.initializers.ones, (1,), jnp.float32)
    else:
      temperature = 1.0
    b, c = features.shape[0], features.shape[3]
    features = features.transpose(0, 3, 1, 2).reshape(b, c, self.height * self.width)
    a = nn.softmax(features / temperature)
    return jnp.concatenate([jnp.sum(self.pos_x * a, axis=2), jnp.sum(self.pos_y * a, axis=2)], axis=1)


class Encoder(nn.Module):
  temperature: float | None = None
  @nn.compact
  def __call__(self, x):
    x = nn.Conv(4, (3, 3), strides=(2, 2))(x)
    height, width, channel = x.shape[-3:]
    pos_x, pos_y = jnp.meshgrid(jnp.linspace(-1.0, 1.0, height), jnp.linspace(-1.0, 1.0, width))
    pos_x = pos_x.reshape(height * width)
    pos_y = pos_y.reshape(height * width)
    x = Softmax(height, width, pos_x, pos_y, self.temperature)(x)
    return nn.Dense(3)(x)


class Scale(nn.Module):
  factor: float = 2.0
  shape: Sequence[int] = ()
  @nn.compact
  def __call__(self, x, train: bool = False):
    y = nn.BatchNorm(use_running_average=not train)(nn.Dense(3)(x))
    self.sow('intermediates', 'y', y)
    if len(self.shape):
      y = y.reshape(self.shape + (y.shape[-1],)).mean(1, keepdims=True)
    return self.scaled(y)
  def scaled(self, y):
    return y * self.factor


class Stack(nn.Module):
  depth: int = 2
  @nn.compact
  def __call__(self, x, train: bool = False):
    for i in range(self.depth):
      x = Scale(x.shape[0] * 0.5 + i)(x, train=train)
    m = Scale(1.0 * x.shape[1])
    x = m(x) + m(x * 2)
    return Scale(0.5)(x, train) + Scale(jnp.mean(x), [x.shape[0], -1])(x, train)


class Cast(nn.Module):
  dtype: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3, dtype=self.dtype)(x)


class Typed(nn.Module):
  @nn.compact
  def __call__(self, x, rate: float):
    dtype = jax.dtypes.canonicalize_dtype(x.dtype)
    return Cast(dtype)(x) + Cast(jnp.bfloat16)(x) * rate


class Optional(nn.Module):
  """What is lent in one call may be nothing in another."""
  @nn.compact
  def __call__(self, x, bias=None):
    return Biased(bias)(x)


class Biased(nn.Module):
  bias: Any
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(3)(x)
    return y if self.bias is None else y + self.bias


CASES: list[Any] = [
    ('Encoder', dict(), [(2, 8, 6, 3)], dict()),
    ('Encoder', dict(temperature=-1), [(2, 8, 6, 3)], dict()),
    ('Stack', dict(), [(2, 5, 3)], dict()),
    ('Typed', dict(), [(2, 5, 3)], dict(rate=0.0)),
    ('Optional', dict(), [(2, 5, 3)], dict()),
    ('Optional', dict(), [(2, 5, 3)], dict(bias=2.0)),
    ('Scale', dict(factor=3.0), [(2, 5, 3)], dict()),
]
