"""Functions that change what they are given behind their parameters, or that are not seen to be given it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

REFUSED = {
    "keywords that the function changes": (
        "NNX137",
        """def norm(**kwargs):
  kwargs["epsilon"] = 1e-3
  return nn.LayerNorm(**kwargs)
""",
        "norm(use_scale=False)",
    ),
    "keywords that it reads": (
        "NNX113",
        """def norm(**kwargs):
  scale = kwargs.pop("scaled", True)
  return nn.LayerNorm(use_scale=scale, **kwargs)
""",
        "norm(scaled=False)",
    ),
    "arguments of which one is taken away": (
        "NNX137",
        """def norm(*args):
  return nn.LayerNorm(*args[1:])
""",
        "norm(1, 1e-3)",
    ),
}


HELPER = """def norm(kind, x):
  if kind == "rms":
    return nn.RMSNorm()(x)
  return nn.LayerNorm()(x)
"""
NUMBERED = {
    "a call under a condition of the call": """if train:
      x = norm(self.kind, x)
    return norm(self.kind, x)""",
}


@pytest.mark.parametrize("name", NUMBERED)
def test_it_cannot_be_numbered(name: str) -> None:
    text = f"""from flax import linen as nn


{HELPER}

class M(nn.Module):
  kind: str = "rms"
  other: str = "rms"
  first: bool = True
  @nn.compact
  def __call__(self, x, train: bool = False):
    {NUMBERED[name]}
"""
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX135"), plan.reason


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, function, call = REFUSED[name]
    text = f"""from typing import Any
from flax import linen as nn


{function}

class M(nn.Module):
  options: Any = None
  @nn.compact
  def __call__(self, x):
    return {call}(x)
"""
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason


def test_a_choice_of_unknown_functions_says_nothing() -> None:
    text = """from typing import Any
from flax import linen as nn


class M(nn.Module):
  one: Any = None
  other: Any = None
  @nn.compact
  def __call__(self, x):
    if self.one is not None:
      function = self.one
    else:
      function = self.other
    return nn.Dense(3)(function(x))
"""
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    asked = [added.name for added in plan.added_arguments]
    assert plan.outcome == "bridged" or "in_features" not in asked, asked
