"""Lifted transforms that NNX would carry out in another way: the class that uses them stays Linen and says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import functools

import jax.numpy as jnp
from flax import linen as nn


class Drop(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(0.5, deterministic=False)(nn.Dense(3)(x))


class Noise(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    return nn.Dropout(0.5, deterministic=False, rng_collection='noise')(nn.Dense(4)(c)), x


class Named(nn.Module):
  stream: str = 'noise'
  @nn.compact
  def __call__(self, c, x):
    return nn.Dropout(0.5, deterministic=False, rng_collection=self.stream)(nn.Dense(4)(c)), x


class Sower(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    self.sow('intermediates', 'h', x)
    return x


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Sower()(x)


class Step(nn.Module):
  @nn.compact
  def __call__(self, c, x):
    return nn.Dense(4)(c + x), c


class Two(nn.Module):
  def setup(self):
    self.d = nn.Dense(4)
  def __call__(self, x):
    return self.d(x)
  def encode(self, x, k):
    return self.d(x) * k


class M(nn.Module):
"""

REFUSED = {
    "a lifted partial of what a field holds": (
        "NNX130",
        """  kind: type = Drop
  @nn.compact
  def __call__(self, x):
    return nn.remat(functools.partial(self.kind, name='a'))()(x)
""",
    ),
    "inputs of unknown number that are mapped": (
        "NNX141",
        """  @nn.compact
  def __call__(self, *args):
    return nn.vmap(Drop, {'params': None}, {'params': False, 'dropout': True})()(*args)
""",
    ),
    "inputs of unknown number beside a carry": (
        "NNX141",
        """  @nn.compact
  def __call__(self, c, *args):
    cell = nn.scan(Noise, variable_broadcast='params', split_rngs={'params': False, 'noise': True})
    return cell()(c, *args)
""",
    ),
    "a variable whose axes are named in another collection": (
        "NNX130",
        """  @nn.compact
  def __call__(self, x):
    from flax.linen import partitioning
    c = partitioning.variable_with_axes('cache', 'k', jnp.zeros, (4,), axes=('embed',))
    c.value = c.value + 1
    return x + c.value
""",
    ),
    "a stack whose axis gets a name that is computed": (
        "NNX168",
        """  name_of_axis: str

  @nn.compact
  def __call__(self, x):
    from flax.linen import partitioning
    names = {'params': self.name_of_axis}
    made = partitioning.vmap_with_axes(
        Two, variable_axes={'params': 0}, split_rngs={'params': True}, axis_size=3, partitioning_axis_names=names)
    return made()(x)
""",
    ),
    "members that start from the same parameters and drop differently": (
        "NNX168",
        """  @nn.compact
  def __call__(self, x):
    split = {'params': False, 'dropout': True}
    return nn.vmap(Drop, variable_axes={'params': 0}, split_rngs=split, in_axes=None, axis_size=3)()(x)
""",
    ),
    "a stream of the layer's own that every step draws alike": (
        "NNX168",
        """  @nn.compact
  def __call__(self, x):
    split = {'params': False, 'noise': False, 'dropout': True}
    drop = nn.scan(Noise, variable_broadcast='params', split_rngs=split, length=3)
    return drop()(x, None)
""",
    ),
    "a stream that a field names": (
        "NNX168",
        """  @nn.compact
  def __call__(self, x):
    split = {'params': False, 'noise': False, 'dropout': True}
    return nn.scan(Named, variable_broadcast='params', split_rngs=split, length=3)()(x, None)
""",
    ),
    "sown values along another axis than a function's parameters": (
        "NNX168",
        """  @nn.compact
  def __call__(self, x):
    axes = {'params': 0, 'intermediates': 1}
    member = lambda mdl, x: Outer(name='outer')(x)
    return nn.vmap(member, variable_axes=axes, split_rngs={'params': True}, in_axes=None, axis_size=3)(self, x)
""",
    ),
    "an axis that is computed": (
        "NNX168",
        """  axis: int = 0

  @nn.compact
  def __call__(self, x):
    axes = {'params': self.axis + 1}
    return nn.vmap(Drop, variable_axes=axes, split_rngs={'params': True}, in_axes=None, axis_size=3)()(x)
""",
    ),
    "an axis of a function that a field says": (
        "NNX168",
        """  axis: int = 0

  @nn.compact
  def __call__(self, x):
    member = lambda mdl, x: Outer(name='outer')(x)
    axes = {'params': self.axis}
    return nn.vmap(member, variable_axes=axes, split_rngs={'params': True}, in_axes=None, axis_size=3)(self, x)
""",
    ),
    "a stream that a computed flag splits": (
        "NNX168",
        """  rate: float = 0.5

  @nn.compact
  def __call__(self, x):
    split = {'params': True, 'dropout': self.rate > 0.1}
    return nn.vmap(Drop, variable_axes={'params': 0}, split_rngs=split, in_axes=None, axis_size=3)()(x)
""",
    ),
    "values sown by members that share their parameters": (
        "NNX168",
        """  @nn.compact
  def __call__(self, x):
    axes = {'params': None, 'intermediates': 0}
    return nn.vmap(Outer, variable_axes=axes, split_rngs={'params': False})()(x)
""",
    ),
    "values sown by a function that is scanned": (
        "NNX168",
        """  @nn.compact
  def __call__(self, c, xs):
    def body(mdl, c, x):
      c = nn.Dense(4)(c + x)
      mdl.sow('intermediates', 'c', c)
      return c, c

    return nn.scan(body, variable_broadcast='params', split_rngs={'params': False})(self, c, xs)
""",
    ),
    "options that differ between methods": (
        "NNX130",
        """  @nn.compact
  def __call__(self, x):
    options = dict(variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=(0, None), axis_size=3)
    return nn.vmap(Two, methods={'encode': options})().encode(x, 2)
""",
    ),
    "a method of a stack that is not lifted": (
        "NNX130",
        """  @nn.compact
  def __call__(self, x):
    return nn.vmap(Two, variable_axes={'params': 0}, split_rngs={'params': True}, axis_size=3)().encode(x, 2)
""",
    ),
    "a stack whose automatic name depends on a flag of the call": (
        "NNX138",
        """  @nn.compact
  def __call__(self, c, xs, remat=False):
    block = nn.remat(Step) if remat else Step
    return nn.scan(block, variable_axes={'params': 0}, split_rngs={'params': True}, length=3)()(c, xs)
""",
    ),
    "a cell with a name of its own that only its RNN holds": (
        "NNX127",
        """  def setup(self):
    self.rnn = nn.RNN(nn.LSTMCell(4, name='cell_of_mine'))
  def __call__(self, xs):
    return self.rnn(xs)
""",
    ),
    "one of two stacks by what the input had been": (
        "NNX132",
        """  @nn.compact
  def __call__(self, x):
    block = Sower if x.shape[-1] > 3 else Drop
    x = nn.Dense(2)(x)
    return nn.vmap(block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3)()(x)
""",
    ),
    "one of two stacks by a flag of the call": (
        "NNX138",
        """  @nn.compact
  def __call__(self, x, sows=True):
    block = Sower if sows else Two
    return nn.vmap(block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3)()(x)
""",
    ),
    "one of two stacks, where a field may be one": (
        "NNX138",
        """  block: Any = Sower
  own: bool = True
  @nn.compact
  def __call__(self, x):
    block = self.block if self.own else Sower
    return nn.vmap(block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3)()(x)
""",
    ),
    "a stack whose axis is named by a field": (
        "NNX168",
        """  axis: str = 'layers'
  @nn.compact
  def __call__(self, c, xs):
    axes, split = {'params': 0}, {'params': True}
    return nn.scan(Step, axes, split_rngs=split, length=3, metadata_params={nn.PARTITION_NAME: self.axis})()(c, xs)
""",
    ),
    "one of two stacks, under an if": (
        "NNX130",
        """  wide: bool = False
  def setup(self):
    if self.wide:
      self.a = nn.vmap(Sower, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3)()
    else:
      self.a = nn.vmap(Sower, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=2)()
  def __call__(self, x):
    return self.a(x)
""",
    ),
    "a stack or a module of another class": (
        "NNX130",
        """  wide: bool = False
  def setup(self):
    if self.wide:
      self.a = nn.vmap(Drop, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3)()
    else:
      self.a = nn.Dense(3)
  def __call__(self, x):
    return self.a(x)
""",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason
    after = result.files[0].after
    assert after is not None
    assert f"# TODO(nnx-migrate): {code} M stays" in after


def test_what_the_method_around_a_scanned_function_sows_does_not_matter() -> None:
    body = """  @nn.compact
  def __call__(self, c, xs):
    d = nn.Dense(4)
    f = nn.scan(lambda m, c, x: (m(c + x), c), variable_broadcast='params', split_rngs={'params': False})
    c, y = f(d, c, xs)
    self.sow('intermediates', 'c', c)
    return c, y
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert plan.outcome == "native", plan.reason
