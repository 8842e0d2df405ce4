"""Flags that NNX takes at the call must mean there what they meant where Linen took them, at the construction."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from functools import partial
from flax import linen as nn


class M(nn.Module):
"""

CALLED = "  @nn.compact\n  def __call__(self, x, train: bool = True):\n"

REFUSED = {
    "assigned before the call": """    norm = nn.BatchNorm(use_running_average=not train)
    train = not train
    return norm(x)
""",
    "assigned after a partial": """    norm = partial(nn.BatchNorm, use_running_average=not train)
    train = not train
    return norm()(x)
""",
    "a loop's variable": """    norm = nn.BatchNorm(use_running_average=not train)
    for train in (True, False):
      x = x + 1
    return norm(x)
""",
    "assigned at the end of a pass": """    norm = nn.BatchNorm(use_running_average=not train)
    for i in range(2):
      x = norm(x)
      train = False
    return x
""",
    "called by an nn.Sequential, which hands on no flags, and by itself": """    layers = [nn.Dense(4)]
    layers.append(nn.BatchNorm(use_running_average=not train))
    return nn.Sequential(layers)(x) + layers[1](x)
""",
    "called by an nn.Sequential and in a loop": """    layers = []
    for _ in range(2):
      layers.append(nn.Dense(4))
      layers.append(nn.BatchNorm(use_running_average=not train))
    y = nn.Sequential(layers)(x)
    for layer in layers:
      x = layer(x)
    return x + y
""",
    "two flags under one name": """    fixed = not train
    drop = nn.Dropout(0.5, deterministic=fixed)
    fixed = True
    return drop(x)
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_flag_that_changes_is_refused(name: str) -> None:
    _expect(HEAD + CALLED + REFUSED[name], "bridged", "NNX172")


OWN = """from functools import partial
from typing import Optional
from flax import linen as nn


class ByField(nn.Module):
  train: bool = False
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(5)(x)
    return x * 2 if self.train else x


class Merges(nn.Module):
  train: Optional[bool] = None
  @nn.compact
  def __call__(self, x, train=None):
    train = nn.merge_param('train', self.train, train)
    x = nn.Dense(5)(x)
    return x * 2 if train else x


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
"""
OWN_REFUSED = {
    "assigned before the call": "    m = {}(train=train)\n    train = not train\n    return m(x)\n",
    "assigned at the end of a pass": """    m = {}(train=train)
    for i in range(3):
      x = m(x)
      train = not train
    return x
""",
    "an argument of an inner function": """    m = {}(train=train)
    def call(y, train=True):
      return m(y)
    return call(x)
""",
    "assigned after the inner function that calls": """    m = {}(train=train)
    def call(y):
      return m(y)
    train = not train
    return call(x)
""",
    "another one in the method that calls": "    return self.run({}(train=train), x, not train)\n"
    "  def run(self, m, x, train):\n    return m(x)\n",
}


@pytest.mark.parametrize("name", OWN_REFUSED)
@pytest.mark.parametrize("kind", ["ByField", "Merges", "nn.remat(ByField)", "nn.remat(Merges)"])
def test_a_flag_of_a_class_that_changes_is_refused(kind: str, name: str) -> None:
    text = OWN + OWN_REFUSED[name].format(kind)
    plan = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX172"), plan.reason


MAPPED = """nn.map_variables(ByField, "params", lambda p: p, lambda p: p, init=True)"""
LIFTED = OWN + f"    return {MAPPED}(name='kept')(x) + ByField(train=train)(x)\n"
COMPARED = OWN.replace("if self.train else", "if self.train is not None else") + "    return ByField(train=train)(x)\n"


@pytest.mark.parametrize("text", [LIFTED, COMPARED], ids=["lifted", "compared with None"])
def test_a_flag_of_a_class_stays_with_its_constructor_and_is_lent(text: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert plan.outcome == "native", plan.reason
    assert "linen_parity.with_fields(self.ByField_0, train=train)(x)" in (result.files[0].after or "")


HELPER = HEAD + "  def make(self, train):\n    return nn.BatchNorm(use_running_average=not train)\n" + CALLED


def test_a_flag_of_a_helper_is_the_callers_under_the_same_name() -> None:
    _expect(HELPER + "    return self.make(train)(x)\n", "native", "")
    _expect(HELPER + "    return self.make(not train)(x)\n", "bridged", "NNX172")


def _expect(text: str, outcome: str, code: str) -> None:
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == (outcome, code), plan.reason
