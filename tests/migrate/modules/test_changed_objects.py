"""Objects that change in place after a module was given them: Linen's module sees that at its next call."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import both, migrate

HEAD = """import numpy as np


class Scale(nn.Module):
  factor: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * self.factor


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
"""
STAYS = {
    "before it is called": "m = np.ones(3)\nb = Scale(m)\nm += 4\nreturn b(x)",
    "an item of it": "m = np.ones(3)\nb = Scale(m)\nm[0] = 4\nreturn b(x)",
    "between two calls": "m = np.ones(3)\nb = Scale(m)\ny = b(x)\nm += 4\nreturn b(x) + y",
    "in a loop": "m = np.ones(3)\nb = Scale(m)\nfor _ in range(2):\n  y = b(x)\n  m += 4\nreturn y",
    "before another is given it": "m = np.ones(3)\ny = Scale(m)(x)\nm[0] = 7\nreturn Scale(m)(x) + y",
}
NATIVE = {
    "an array of JAX": "m = jnp.ones(3)\nb = Scale(m)\nm += 4\nreturn b(x)",
    "a number": "m = 2\nb = Scale(m)\nm += 4\nreturn b(x) + m",
    "another object": "m = np.ones(3)\nb = Scale(m)\nm = m + 4\nreturn b(x) + m",
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
