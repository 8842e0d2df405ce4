"""`nn.while_loop`, `nn.cond` and `nn.switch` with options and keywords; `CASES` as in forms_basic."""

import jax.numpy as jnp
from flax import linen as nn


class FixedPoint(nn.Module):
  tol: float = 1e-3
  max_iter: int = 5

  def setup(self):
    self.d = nn.Dense(4)

  def __call__(self, x):
    q = self.d(x)

    def body(mdl, carry):
      q, n = carry
      return jnp.tanh(mdl.d(q)), n + 1

    def cond(mdl, carry):
      return carry[1] < mdl.max_iter

    return nn.while_loop(cond, body, mdl=self, init=(q, 0))


class Counter(nn.Module):
  @nn.compact
  def __call__(self, x):
    acc = self.variable('state', 'acc', lambda: jnp.array(0))
    acc.value = acc.value + 1
    return x + nn.Dense(4)(x), acc.value


class CarriedState(nn.Module):
  def setup(self):
    self.counter = Counter()

  def __call__(self, x):
    y, n = self.counter(x)
    def cond_fn(mdl, c):
      return c[1] < 7
    def body_fn(mdl, c):
      return mdl.counter(c[0])
    if self.is_initializing():
      return y, n
    return nn.while_loop(cond_fn, body_fn, self, (y, n), carry_variables='state', broadcast_variables=True)


class CarriedSubmodule(nn.Module):
  @nn.compact
  def __call__(self, x):
    counter = Counter()
    c = counter(x)
    if self.is_initializing():
      return c
    return nn.while_loop(lambda m, c: c[1] < 5, lambda m, c: m(c[0]), counter, c, carry_variables=['state'])


class CondKeywords(nn.Module):
  def setup(self):
    self.a = nn.Dense(4)
    self.b = nn.Dense(4)

  def __call__(self, x):
    if self.is_initializing():
      self.a(x), self.b(x)
    return nn.cond(x.sum() > 0, lambda m, x: m.a(x), lambda m, x: m.b(x), self, x, variables=True, rngs=True)


CASES = [
  ("FixedPoint", {}, [(2, 4)], {}),
  ("CarriedState", {}, [(2, 4)], {}),
  ("CarriedSubmodule", {}, [(2, 4)], {}),
  ("CondKeywords", {}, [(2, 4)], {}),
]
