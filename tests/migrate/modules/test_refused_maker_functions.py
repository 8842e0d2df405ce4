"""Functions that make one of several modules for their caller: what they are given, and those that do more."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """from flax import linen as nn


def make(kind, {parameters}):
{body}

class M(nn.Module):
  kind: str = 'layer'
  @nn.compact
  def __call__(self, x, train=False):
    return make({given})(x)
"""
PLAIN = "  if kind == 'rms':\n    return nn.RMSNorm(epsilon=eps)\n  return nn.LayerNorm(epsilon=eps)\n"
CASES = {
    "nothing more": ("eps", PLAIN, "self.kind, 1e-3", "native", ""),
    "an argument of the call": ("eps", PLAIN, "self.kind, 1e-3 if train else 1e-4", "bridged", "NNX113"),
    "arguments of a mapping": ("eps", PLAIN, "self.kind, **{'eps': 1e-3 if train else 1e-4}", "bridged", "NNX113"),
}


@pytest.mark.parametrize("what", CASES)
def test_only_the_choice_is_followed(what: str) -> None:
    parameters, body, given, outcome, code = CASES[what]
    text = TEXT.format(parameters=parameters, body=body, given=given)
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == (outcome, code), plan.reason


HANDED = {
    "arguments that it drops": ("eps, **kwargs", PLAIN, "self.kind, 1e-3, use_scale=False"),
    "a name of its own": ("eps", PLAIN.replace("nn.RMSNorm(", "nn.RMSNorm(name='rms', "), "self.kind, 1e-3"),
    "a computation before": ("eps", "  eps = eps * eps\n" + PLAIN, "self.kind, 1e-3"),
}


@pytest.mark.parametrize("what", HANDED)
def test_a_function_that_does_more_is_handed_what_it_made(what: str) -> None:
    parameters, body, given = HANDED[what]
    text = TEXT.format(parameters=parameters, body=body, given=given)
    after = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files[0].after
    assert after is not None and "return make(self.kind, 1e-3, " in after.replace("\n        ", " ")
