"""Flags that a caller gives to fields at each call: decoding goes step by step as in Linen; the neighbours stay Linen."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .test_forms import sides

LINEN, NATIVE, RESULT = sides("forms_flags_of_callers")


def test_decoding_step_by_step() -> None:
    x, pe = (jnp.asarray(np.random.RandomState(n).randn(*s), jnp.float32) for n, s in enumerate([(2, 6, 4), (1, 6, 4)]))
    module = LINEN.Decoder()
    variables = module.init(jax.random.key(0), x, pe, decode=True)
    model = NATIVE.Decoder(in_features=4, pe_features=4, rngs=nnx.Rngs(0))
    compat.from_linen({"params": variables["params"]}, model)
    np.testing.assert_array_equal(module.apply({"params": variables["params"]}, x, pe), model(x, pe))
    expected, state = module.apply({"params": variables["params"]}, x, pe, decode=True, mutable=["cache"])
    np.testing.assert_array_equal(expected, model(x, pe, decode=True))  # the first call makes the caches
    for step in range(4):
        one = x[:, step : step + 1]
        expected, state = module.apply({"params": variables["params"], **state}, one, pe, decode=True, mutable=["cache"])
        np.testing.assert_array_equal(expected, model(one, pe, decode=True))
    np.testing.assert_array_equal(module.apply({"params": variables["params"]}, x, pe), model(x, pe, decode=False))


HEAD = """import jax
from flax import linen as nn


class Flagged(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * (2 if self.flag else 1)


class Elsewhere(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    return self.scaled(nn.Dense(3)(x))
  def scaled(self, x):
    return x * (2 if self.flag else 1)


class Sized(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4 if self.flag else 3)(x)


class Inherited(Flagged):
  pass


class Alone(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * (2 if self.flag else 1)


def scaled(module, x):
  return x * (2 if module.flag else 1)


class Asked(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    return scaled(self, nn.Dense(3)(x)) + self.flag


class Scanned(nn.Module):
  flag: bool = False
  @nn.compact
  def __call__(self, x):
    def body(module, x, _):
      return x * (2 if module.flag else 1), None
    x = nn.Dense(3)(x) + self.flag
    return nn.scan(body, variable_broadcast="params", split_rngs={"params": False}, length=2)(self, x, None)[0]


class M(nn.Module):
  kind: type = Alone
  @nn.compact
  def __call__(self, x, flag: bool = True):
    return """
OTHERS = "\n\nclass Other(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    return M(kind=Elsewhere)(x)\n"
REFUSED = {
    "a flag that another method reads, kept": ("NNX113", "jax.lax.map(Elsewhere(flag=flag), x)"),
    "a flag of a class that others derive from": ("NNX113", "Flagged(flag=flag)(x)"),
    "a flag of what a field makes, which others may not take": ("NNX113", "self.kind(flag=flag)(x)"),
    "a flag that is read where it was made": ("NNX113", "(m := Alone(flag=flag))(x) * (2 if m.flag else 1)"),
    "a flag that a function reads": ("NNX113", "Asked(flag=flag)(x)"),
    "a flag that a lifted function reads": ("NNX113", "Scanned(flag=flag)(x)"),
    "a flag under a lifted transform": ("NNX113", "nn.remat(Elsewhere)(flag=flag)(x)"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body + "\n" + OTHERS)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason


def test_a_flag_that_sizes_depend_on_stays_with_the_constructor() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + "Sized(flag=flag)(x)\n")])
    plans = {c.qualname: c for c in result.classes}
    assert (plans["m.M"].outcome, plans["m.M"].code) == ("bridged", "NNX113"), plans["m.M"].reason
    assert plans["m.Sized"].outcome == "native" or plans["m.Sized"].code == "NNX177"
