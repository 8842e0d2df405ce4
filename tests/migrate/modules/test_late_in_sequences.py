"""Parts of nn.Sequential, and what is handed to other modules, that wait for the call on shapes: none is left waiting, and
what may not be reached stays Linen.
"""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from flax import nnx

from .test_forms import sides
from .test_later_sizes import after, migrate

HEAD = """from flax import linen as nn
from numpy.polynomial.chebyshev import chebval


class Held(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.inner(x)


class M(nn.Module):
  def setup(self):
    self.a = nn.Dense(4)
    self.head = nn.Sequential([self.a, nn.relu, nn.Dense(2)])
    self.other = nn.Sequential([nn.Dense(2)])
    self.late = nn.Sequential([nn.Dense(2), nn.relu])

  def __call__(self, x, train=False):
"""
REFUSED = {
    "a part that is called, too": "return self.a(chebval(x, [1.0])) + self.head(chebval(x, [1.0, 2.0]))",
    "called under a flag of the call": "return self.late(chebval(x, [1.0, 2.0])) if train else x",
    "handed on": "return Held(self.late)(chebval(x, [1.0, 2.0]))",
    "read": "return self.late(chebval(x, [1.0, 2.0])) + self.late.layers[0].features",
}


def test_parts_of_a_sequence_wait_for_the_call() -> None:
    _, native, result = sides("forms_late_in_sequences")
    text = after(result)
    for name in ("Compact", "OfSetup", "Classes", "Looped", "LoopedSetup", "Inner", "Twice", "Dropped"):
        assert "linen_parity.Later(" in text.partition(f"class {name}(")[2].partition("\nclass ")[0], name
    made = native.OfSetup(in_example=jnp.ones((2, 3)), rngs=nnx.Rngs(0))
    assert not [v for _, v in nnx.iter_graph(made) if type(v).__name__ == "Later"]


def test_what_is_handed_on_waits_for_the_call() -> None:
    _, native, result = sides("forms_late_in_wrappers")
    for name in ("Compact", "OfSetup", "Listed", "Known"):
        assert "linen_parity.Later(" in after(result).partition(f"class {name}(")[2].partition("\nclass ")[0], name
    made = native.OfSetup(in_example=jnp.ones((2, 3)), rngs=nnx.Rngs(0))
    assert not [v for _, v in nnx.iter_graph(made) if type(v).__name__ == "Later"]
    assert made.b.fn is made.inner


HANDED = """from flax import linen as nn
from numpy.polynomial.chebyshev import chebval


class Sometimes(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x, train=False):
    return self.inner(x) if train else x


class Reads(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.inner(x) * self.inner.features


class Waits(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x):
    for _ in range(2):
      x = nn.Dense(3)(chebval(self.inner(x), [0.5, 2.0]))
    return x


class Around(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.inner(x) + x


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    layer = nn.Dense(3)
    return CALL
"""
NOT_CALLED = {
    "under a flag": "Sometimes(layer)(chebval(x, [1.0, 2.0]))",
    "something of it is read": "Reads(layer)(chebval(x, [1.0, 2.0]))",
    "its holder finds sizes itself": "Waits(layer)(chebval(x, [1.0, 2.0]))",
    "called, too": "Around(layer)(chebval(x, [1.0, 2.0])) + layer(chebval(x, [1.0, 2.0]))",
    "handed to two": "Around(layer)(chebval(x, [1.0, 2.0])) + Around(layer)(x)",
}


@pytest.mark.parametrize("case", NOT_CALLED)
def test_what_its_holder_may_not_call_stays_linen(case: str) -> None:
    plans = {c.qualname.rpartition(".")[2]: c for c in migrate(HANDED.replace("CALL", NOT_CALLED[case])).classes}
    assert plans["M"].outcome != "native"
    assert "it is passed on" in plans["M"].reason


@pytest.mark.parametrize("case", REFUSED)
def test_what_may_not_be_reached_stays_linen(case: str) -> None:
    text = f"{HEAD}    {REFUSED[case]}\n"
    plan = next(c for c in migrate(text).classes if c.qualname.endswith(".M"))
    assert plan.outcome != "native"
    assert plan.reason
