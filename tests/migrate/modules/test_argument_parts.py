"""Items of arguments of which parts are read: the constructor is given an example of them, not shapes of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .outside_code import named_outside
from .test_later_sizes import both

CLASSES = {
    "an array, or a part that is one": """class M(nn.Module):
  wrapped: bool = False
  @nn.compact
  def __call__(self, hidden, x):
    given, dones = x
    if self.wrapped:
      obs = given.obs
    else:
      obs = given
    return nn.Dense(3)(obs) * dones + hidden
""",
    "parts of an item": """class M(nn.Module):
  wrapped: bool = True
  @nn.compact
  def __call__(self, hidden, x):
    given, dones = x
    parts = given
    h = nn.Dense(4)(leaves(parts.obs)[0]) + nn.Dense(4)(leaves(parts.info)[0])
    return nn.Dense(3)(h) * dones + hidden
""",
    "by its number": """class M(nn.Module):
  wrapped: bool = True
  @nn.compact
  def __call__(self, hidden, x):
    h = nn.Dense(4)(leaves(x[0].obs)[0])
    return nn.Dense(3)(h) * x[1] + hidden
""",
    "one of two": """class M(nn.Module):
  wrapped: bool = True
  @nn.compact
  def __call__(self, hidden, x):
    given, dones = x
    parts = given if self.wrapped else dones
    return nn.Dense(3)(leaves(parts.info)[0]) * dones + hidden
""",
    "arrays alone": """class M(nn.Module):
  wrapped: bool = False
  @nn.compact
  def __call__(self, hidden, x):
    given, dones = x
    return nn.Dense(3)(leaves(given)[0]) * dones + hidden + given.T.sum()
""",
}


class Obs(NamedTuple):
    obs: Any
    info: Any


@pytest.mark.parametrize("what", CLASSES)
@pytest.mark.parametrize("wrapped", [False, True])
def test_both_sides_take_what_the_program_gives(what: str, wrapped: bool) -> None:
    old, new, result = both(named_outside(CLASSES[what]))
    assert {r.outcome.value for r in result.classes} == {"native"}, [r.reason for r in result.classes]
    if what in ("parts of an item", "by its number", "one of two") and not wrapped:
        return
    random = np.random.RandomState(0)
    obs, info, dones, hidden = (jnp.asarray(random.randn(*s), jnp.float32) for s in ((2, 4), (2, 5), (2, 1), (2, 3)))
    whole = what == "arrays alone" or not wrapped
    x = (obs if whole else Obs(obs, info), dones)
    linen = old.M(wrapped=wrapped)
    variables = linen.init(jax.random.key(0), hidden, x)
    named = {"hidden": hidden, "x": x}
    sizes = {a.name: eval(a.origin, {}, named) for a in result.classes[-1].added_arguments}
    model = new.M(wrapped=wrapped, **sizes, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(np.asarray(model(hidden, x)), np.asarray(linen.apply(variables, hidden, x)))
