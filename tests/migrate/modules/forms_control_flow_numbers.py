"""Numbers that go through JAX's control flow, and what follows from them; `CASES` as in forms_basic."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Counted(nn.Module):
  @nn.compact
  def __call__(self, x):
    total = jax.lax.scan(lambda c, a: (c + 1, c), 0, jnp.arange(5))[0]
    twice = jax.lax.fori_loop(0, 5, lambda i, c: c + 2, 0)
    until = jax.lax.while_loop(lambda c: c < 5, lambda c: c + 2, 0)
    a = self.param('a', lambda key: total * jnp.ones(3))
    b = self.param('b', lambda key: twice * jnp.ones(3))
    c = self.param('c', lambda key: until * jnp.ones(3))
    return x + a + b + c


class Kept(nn.Module):
  start: float = 1.0
  @nn.compact
  def __call__(self, x):
    grown = jax.lax.fori_loop(0, 3, lambda i, c: c * 2, self.start)
    pair, steps = jax.lax.scan(lambda c, a: ((c[0] + a, c[1] * 2), c[1]), (0, self.start), jnp.arange(4))
    a = self.param('a', lambda key: grown + jnp.zeros(3))
    b = self.param('b', lambda key: pair[0] + pair[1] + jnp.zeros(3))
    c = self.param('c', lambda key: steps * 1.0)
    return x + a + b + c.sum()


class Mapped(nn.Module):
  @nn.compact
  def __call__(self, x):
    twos = jax.vmap(lambda c: 2)(jnp.arange(3))
    threes = jax.lax.map(lambda c: 3, jnp.arange(3))
    chosen = jax.lax.cond(True, lambda: 2.0, lambda: 4.0)
    a = self.param('a', lambda key: twos * 1.0)
    b = self.param('b', lambda key: threes * 1.0)
    c = self.param('c', lambda key: chosen * jnp.ones(3))
    return x + a + b + c


class Stepped(nn.Module):
  @nn.compact
  def __call__(self, x):
    def step(mdl, carry, _):
      h, c = carry
      return (nn.Dense(3)(h), c + 1), c
    run = nn.scan(step, variable_axes={'params': 0}, split_rngs={'params': True}, length=4)
    (h, c), steps = run(self, (x, 0), None)
    return h + c + steps.sum()


CASES = [
  ('Counted', {}, [(2, 3)], {}),
  ('Stepped', {}, [(2, 3)], {}),
  ('Kept', {'start': 3.0}, [(2, 3)], {}),
  ('Mapped', {}, [(2, 3)], {}),
]
