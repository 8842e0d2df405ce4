"""First values and keywords that a constructor cannot compute, beside those that it can (`forms_computed_first_values`)."""

HEAD = """from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


def first_values(x, width):
  return jnp.mean(x) * jnp.ones((width,)), jnp.zeros((width,))


def linear(width, given):
  if given is None:
    return nn.Dense(width)
  else:
    return nn.Dense(width, use_bias=False)


def part(given, name):
  return None if given is None else given[name]


class Base(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)


class Wide(Base):
  width: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class M(nn.Module):
  width: int = 3
  zero: bool = False
  table: Any = None
  kind: type[Base] | None = None
  model: type[nn.Module] | None = None
"""

INDENT = 2  # of the bodies below

REFUSED = {
    "a first value of what the array holds": (
        "NNX111",
        """@nn.compact
def __call__(self, x):
  w, b = first_values(x, self.width)
  w = self.param("w", lambda *_: w)
  return x * w""",
    ),
    "a key that the call is given": (
        "NNX111",
        """@nn.compact
def __call__(self, x, key):
  w = jax.random.normal(key, (self.width,))
  w = self.param("w", lambda *_: w)
  return x * w""",
    ),
    "keywords that are added elsewhere": (
        "NNX137",
        """@nn.compact
def __call__(self, x):
  kw = {"use_bias": False} if self.zero else {}
  kw.update(self.more())
  return nn.Conv(self.width, (3,), **kw)(x)
def more(self):
  return {"strides": 2}""",
    ),
    "one of several layers by what the call is given": (
        "NNX152",
        """@nn.compact
def __call__(self, x, key=0):
  return linear(self.width, part(self.table, key))(x)""",
    ),
    "an annotation that names the class of all modules": (
        "NNX138",
        """@nn.compact
def __call__(self, x):
  return self.model(self.width)(x)""",
    ),
    "an annotation that names a class with others of its kind": (
        "NNX138",
        """@nn.compact
def __call__(self, x):
  return self.kind()(x)""",
    ),
    "a first value of a variable that has another value by then": (
        "NNX112",
        """@nn.compact
def __call__(self, x):
  mean = self.variable("stats", "mean", jnp.zeros, (4,))
  mean.value = mean.value + x.mean()
  old = self.variable("stats", "old", lambda: mean.value)
  return x * old.value""",
    ),
    "a first value of a variable that a function may have changed": (
        "NNX112",
        """@nn.compact
def __call__(self, x):
  def track(variable):
    variable.value = variable.value + x.mean()

  mean = self.variable("stats", "mean", jnp.zeros, (4,))
  track(mean)
  old = self.variable("stats", "old", lambda: mean.value)
  return x * old.value""",
    ),
    "a first value of setup's variable that another method may have changed": (
        "NNX112",
        """def setup(self):
  self.n = self.variable("c", "n", jnp.ones, ())
def step(self):
  self.n.value = self.n.value + 1
@nn.compact
def __call__(self, x):
  self.step()
  m = self.variable("c", "m", lambda: self.n.value)
  return x + m.value""",
    ),
    "an initializer that reads setup's variable, which the call has changed by then": (
        "NNX113",
        """def setup(self):
  self.n = self.variable("c", "n", jnp.ones, ())
@nn.compact
def __call__(self, x):
  self.n.value = self.n.value + 1
  return nn.Dense(3, kernel_init=lambda k, s, d=jnp.float32: jnp.ones(s, d) * self.n.value)(x)""",
    ),
    "a first value of a variable with another name": (
        "NNX112",
        """@nn.compact
def __call__(self, x):
  mean = self.variable("stats", "mean", jnp.zeros, (4,))
  held = mean
  held.value = held.value + x.mean()
  old = self.variable("stats", "old", lambda: mean.value)
  return x * old.value""",
    ),
    "an initializer that is given an array of a list, whose width the constructor's loop has under that name": (
        "NNX111",
        """@nn.compact
def __call__(self, x, y):
  total = 0
  for i, v in enumerate([x, y]):
    total = total + v * self.param(f"w{i}", lambda key, of: jnp.ones(of.shape[-1:]), v)
  return total""",
    ),
    "an initializer of the length of an array of a list": (
        "NNX111",
        """@nn.compact
def __call__(self, x):
  arrays = [x] if not isinstance(x, tuple) else x
  total = 0
  for i, v in enumerate(arrays):
    total = total + v * self.param(f"w{i}", lambda key, n: n * jnp.ones(()), len(v))
  return total""",
    ),
    "an initializer that reads an array of a list": (
        "NNX111",
        """@nn.compact
def __call__(self, x, y):
  total = 0
  for i, v in enumerate([x, y]):
    def first(key):
      return v.mean(0)
    total = total + v * self.param(f"w{i}", first)
  return total""",
    ),
}
