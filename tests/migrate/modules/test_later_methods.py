"""NNX185: a module whose sizes its first call tells, of which other methods of the class ask for more than its call."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .outside_code import named_outside
from .test_later_sizes import both, migrate

PARTS = """class Net(nn.Module):
  width: int = 5
  def setup(self):
    self.first = nn.Dense(self.width)
    self.second = nn.Dense(self.width)
  def encode(self, x, scale=1.0):
    return nn.relu(self.first(x)) * scale
  def __call__(self, x):
    return self.second(self.encode(x)) + x.sum()


"""
HEADS = {
    "another method asks for more": """class M(nn.Module):
  def setup(self):
    self.net = Net()
    self.head = nn.Dense(3)
  def __call__(self, x):
    return self.head(self.net(leaves(x)[0]))
  def other(self, x):
    return self.head(self.net.encode(leaves(x)[0], scale=2.0))
""",
    "above the call, which it makes too": """class M(nn.Module):
  def setup(self):
    self.net = Net(6)
  def other(self, x):
    return self.net.encode(x) + self(x)
  def __call__(self, x):
    return self.net(leaves(x)[0])
""",
    "by another method": """class M(nn.Module):
  def setup(self):
    self.net = Net()
    self.head = nn.Dense(2)
  def ask(self, x):
    return self.net.encode(x)
  def __call__(self, x):
    return self.head(self.net(leaves(x)[0]))
  def other(self, x):
    return self.head(self.ask(x) + self.net(x))
""",
    "of the modules of a list": """class M(nn.Module):
  def setup(self):
    self.nets = [Net(4) for _ in range(2)]
  def __call__(self, x):
    return sum(net(leaves(x)[0]) for net in self.nets)
  def other(self, x):
    return self.nets[0].encode(x) - self.nets[1].encode(x)
""",
}
STAY = {
    "the call asks for more": """class M(nn.Module):
  def setup(self):
    self.net = Net()
  def __call__(self, x):
    h = leaves(x)[0]
    return self.net.encode(h) + self.net(h)
""",
    "the call does by a method": """class M(nn.Module):
  def setup(self):
    self.net = Net()
  def ask(self, x):
    return self.net.encode(x)
  def __call__(self, x):
    h = leaves(x)[0]
    return self.ask(h) + self.net(h)
""",
    "nothing else calls it": """class M(nn.Module):
  def setup(self):
    self.net = Net()
    self.head = nn.Dense(3)
  def __call__(self, x):
    return self.head(leaves(x)[0])
  def other(self, x):
    return self.net.encode(leaves(x)[0])
""",
}


@pytest.mark.parametrize("name", HEADS)
def test_methods_use_what_the_call_has_made(name: str) -> None:
    old, new, result = both(named_outside(PARTS + HEADS[name]))
    assert {r.outcome.value for r in result.classes} == {"native"}, [r.reason for r in result.classes]
    x = jnp.asarray(np.random.RandomState(0).randn(2, 4), jnp.float32)
    linen = old.M()
    variables = linen.init(jax.random.key(0), x)
    sizes = {a.name: eval(a.origin, {}, {"x": x}) for a in result.classes[-1].added_arguments}
    model = new.M(**sizes, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    for method in ("__call__", "other", "__call__"):
        expected = linen.apply(variables, x, method=method)
        np.testing.assert_array_equal(np.asarray(getattr(model, method)(x)), np.asarray(expected))


@pytest.mark.parametrize("name", STAY)
def test_what_the_call_asks_for_before(name: str) -> None:
    result = migrate(named_outside(PARTS + STAY[name]))
    assert {r.qualname.rpartition(".")[2]: r.outcome.value for r in result.classes}["M"] != "native"
