"""Parameters and variables whose first values the call computes with jax; `CASES` as in forms_basic."""

from typing import Any
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


def leaves(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})


class Masked(nn.Module):
  gain: float = 2.0
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[1]
    odd = jnp.arange(h.shape[-1]) % 2
    mask = True if h.shape[-2] == 3 else odd
    scale = jnp.full((h.shape[-1],), self.gain).at[0].set(1.0)
    def start(key, shape):
      return jax.random.normal(key, shape) * scale * mask
    w = self.param('w', start, (h.shape[-1],))
    b = self.param('b', nn.initializers.constant(jnp.log(h.shape[-1])), (h.shape[-1],))
    a = self.param('a', lambda key: jnp.log(jnp.tile(jnp.arange(1., 5.), (h.shape[-1], 1))))
    h = nn.Dense(3)(h * w + b + a.sum(-1))
    return h


class StateSpace(nn.Module):
  states: int = 4
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    width = h.shape[-1]
    steps = jnp.tile(jnp.arange(1, self.states + 1, dtype=jnp.float32), (width, 1))
    log_steps = self.param('log_steps', lambda rng, shape: jnp.log(steps), (width, self.states))
    skip = self.param('skip', nn.initializers.ones, (width,))
    return h * skip + jnp.exp(log_steps).sum(-1)


class Transformed(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    ones = jax.jit(lambda n: n + 1)(jnp.arange(h.shape[-1]))
    sums = jax.lax.scan(lambda c, a: (c + a, c), 0, ones)[1]
    w = self.param('w', lambda key: sums * 1.0)
    return h + w


class Hippo(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    matrix = hippo(h.shape[-1])
    values = jnp.linalg.eigvalsh(matrix)
    w = self.param('w', lambda key: values)
    v = self.param('v', nn.initializers.constant(matrix), matrix.shape)
    return h * w + h @ v


def hippo(n):
  p = jnp.sqrt(1 + 2 * jnp.arange(n))
  return p[:, None] * p[None]


class ByMethod(nn.Module):
  rows: int = 3
  def start(self, key, width):
    return jnp.tile(jnp.arange(1., self.rows + 1), (width, 1)) * jax.random.normal(key, (width, 1))
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    return h + self.param('w', self.start, h.shape[-1]).sum(-1)


class Listed(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    rows = []
    for i in range(h.shape[-1]):
      rows.append(jnp.full((2,), i + 1.0))
    n = 1.0
    for step in jnp.arange(h.shape[-1]):
      n = n + step
    b = self.param('b', lambda key: n * jnp.ones(h.shape[-1]))
    return h + self.param('w', lambda key: jnp.stack(rows)).sum(-1) * b


class BoundAgain(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    n = h.shape[-1]
    f = lambda key: jnp.full((n,), 2.0)
    w = self.param('w', f)
    n = 9
    return h + w * n


class Beside(nn.Module):
  def setup(self):
    self.dense = nn.Dense(4)
  @nn.compact
  def __call__(self, x):
    h = leaves(self.dense(x))[1]
    line = jnp.linspace(0., 1., h.shape[-1])
    return h + self.param('w', lambda key: line * jnp.ones(h.shape[-1]))


class Held(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    table = sinusoid(h.shape[-2], h.shape[-1])
    positions = self.variable('consts', 'positions', lambda: table)
    mask = self.variable('buffers', 'mask', jnp.tril, jnp.ones((h.shape[-2], h.shape[-2])))
    return mask.value @ (h + positions.value)


class Alike(nn.Module):
  @nn.compact
  def __call__(self, x):
    h = leaves(x)[0]
    mean = self.variable('stats', 'mean', lambda: jnp.zeros_like(h))
    dtyped = self.variable('stats', 'dtyped', lambda: jnp.ones(h.shape, h.dtype))
    h = h.T
    for g in leaves(h):
      pass
    last = self.variable('stats', 'last', lambda: jnp.zeros(g.shape))
    return (h + mean.value.T) * dtyped.value.T + last.value


def sinusoid(n, d):
  return jnp.sin(jnp.arange(n)[:, None] / 10 ** (jnp.arange(d)[None] / d))


class Around(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = Masked(name='m')(x)
    x = StateSpace()(x) + Transformed()(x)
    x = nn.Dropout(0.3)(x, deterministic=True)
    for i in range(2):
      x = StateSpace(states=i + 1, name=f's{i}')(x)
    return Held()(Masked(3.0)(x))


class Members(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.vmap(StateSpace, in_axes=0, variable_axes={'params': 0}, split_rngs={'params': True})()(x)


CASES = [
  ('Around', {}, [(2, 4, 6)], {}),
  ('Masked', {}, [(2, 4, 6)], {}),
  ('Masked', {'gain': 3.0}, [(2, 3, 6)], {}),
  ('StateSpace', {}, [(2, 4, 6)], {}),
  ('Transformed', {}, [(4, 6)], {}),
  ('Hippo', {}, [(4, 6)], {}),
  ('ByMethod', {'rows': 2}, [(4, 6)], {}),
  ('Listed', {}, [(4, 6)], {}),
  ('BoundAgain', {}, [(4, 6)], {}),
  ('Beside', {}, [(4, 6)], {}),
  ('Members', {}, [(2, 4, 6)], {}),
  ('Alike', {}, [(4, 6)], {}),
  ('Held', {}, [(2, 4, 6)], {}),
]
