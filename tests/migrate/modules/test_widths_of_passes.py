"""Widths that the loop of a list says by names which it changes: what reads them later keeps its class Linen."""

from __future__ import annotations

import pytest

from .test_later_sizes import migrate

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
    "two lists of loops that change it": "for _ in range(3):\n  b.append(nn.Dense(ch))\n  ch //= 2\n"
    "for p, q in zip(a, b):\n  x = q(p(x))\nreturn x",
}


@pytest.mark.parametrize("what", STAYS)
def test_it_stays_linen(what: str) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in STAYS[what].splitlines())
    (plan,) = migrate(text).classes
    assert str(plan.outcome) == "bridged", plan.reason


def test_a_width_that_changes_between_two_lists_of_one_loop() -> None:
    text = HEAD.replace("ch *= 2\n", "ch *= 2\n      b.append(nn.Dense(ch))\n") + (
        "    for p, q in zip(a, b):\n      x = q(p(x))\n    return x\n"
    )
    (plan,) = migrate(text).classes
    assert str(plan.outcome) == "bridged", plan.reason
