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
    "two flags under one name": """    fixed = not train
    drop = nn.Dropout(0.5, deterministic=fixed)
    fixed = True
    return drop(x)
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_flag_that_changes_is_refused(name: str) -> None:
    _expect(HEAD + CALLED + REFUSED[name], "bridged", "NNX172")


HELPER = HEAD + "  def make(self, train):\n    return nn.BatchNorm(use_running_average=not train)\n" + CALLED


def test_a_flag_of_a_helper_is_the_callers_under_the_same_name() -> None:
    _expect(HELPER + "    return self.make(train)(x)\n", "native", "")
    _expect(HELPER + "    return self.make(not train)(x)\n", "bridged", "NNX172")


def _expect(text: str, outcome: str, code: str) -> None:
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == (outcome, code), plan.reason
