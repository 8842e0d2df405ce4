"""Widths that the loop of a list says by names which it changes: what reads them later keeps its class Linen."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import both, migrate

HEAD = """class M(nn.Module):
  width: int = 4
  @nn.compact
  def __call__(self, x):
    a, b = [], []
    ch = self.width
    for _ in range(3):
      a.append(nn.Dense(ch))
      ch *= 2
"""
STAYS = {
    "what is called with the last width": "x = nn.Dense(ch)(x)\nfor p in a:\n  x = p(x)\nreturn x",
    "a layer of the last width in each pass": "for p in a:\n  x = nn.Dense(ch)(p(x))\nreturn x",
    "an item by its place": "y = a[0](x)\nreturn nn.Dense(ch)(nn.Dense(ch)(a[1](y)) + nn.Dense(3)(a[2](y)))",
}


@pytest.mark.parametrize("what", STAYS)
def test_it_stays_linen(what: str) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in STAYS[what].splitlines())
    (plan,) = migrate(text).classes
    assert str(plan.outcome) == "bridged", plan.reason


SETUP = """class M(nn.Module):
  def setup(self):
    a, ch = [], 4
    for _ in range(3):
      a.append(nn.Dense(ch))
      ch *= 2
    self.a = a
    self.heads = [nn.Dense(3) for _ in range(3)]
    self.out = nn.Dense(3)

  def __call__(self, x):
"""


def test_widths_of_passes_do_not_reach_another_list_of_setup() -> None:
    """The other list's layers are made for what they are called with."""
    loop = "    for p, q in zip(self.a, self.heads):\n      x = p(x)\n      t = t + q(x)\n"
    old, new, result = both(f"{SETUP}    t = 0\n{loop}    return self.out(t)\n")
    (plan,) = result.classes
    assert str(plan.outcome) == "native", plan.reason
    x = jnp.ones((2, 5)) / 7
    variables = old.M().init(jax.random.key(0), x)
    assert compat.check_equivalence(old.M(), variables, new.M(in_shape=x.shape, rngs=nnx.Rngs(0)), x)


@pytest.mark.parametrize("given", ["x", "y"])
def test_what_the_last_pass_left_is_known_where_the_loop_follows_it(given: str) -> None:
    """What it gave another name is asked for: the name of its width has another value behind the loop."""
    text = SETUP + f"    for p in self.a:\n      x = p(x)\n      y = nn.relu(x)\n    return self.out({given})\n"
    result = migrate(text.replace("    self.heads = [nn.Dense(3) for _ in range(3)]\n", ""))
    (plan,) = result.classes
    assert str(plan.outcome) == "native", plan.reason
    asked = {argument.origin for argument in plan.added_arguments}
    assert asked == {"x.shape[-1]"} | ({"y.shape[-1]"} if given == "y" else set())
