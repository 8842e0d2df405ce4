"""NNX185: families of classes with a `setup` each, where no constructor calls another of a base that finds sizes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .outside_code import named_outside
from .test_later_sizes import both, migrate

PARTS = """class Feature(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return leaves(nn.Dense(self.width)(leaves(x)[0]))[0]


class Residual(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return leaves(nn.Dense(x.shape[-1])(leaves(x)[0]))[0] + x


class Out(nn.Module):
  dim: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.dim)(nn.relu(x))


class Net(nn.Module):
  dim: int
  width: int = 5
  def setup(self):
    self.feature = Feature(self.width)
    self.out = Out(self.dim)
  def __call__(self, x, train: bool = False):
    return self.out(leaves(self.feature(x))[1])


"""
OTHERS = """class Deep(Net):
  def setup(self):
    self.feature = Residual(self.width)
    self.second = Feature(self.width)
    self.out = Out(self.dim)
  def __call__(self, x, train: bool = False):
    return self.out(leaves(self.second(self.feature(x)))[1])


class Other(Net):
  def setup(self):
    self.feature = Residual(self.width)
    self.out = Out(self.dim)


class Same(Net):
  pass


class Further(Other):
  '''The same as its base.'''


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Net(3)(x) + Deep(3, 4)(x) + Other(3)(x) + Same(3)(x) + Further(3)(x)
"""


@pytest.mark.parametrize("name", ["Net", "Deep", "Other", "Same", "Further", "M"])
def test_each_makes_its_own(name: str) -> None:
    old, new, result = both(named_outside(PARTS + OTHERS))
    assert {r.outcome.value for r in result.classes} == {"native"}, [r.reason for r in result.classes]
    plan = next(r for r in result.classes if r.qualname == f"m.{name}")
    x = jnp.asarray(np.random.RandomState(0).standard_normal((2, 6)), jnp.float32)
    fields = {"dim": 3} if name != "M" else {}
    module = getattr(old, name)(**fields)
    variables = module.init(jax.random.key(0), x)
    sizes = {a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}
    model = getattr(new, name)(**fields, **sizes, rngs=nnx.Rngs(0))
    assert jax.tree.map(jnp.shape, compat.to_linen(model)) == jax.tree.map(jnp.shape, dict(variables))
    compat.from_linen(variables, model)
    assert (model(x) == module.apply(variables, x)).all()


REFUSED = {
    "a setup that calls its base's": "def setup(self):\n    super().setup()\n    self.more = Feature(2)",
    "a base's setup by name": "def setup(self):\n    Net.setup(self)\n    self.more = Feature(2)",
    "a call of its own": "def __call__(self, x, train: bool = False):\n    return leaves(self.out(self.feature(x)))[0]",
    "a field of its own": "more: int = 2",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_calls_a_constructor_that_would_find_sizes_stays_linen(what: str) -> None:
    result = migrate(named_outside(f"{PARTS}class More(Net):\n  {REFUSED[what]}\n"))
    outcomes = {r.qualname: r.outcome.value for r in result.classes}
    assert (outcomes["m.Net"], outcomes["m.More"]) == ("bridged", "bridged")
