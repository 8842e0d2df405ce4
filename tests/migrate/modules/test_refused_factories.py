"""Factories that go where they cannot be followed: what they would make must not be missing from the constructor."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import functools
import typing
from functools import partial
from typing import Any
from flax import linen as nn


class M(nn.Module):
  big: bool = False
  kind: str = 'ln'
  norm: Any = None
  @nn.compact
  def __call__(self, x):
"""

REFUSED = {
    "map": ("NNX138", "for layer in map(nn.Dense, [4, 5]):\n  x = layer(x)\nreturn x"),
    "a cast": ("NNX138", "return typing.cast(Any, nn.LayerNorm)()(x)"),
    "a table that is asked with get": ("NNX132", "return {'ln': nn.LayerNorm, 'rms': nn.RMSNorm}.get(self.kind)()(x)"),
    "and, or": ("NNX132", "return ((self.big and nn.LayerNorm) or nn.RMSNorm)()(x)"),
    "a tuple with a computed index": ("NNX132", "return (nn.LayerNorm, nn.RMSNorm)[self.big]()(x)"),
    "a field or a layer": ("NNX132", "norm = partial(self.norm or nn.LayerNorm, epsilon=1e-2)\nreturn norm()(x)"),
    "a loop over classes": ("NNX132", "for cls in (nn.LayerNorm, nn.RMSNorm):\n  x = cls()(x)\nreturn x"),
    "a loop over partials": (
        "NNX132",
        "for make in [partial(nn.Dense, 3), partial(nn.Dense, 4, False)]:\n  x = make()(x)\nreturn x",
    ),
    "a kind of the last pass, after the loop": (
        "NNX132",
        "for kind in self.kind:\n  cls = nn.LayerNorm if kind == 'a' else nn.RMSNorm\nreturn cls()(x)",
    ),
    "a kind of a pass whose name has changed": (
        "NNX132",
        """for kind in self.kind:
  cls = nn.LayerNorm if kind == 'a' else nn.RMSNorm
  kind = 'b'
  x = cls()(x)
return x""",
    ),
    "a kind of a pass in a loop within it": (
        "NNX132",
        """for kind in self.kind:
  cls = nn.LayerNorm if kind == 'a' else nn.RMSNorm
  for kind in self.kind:
    x = cls()(x)
return x""",
    ),
    "a kind of the pass before": (
        "NNX138",
        """cls = nn.LayerNorm
for kind in self.kind:
  x = cls()(x)
  cls = nn.LayerNorm if kind == 'a' else nn.RMSNorm
return x""",
    ),
    "a kind by what a call says": (
        "NNX132",
        """kinds = list(self.kind)
for i in range(2):
  cls = nn.LayerNorm if kinds.pop() == 'a' else nn.RMSNorm
  x = cls()(x)
return x""",
    ),
    "a transform or none of a layer that is made": (
        "NNX130",
        "wrap = nn.remat if self.big else (lambda cls: cls)\nreturn wrap(nn.Dense(3))(x)",
    ),
    "a transform or none with options": (
        "NNX130",
        "wrap = nn.remat if self.big else (lambda cls: cls)\nreturn wrap(nn.Dense, prevent_cse=False)(3)(x)",
    ),
    "a transform or none of what a field holds": (
        "NNX130",
        "norm = self.norm or nn.LayerNorm\nwrap = nn.remat if self.big else (lambda cls: cls)\nreturn wrap(norm)()(x)",
    ),
    "perhaps none": ("NNX132", "cls = None\nif self.big:\n  cls = nn.LayerNorm\nif cls:\n  x = cls()(x)\nreturn x"),
    "a partial that holds what changes": (
        "NNX132",
        """eps = 1e-2
norm = partial(nn.LayerNorm, epsilon=eps) if self.big else partial(nn.RMSNorm, epsilon=eps)
eps = 0.7
return norm()(x) * eps""",
    ),
    "a partial that holds what changes in the loop": (
        "NNX132",
        """eps = 1e-2
for i in range(2):
  norm = partial(nn.LayerNorm if self.big else nn.RMSNorm, epsilon=eps)
  eps = eps * 10
  x = norm()(x)
return x""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, body = REFUSED[name]
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    (plan,) = result.classes
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason


@pytest.mark.usefixtures("sizes_by_reading")
def test_a_function_is_no_activation_for_three_letters_in_its_name() -> None:
    text = """from typing import Callable
from flax import linen as nn


class M(nn.Module):
  interact: Callable
  @nn.compact
  def __call__(self, x):
    x = self.interact(nn.Dense(8)(x))
    scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
    return x * scale
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    (plan,) = result.classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX111"), plan.reason
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text.replace("interact", "act_fn"))]).classes
    assert plan.outcome == "native", plan.reason


def test_rates_that_are_taken_out_of_a_list_are_refused() -> None:
    text = """import numpy as np
from flax import linen as nn


class Block(nn.Module):
  rate: float
  @nn.compact
  def __call__(self, x):
    return nn.Dropout(self.rate, deterministic=True)(nn.Dense(6)(x))


class M(nn.Module):
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    rates = list(np.linspace(0, 0.1, self.depth))
    for i in range(self.depth):
      x = Block(rates.pop(0))(x)
    return x
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX113"), plan.reason


@pytest.mark.parametrize("used", [False, True])
def test_whether_code_gives_a_field_anything_is_said(used: bool) -> None:
    text = """from typing import Any
from flax import linen as nn


class Block(nn.Module):
  head: Any
  @nn.compact
  def __call__(self, x):
    return self.head()(nn.Dense(3)(x))
"""
    if used:
        text += "\n\ndef make(heads):\n  return Block(heads())\n"
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX138"), plan.reason
    said = "what its field `head` is given is not known" if used else "no code here constructs it"
    assert plan.reason is not None and plan.reason.startswith(said), plan.reason


def test_a_class_of_another_package_is_named() -> None:
    text = """from flax import linen as nn
from elsewhere import blocks


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(blocks.Encoder(8)(x))
"""
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(bridge=False)).classes
    assert (plan.outcome, plan.code) == ("manual", "NNX138"), plan.reason
    assert plan.reason is not None and plan.reason.startswith("`elsewhere.blocks.Encoder` is of a package"), plan.reason
