"""Functions that hand out a norm or nothing, where what they hand out cannot be said in the class that calls them."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

HELPER = """from functools import partial
from flax import linen as nn


def get_norm(kind, train):
  if kind == 'batch':
    return partial(nn.BatchNorm, use_running_average=not train)
  return {nothing}
"""
CLASS = """from functools import partial
from flax import linen as nn
from helpers import get_norm


class M(nn.Module):
  kind: str = 'batch'
  @nn.compact
  def __call__(self, x, training=False):
{body}"""

IDENTITY = "lambda *args, **kwargs: lambda x: x"
CALL = "    return get_norm(self.kind, training)()(x)\n"

NOTHINGS = {
    "it asks for an argument": "lambda axis, **kwargs: lambda x: x",
    "it computes something": "lambda *args, **kwargs: lambda x: 2 * x",
    "it gives another argument back": "lambda *args, **kwargs: lambda x, y=None: y",
}
BODIES = {
    "what may be nothing is handed on": ("NNX132", "    return nn.Sequential([get_norm(self.kind, training)()])(x)\n"),
    "its input is a keyword": ("NNX132", "    return get_norm(self.kind, training)()(x=x)\n"),
    "the flag changes before the layer is called": (
        "NNX172",
        "    norm = get_norm(self.kind, training)\n    training = not training\n    return norm()(x)\n",
    ),
    "the call chooses": ("NNX132", "    return get_norm(training, training)()(x)\n"),
}


@pytest.mark.parametrize("name", NOTHINGS)
def test_a_function_that_does_more_is_not_nothing(name: str) -> None:
    _expect(HELPER.format(nothing=NOTHINGS[name]), CALL, "bridged", "NNX132")


NARROW = HELPER.format(nothing="lambda: lambda x: x")
BLOCK = """

class Block(nn.Module):
  norm: object
  @nn.compact
  def __call__(self, x):
    return self.norm()(x)
"""


def test_one_that_takes_no_arguments_is_called_without() -> None:
    _expect(NARROW, CALL, "native", "")
    _expect(NARROW, "    return get_norm(self.kind, training)(name='norm')(x)\n", "bridged", "NNX132")


def test_one_that_takes_arguments_of_its_own_is_not_handed_on() -> None:
    """NNX would call it with a size and `rngs`; one that takes none is made to take any."""
    body = "    from helpers import Block\n    return Block(get_norm(self.kind, False))(x)\n"
    _expect(NARROW + BLOCK, body, "native", "")
    _expect(HELPER.format(nothing="lambda name=None: lambda x: x") + BLOCK, body, "bridged", "NNX132")


@pytest.mark.parametrize("name", BODIES)
def test_it_is_refused(name: str) -> None:
    code, body = BODIES[name]
    _expect(HELPER.format(nothing=IDENTITY), body, "bridged", code)


def test_a_flag_of_a_function_in_another_file_reaches_the_call() -> None:
    result = _expect(HELPER.format(nothing=IDENTITY), CALL, "native", "")
    after = {f.path.stem: f.after for f in result.files}
    assert "self.BatchNorm_0(x, use_running_average=not training) if self.kind == 'batch' else x" in str(after["m"])
    assert after["helpers"] is None or "use_running_average=not train" in after["helpers"]


@pytest.mark.parametrize("change", ["  train = not train\n", "  train = bool(train)\n"])
def test_a_flag_that_the_function_computes_is_refused(change: str) -> None:
    helper = HELPER.format(nothing=IDENTITY).replace("  if kind", f"{change}  if kind")
    _expect(helper, CALL, "bridged", "NNX172")


def test_a_name_that_the_function_refuses_fails_here_too() -> None:
    """What is nothing under one name is not nothing under all others."""
    helper = HELPER.format(nothing=IDENTITY).replace("  return lambda", "  if kind == 'none':\n    return lambda")
    result = _expect(helper + "  raise ValueError(kind)\n", CALL, "native", "")
    after = {f.path.stem: f.after for f in result.files}["m"]
    assert after is not None and "(x if self.kind == 'none' else None)" in after


def _expect(helper: str, body: str, outcome: str, code: str) -> RunResult:
    texts = (("helpers", helper), ("m", CLASS.format(body=body)))
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, t) for n, t in texts])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == (outcome, code), plan.reason
    return result


PICKED = """from functools import partial
from typing import Any
from flax import linen as nn


def get_norm(kind, train):
  if kind == 'batch':
    norm = partial(nn.BatchNorm, use_running_average=not train)
  elif kind == 'other':
    norm = {other}
  else:
    raise ValueError(kind)
  return norm


class Block(nn.Module):
  norm: Any
  @nn.compact
  def __call__(self, x):
    return self.norm()(x)


class M(nn.Module):
  kind: str = 'batch'
  @nn.compact
  def __call__(self, x, training=False):
    return Block(get_norm({kind}, training))(x)
"""


@pytest.mark.parametrize(
    "other, kind, outcome, code",
    [
        ("nn.LayerNorm", "self.kind", "native", ""),
        ("partial(nn.BatchNorm, use_running_average=train)", "self.kind", "bridged", "NNX172"),
        ("nn.LayerNorm", "'batch' if training else 'other'", "bridged", "NNX113"),
        ("nn.remat(nn.LayerNorm)", "self.kind", "bridged", "NNX150"),
    ],
    ids=["one flag", "flags that differ", "the call chooses", "a lifted layer"],
)
def test_a_norm_that_a_function_picks_is_handed_on(other: str, kind: str, outcome: str, code: str) -> None:
    text = PICKED.format(other=other, kind=kind)
    plan = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]
    assert (plan.outcome, plan.code) == (outcome, code), plan.reason


STAYS = """from functools import partial
from typing import Any
from flax import linen as nn


def get_norm(kind):
  if kind is None:
    return None
  return partial(nn.LayerNorm, use_bias=False) if kind == 'layer' else partial(nn.RMSNorm, epsilon=1e-3)


class Block(nn.Module):
  norm: Any = None
  depth: int = 2
  @nn.compact
  def __call__(self, x):
    i = 0
    while i < self.depth:
      x = nn.Dense(3, name=f'dense_{i}')(x)
      if self.norm is not None:
        x = self.norm(name=f'norm_{i}')(x)
      i += 1
    return x


class M(nn.Module):
  kind: Any = None
  @nn.compact
  def __call__(self, x):
    BODY
"""


@pytest.mark.parametrize(
    "body",
    [
        "norm = get_norm(self.kind)\n    return Block(norm)(x)",
        "return Block(norm=get_norm(self.kind))(x)",
        "kinds = {'layer': nn.LayerNorm}\n    return Block(kinds.get(self.kind))(x)",
        "return Block([nn.LayerNorm, nn.RMSNorm][0])(x)",
    ],
)
def test_a_class_that_stays_linen_is_given_no_norm_of_nnx(body: str) -> None:
    """What wraps it would hand it a factory that has become NNX."""
    text = STAYS.replace("BODY", body)
    (source,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    plans = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}
    assert (plans["m.Block"].outcome, plans["m.Block"].code) == ("bridged", "NNX122")
    assert (plans["m.M"].outcome, plans["m.M"].code) == ("bridged", "NNX150"), plans["m.M"].reason
    assert source.after is None or "nnx.LayerNorm" not in source.after
