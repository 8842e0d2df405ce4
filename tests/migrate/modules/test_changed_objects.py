"""Objects that change in place after a module was given them: Linen's module sees that at its next call."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import both, migrate

HEAD = """import operator
import types
import numpy as np


def grow(a):
  a += 4


def set_first(a, to=9):
  a[0] = to


def hands_on(a):
  set_first(a)


class Scale(nn.Module):
  factor: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * self.factor


class M(nn.Module):
  def more(self, a):
    a += 8

  def put(self, a):
    return a * 2

  @nn.compact
  def __call__(self, x):
"""
STAYS = {
    "before it is called": "m = np.ones(3)\nb = Scale(m)\nm += 4\nreturn b(x)",
    "an item of it": "m = np.ones(3)\nb = Scale(m)\nm[0] = 4\nreturn b(x)",
    "between two calls": "m = np.ones(3)\nb = Scale(m)\ny = b(x)\nm += 4\nreturn b(x) + y",
    "in a loop": "m = np.ones(3)\nb = Scale(m)\nfor _ in range(2):\n  y = b(x)\n  m += 4\nreturn y",
    "by another name": "m = np.ones(3)\nb = Scale(m)\nn = m\nn += 4\nreturn b(x)",
    "by a name from before": "m = np.ones(3)\nn = m\nb = Scale(n)\nm[1] = 4\nreturn b(x)",
    "a view of it": "m = np.ones((2, 3))\nb = Scale(m[0])\nm[0, 1] = 4\nreturn b(x)",
    "what it is a view of": "m = np.ones((1, 3))\nb = Scale(m.reshape(3))\nm += 4\nreturn b(x)",
    "the same array for NumPy": "m = np.ones(3)\nn = np.asarray(m)\nb = Scale(n)\nm += 4\nreturn b(x)",
    "in a function": "m = np.ones(3)\nb = Scale(m)\ngrow(m)\nreturn b(x)",
    "an item in a function": "m = np.ones(3)\nb = Scale(m)\nset_first(a=m)\nreturn b(x)",
    "in a function of a function": "m = np.ones(3)\nb = Scale(m)\nhands_on(m)\nreturn b(x)",
    "in a method": "m = np.ones(3)\nb = Scale(m)\nself.more(m)\nreturn b(x)",
    "as what a function writes to": "m = np.ones(3)\nb = Scale(m)\nnp.add(m, 3, out=m)\nreturn b(x)",
    "by NumPy": "m = np.ones(3)\nb = Scale(m)\nnp.copyto(m, np.arange(3.0))\nreturn b(x)",
    "by methods of its own": "m = np.arange(3.0)\nb = Scale(m)\nm.put(0, 9)\nm.partition(1)\nreturn b(x)",
    "by an operator": "m = np.ones(3)\nb = Scale(m)\noperator.iadd(m, 2)\nreturn b(x)",
    "by Python's own method": "m = np.ones(3)\nb = Scale(m)\nm.__setitem__(0, 2)\nreturn b(x)",
    "shuffled": "m = np.arange(3.0)\nb = Scale(m)\nnp.random.RandomState(1).shuffle(m)\nreturn b(x)",
    "of an object": "c = types.SimpleNamespace(m=np.ones(3))\nb = Scale(c.m)\nc.m += 4\nreturn b(x)",
    "of a dict": "c = {'m': np.ones(3)}\nb = Scale(c['m'])\nc['m'] += 4\nreturn b(x)",
    "in each pass": "m = np.ones(3)\nfor _ in range(2):\n  m += 1\n  x = Scale(m)(x)\nreturn x",
    "by a function in each pass": "m = np.ones(3)\nfor _ in range(2):\n  grow(m)\n  x = Scale(m)(x)\nreturn x",
    "before another is given it": "m = np.ones(3)\ny = Scale(m)(x)\nm[0] = 7\nreturn Scale(m)(x) + y",
}
NATIVE = {
    "an array of JAX": "m = jnp.ones(3)\nb = Scale(m)\nm += 4\nreturn b(x)",
    "a number": "m = 2\nb = Scale(m)\nm += 4\nreturn b(x) + m",
    "another object": "m = np.ones(3)\nb = Scale(m)\nm = m + 4\nreturn b(x) + m",
    "an array of JAX with two names": "m = jnp.ones(3)\nn = m\nb = Scale(m)\nn += 4\nreturn b(x) + n",
    "an array of JAX that a function takes": "m = jnp.ones(3)\nb = Scale(m)\ngrow(m)\nreturn b(x) + m",
    "a copy": "m = np.ones(3)\nb = Scale(m.copy())\nm += 4\nreturn b(x) + m",
    "before it is given, by a function": "m = np.ones(3)\nm += 4\nset_first(m)\nreturn Scale(m)(x)",
    "before it is given, by NumPy": "m = np.ones(3)\nnp.copyto(m, np.arange(3.0))\nreturn Scale(m)(x)",
    "before it is given, by its own method": "m = np.ones(3)\nm.put(0, 9)\nreturn Scale(m)(x)",
    "a method of that name which changes nothing": "m = np.ones(3)\nb = Scale(m)\ny = self.put(m)\nreturn b(x) + y",
    "before it is given, in a loop": "m = np.ones(3)\nfor _ in range(2):\n  m += 1\nreturn Scale(m)(x)",
    "a number of NumPy's": "n = int(np.prod(x.shape[1:]))\ny = Scale(n)(x)\nn += 1\nreturn y + Scale(n)(x)",
    "a number in each pass": "n = 1\nfor _ in range(2):\n  n += 1\n  x = Scale(n)(x)\nreturn x",
    "another in each pass": "m = np.ones(3)\nfor _ in range(2):\n  x = Scale(m)(x)\n  m = m + 4\nreturn x",
}


def _text(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("what", STAYS)
def test_it_stays_linen(what: str) -> None:
    plan = {c.qualname: c for c in migrate(_text(STAYS[what])).classes}["m.M"]
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX113"), plan.reason


@pytest.mark.parametrize("what", NATIVE)
def test_what_is_bound_again_is_another(what: str) -> None:
    old, new, result = both(_text(NATIVE[what]))
    assert {str(c.outcome) for c in result.classes} == {"native"}
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_features=3, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(model(x), old.M().apply(variables, x))
