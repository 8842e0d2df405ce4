"""Factories hold names of the functions that give them; such a function that is called again gives these other values."""

from __future__ import annotations

import pytest

from .test_later_sizes import migrate

HEAD = """import functools

def of(value, train, kind):
  start = nn.initializers.constant(value)
  if kind == "batch":
    return functools.partial(nn.BatchNorm, use_running_average=not train, scale_init=start)
  return functools.partial(nn.LayerNorm, scale_init=start)

def one(value, train):
  start = nn.initializers.constant(value)
  return functools.partial(nn.BatchNorm, use_running_average=not train, scale_init=start)

class Block(nn.Module):
  make: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(self.make()(x))

"""
REFUSED = {
    "names": "a = of(1.0, train, self.kind)\nb = of(2.0, train, self.kind)\nreturn Block(a)(x) + Block(b)(x)",
    "names of one": "a = one(1.0, train)\nb = one(2.0, train)\nreturn Block(a)(x) + Block(b)(x)",
    "a list": (
        "makes = [of(1.0, train, self.kind), of(2.0, train, self.kind)]\nreturn Block(makes[0])(x) + Block(makes[1])(x)"
    ),
    "a dictionary": (
        "makes = {'a': of(1.0, train, self.kind), 'b': of(2.0, train, self.kind)}\n"
        "return Block(makes['a'])(x) + Block(makes['b'])(x)"
    ),
    "called later": ("a = Block(of(1.0, train, self.kind))\nb = Block(of(2.0, train, self.kind))\nreturn a(x) + b(x)"),
    "either": "make = one(1.0, train) if self.kind == 'a' else one(2.0, train)\nreturn Block(make)(x)",
    "an argument that changes": (
        "n = 1.0\nmake = one(n, train)\nn = 2.0\nother = one(n, train)\nreturn Block(make)(other()(x))"
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_later_call_changes_stays_linen(what: str) -> None:
    """The constructor would say both with the values of the last call."""
    head = 'class M(nn.Module):\n  kind: str = "layer"\n  @nn.compact\n  def __call__(self, x, train: bool = False):\n'
    result = migrate(HEAD + head + "".join(f"    {line}\n" for line in REFUSED[what].splitlines()))
    found = {report.qualname.rpartition(".")[2]: report for report in result.classes}
    assert found["M"].outcome.value == "bridged"
    assert found["M"].code == "NNX113", found["M"].reason
