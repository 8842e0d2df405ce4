"""Initializers made in the call that read what only the call knows, or what changes after they are made."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from functools import partial as Part
from flax import linen as nn
import jax.numpy as jnp


def make(init):
  def build(features):
    return nn.Dense(features, kernel_init=init)
  return build


class M(nn.Module):
  kernel_init: object = nn.initializers.lecun_normal()
  n: int = 2

  @nn.compact
  def __call__(self, x, train=False):
"""
LAST = "    return nn.Dense(3, kernel_init=init)(x)\n"
REFUSED = {
    "an array of the call": "    init = lambda *args: self.kernel_init(*args) / x.mean()\n",
    "a flag of the call": "    init = lambda *args: self.kernel_init(*args) / (2 if train else 1)\n",
    "a name that changes afterwards": (
        "    scale = jnp.sqrt(x.shape[-1])\n    init = lambda *args: self.kernel_init(*args) / scale\n    scale = 1.0\n"
    ),
    "a name that a nested function sees changed": (
        "    scale = self.n\n    def init(*args):\n      return self.kernel_init(*args) / scale\n    scale = self.n * 3\n"
    ),
    "a name that one side of a condition takes from the call": (
        "    scale = x.mean()\n    if self.n > 1:\n      scale = 2.0 * self.n\n"
        "    init = lambda *args: self.kernel_init(*args) / scale\n"
    ),
    "a name that the call decides": (
        "    if train:\n      scale = 2.0 * self.n\n    init = lambda *args: self.kernel_init(*args) / scale\n"
    ),
    "an array that changes before the layer is called": (
        "    init = lambda *args: self.kernel_init(*args) * x.shape[-1]\n    x = x[..., :2]\n"
    ),
    "a size that changes before the layer is called": (
        "    n = x.shape[-1]\n    init = lambda *args: self.kernel_init(*args) * n\n    n = 2\n"
    ),
    "an array that a function sees changed": (
        "    def init(*args):\n      return self.kernel_init(*args) * x.shape[-1]\n    x = x[..., :2]\n"
    ),
    "a name that the next pass changes": (
        "    for i in range(2):\n      scale = jnp.sqrt(x.shape[-1]) * i\n"
        "      init = lambda *args: self.kernel_init(*args) / scale\n"
    ),
}

IN_CALLS = {  # of a layer that is called later
    "a partial, under another name": "d = Part(nn.Dense, kernel_init=lambda k, s, t: jnp.ones(s, t) * n)(4)",
    "a function that keeps it": "d = make(lambda k, s, t: jnp.ones(s, t) * n)(4)",
    "a layer": "d = nn.Dense(4, kernel_init=lambda k, s, t: jnp.ones(s, t) * n)",
}


@pytest.mark.parametrize("change", ["n = 5", "n += 1"])
@pytest.mark.parametrize("what", IN_CALLS)
def test_a_layer_that_is_called_after_the_change(what: str, change: str) -> None:
    text = f"{HEAD}    n = x.shape[-1]\n    {IN_CALLS[what]}\n    {change}\n    return d(x)\n"
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX113"), plan.reason


def test_a_list_that_changes_before_the_layer_is_called() -> None:
    made = "d = nn.Dense(4, kernel_init=lambda k, s, t: jnp.ones(s, t) * n[0])"
    text = f"{HEAD}    n = [3]\n    {made}\n    n[0] = 5\n    return d(x)\n"
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX113"), plan.reason


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused(what: str) -> None:
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + REFUSED[what] + LAST)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX113"), plan.reason


SETUP = """from functools import partial
from flax import linen as nn
import jax.numpy as jnp


class M(nn.Module):
  n: int = 2

  def setup(self):
{body}
  def __call__(self, x):
    for d in self.ds:
      x = d(x)
    return x

  def scaled(self, key, shape, dtype=jnp.float32):
    return jnp.ones(shape, dtype) * self.scale
"""
RESCALE = "\n  def rescale(self):\n    self.scale = 5\n"
IN_SETUP = {  # Linen calls initializers when `setup` is over
    "a name that setup binds again": (
        "    n = 3\n    self.ds = [nn.Dense(3, kernel_init=lambda k, s, t: jnp.ones(s, t) * n)]\n    n = 5\n"
    ),
    "a nested function, of a name that setup binds again": (
        "    n = 3\n    def init(k, s, t=jnp.float32):\n      return jnp.ones(s, t) * n\n"
        "    self.ds = [nn.Dense(3, kernel_init=init)]\n    n = 5\n"
    ),
    "what a comprehension counts": (
        "    self.ds = [nn.Dense(3, kernel_init=lambda k, s, t: jnp.ones(s, t) * i) for i in range(3)]\n"
    ),
    "what a loop counts": (
        "    ds = []\n    for i in range(3):\n      ds.append(nn.Dense(3, kernel_init=lambda k, s, t: jnp.ones(s, t) * i))\n"
        "    self.ds = ds\n"
    ),
    "an attribute that setup sets again": (
        "    self.scale = 3\n    self.ds = [nn.Dense(3, kernel_init=lambda k, s, t: jnp.ones(s, t) * self.scale)]\n"
        "    self.scale = 5\n"
    ),
    "a function under a name, of one that setup binds again": (
        "    n = 3\n    init = lambda k, s, t: jnp.ones(s, t) * n\n"
        "    self.ds = [nn.Dense(3, kernel_init=init)]\n    n = 5\n"
    ),
    "a function in an attribute": (
        "    n = 3\n    self.first = lambda k, s, t: jnp.ones(s, t) * n\n"
        "    self.ds = [nn.Dense(3, kernel_init=self.first)]\n    n = 5\n"
    ),
    "a partial that has it": (
        "    n = 3\n    dense = partial(nn.Dense, kernel_init=lambda k, s, t: jnp.ones(s, t) * n)\n"
        "    self.ds = [dense(3)]\n    n = 5\n"
    ),
    "a list that setup changes": (
        "    n = [3]\n    self.ds = [nn.Dense(3, kernel_init=lambda k, s, t: jnp.ones(s, t) * n[0])]\n    n[0] = 5\n"
    ),
    "an attribute that a method of setup sets again": (
        "    self.scale = 3\n    self.ds = [nn.Dense(3, kernel_init=lambda k, s, t: jnp.ones(s, t) * self.scale)]\n"
        "    self.rescale()\n"
    ),
    "a method, of an attribute that setup sets again": (
        "    self.scale = 3\n    self.ds = [nn.Dense(3, kernel_init=self.scaled)]\n    self.scale = 5\n"
    ),
}


@pytest.mark.parametrize("what", IN_SETUP)
def test_initializers_of_setup_see_what_it_leaves(what: str) -> None:
    text = SETUP.format(body=IN_SETUP[what]) + RESCALE * ("rescale" in IN_SETUP[what])
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX113"), plan.reason
