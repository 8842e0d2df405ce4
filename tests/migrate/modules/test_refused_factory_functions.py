"""Functions that hand out factories where the caller's fields do not say which, and axes that are only read."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from functools import partial
from typing import Any, Optional
from flax import linen as nn
from flax.linen import partitioning


def norm(rms):
  if rms:
    return lambda use_bias, *args, **kwargs: nn.RMSNorm(*args, **kwargs)
  return nn.LayerNorm


def shortened(rms):
  if rms:
    return lambda *args, **kwargs: nn.RMSNorm(*args[1:], **kwargs)
  return nn.LayerNorm


class Block(nn.Module):
  deterministic: Optional[bool] = None
  @nn.compact
  def __call__(self, x, deterministic: Optional[bool] = None):
    y = nn.Dense(4)(x)
    if self.deterministic:
      return y
    return nn.tanh(y) if nn.merge_param('deterministic', self.deterministic, deterministic) else y


class Step(nn.Module):
  @nn.compact
  def __call__(self, x, _):
    return nn.Dense(3)(x), None


class M(nn.Module):
  kind: str = 'ln'
  @nn.compact
  def __call__(self, x, train=False):
"""

REFUSED = {
    "a flag of the call chooses": ("NNX132", "return norm(train)(use_bias=False)(x)"),
    "a lambda that takes its arguments apart": ("NNX132", "return shortened(self.kind == 'rms')()(x)"),
    "a lambda that is not given what it needs": ("NNX132", "return norm(self.kind == 'rms')()(x)"),
    "a mapping that is handed on": ("NNX132", "more = {'use_bias': True}\nreturn norm(self.kind == 'rms')(**more)(x)"),
    "a flag that the class reads itself, given twice": (
        "NNX113",
        "return Block(deterministic=train)(x, deterministic=train)",
    ),
    "an axis that is only read": (
        "NNX168",
        "scan = nn.scan(Step, variable_axes={'params': partitioning.ScanIn(0)}, split_rngs={'params': True}, length=2)\n"
        "return scan()(x, None)[0]",
    ),
    "another axis afterwards": (
        "NNX168",
        "axis = 0 if self.is_initializing() else partitioning.ScanIn(1)\n"
        "scan = nn.scan(Step, variable_axes={'params': axis}, split_rngs={'params': True}, length=2)\n"
        "return scan()(x, None)[0]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, body = REFUSED[name]
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason


def test_what_a_function_refuses_is_not_made() -> None:
    """The last kind of several is not made for everything else: the function raises there."""
    last = "return nn.LayerNorm\n\n\ndef shortened"
    text = HEAD.replace(last, f"if rms is None:\n    {last}")
    text += "    return norm(self.kind)(use_bias=False)(x)\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert plan.outcome == "native", plan.reason
    after = result.files[0].after
    assert after is not None and "elif kind is None:\n      self.LayerNorm_0 = " in after


@pytest.mark.parametrize(("own", "outcome"), [("", "native"), ("SMALL = ()\n", "bridged")])
def test_a_condition_is_said_with_the_names_of_its_file(own: str, outcome: str) -> None:
    helpers = """from flax import linen as nn
SMALL = ('rms',)


def norm(kind):
  return nn.RMSNorm if kind in SMALL else nn.LayerNorm
"""
    text = f"""from flax import linen as nn
from helpers import norm

{own}
class M(nn.Module):
  kind: str = 'ln'
  @nn.compact
  def __call__(self, x):
    return norm(self.kind)()(x)
"""
    files = [SourceFile.parse(Path(f"{n}.py"), n, t) for n, t in (("helpers", helpers), ("m", text))]
    result = migrate_project(files)
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert plan.outcome == outcome, plan.reason
    after = next(f.after for f in result.files if f.path.name == "m.py")
    assert after is not None and ("from helpers import SMALL, norm" in after) == (outcome == "native")


def test_what_a_file_of_the_project_takes_from_another_package_unnamed_may_be_a_module() -> None:
    text = """from flax import linen as nn
import parts


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return parts.Block(features=4)(x)
"""
    files = [SourceFile.parse(Path(f"{n}.py"), n, t) for n, t in (("parts", "from elsewhere import *\n"), ("m", text))]
    plan = {c.qualname: c for c in migrate_project(files).classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX138"), plan.reason
