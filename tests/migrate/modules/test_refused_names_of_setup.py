"""What setup holds under names that Linen does not have, and code asks for in ways that no new name would answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "import flax.linen as nn\nimport jax.numpy as jnp\n\n\n"
INIT = "nn.initializers.normal(), (3,)"
REFUSED = {
    "it is asked for by its name": (
        "NNX180",
        f"self.token = self.param('token.weight', {INIT})",
        "return x + self.token if hasattr(self, 'token') else x",
    ),
    "a lifted function asks another name for it": (
        "NNX180",
        f"self.token = self.param('token_weight', {INIT})",
        "def f(mdl, x):\n      return x + mdl.token\n    return nn.remat(f)(self, x)",
    ),
    "variables in a list": (
        "NNX155",
        "self.seen = [self.variable('stats', 'a', jnp.zeros, (3,)), self.variable('stats', 'b', jnp.zeros, (3,))]",
        "return x + self.seen[0].value + self.seen[1].value",
    ),
    "variables in a dict": (
        "NNX155",
        "self.seen = {k: self.variable('stats', f'of_{k}', jnp.zeros, (3,)) for k in ('u', 'v')}",
        "return x + self.seen['u'].value + self.seen['v'].value",
    ),
    "variables of two names under one attribute": (
        "NNX155",
        "if self.kind:\n      self.seen = self.variable('stats', 'a', jnp.zeros, (3,))\n"
        "    else:\n      self.seen = self.variable('stats', 'b', jnp.zeros, (3,))",
        "return x + self.seen.value",
    ),
    "variables of two names under one local name": (
        "NNX155",
        "if self.kind:\n      seen = self.variable('stats', 'a', jnp.zeros, (3,))\n"
        "    else:\n      seen = self.variable('stats', 'b', jnp.zeros, (3,))\n    self.seen = seen",
        "return x + self.seen.value",
    ),
    "a variable whose name is a field's": (
        "NNX155",
        "self.seen = None\n    if self.kind:\n"
        "      self.seen = self.variable('stats', f'{self.name_of}_a', jnp.zeros, (3,))",
        "return x if self.seen is None else x + self.seen.value",
    ),
}


def test_what_a_compact_method_makes_is_not_made_behind_a_return_of_setup() -> None:
    text = f"""{HEAD}class M(nn.Module):
  gate: bool = False

  def setup(self):
    self.out = nn.Dense(3)
    if not self.gate:
      return
    self.gated = nn.Dense(3)

  @nn.compact
  def __call__(self, x):
    y = self.out(nn.Dense(4, name="inner")(x))
    return self.gated(y) if self.gate else y
"""
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX180"), plan.reason


@pytest.mark.parametrize("case", REFUSED)
def test_it_stays_linen(case: str) -> None:
    code, made, called = REFUSED[case]
    text = (
        f"{HEAD}class M(nn.Module):\n  kind: bool = True\n  name_of: str = 'a'\n\n"
        f"  def setup(self):\n    {made}\n\n  def __call__(self, x):\n    {called}\n"
    )
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason
