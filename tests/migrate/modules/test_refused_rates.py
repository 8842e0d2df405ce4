"""Fields that a caller gives from its own call's arguments, and that the call cannot take instead."""

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

from .loading import module

DROP = """import flax.linen as nn
import jax.numpy as jnp


class Drop(nn.Module):
  rate: float = {field}

  @nn.compact
  def __call__(self, x, rate={argument}):
{body}    return nn.Dense(3)(x) * rate


class M(nn.Module):
  @nn.compact
  def __call__(self, x, rate=0.5):
    return Drop(rate)(x)
"""
FALLBACK = "    if rate is None:\n      rate = self.rate\n"

REFUSED = {
    "zero counts as not given": ("None", "None", "    rate = rate or self.rate\n"),
    "the call has a rate of its own": ("None", "0.1", FALLBACK),
    "the field has a rate of its own": ("0.1", "None", FALLBACK),
    "the argument is asked before": ("None", "None", "    x = x if rate is None else x * 2\n" + FALLBACK),
    "the field is asked as well": ("None", "None", FALLBACK + "    x = x if self.rate is None else x * 2\n"),
    "only under a condition": ("None", "None", "    if x.ndim > 1:\n      rate = self.rate if rate is None else rate\n"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_field_that_is_more_than_a_fallback_stays_with_the_constructor_and_is_lent(what: str) -> None:
    field, argument, body = REFUSED[what]
    text = DROP.format(field=field, argument=argument, body=body)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    after = result.files[0].after
    assert after is not None and "linen_parity.with_fields(self.Drop_0, rate=rate)(x)" in after
    for path, content in result.created.items():
        module(path.stem, content)
    old, new, x = module("rates_linen", text), module("rates_nnx", after), jnp.ones((2, 3))
    variables = old.M().init(jax.random.key(0), x)
    plan = {c.qualname: c for c in result.classes}["m.M"]
    model = new.M(**{a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    for rate in (0.5, 0.0, 2.0):
        np.testing.assert_array_equal(model(x, rate), old.M().apply(variables, x, rate))


def test_the_fallback_itself_is_followed() -> None:
    _expect(DROP.format(field="None", argument="None", body=FALLBACK), "native", "")


def test_a_merged_flag_that_is_read_as_well_stays_with_the_constructor() -> None:
    merged = "    rate = nn.merge_param('rate', self.rate, rate)\n"
    _expect(DROP.format(field="None", argument="None", body=merged), "native", "")
    read = merged + "    x = x if self.rate is None else x * 2\n"
    _expect(DROP.format(field="None", argument="None", body=read), "bridged", "NNX113")


UNREAD = """import flax.linen as nn


class Block(nn.Module):
  rate: float = 0.1
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x){more}


class M(nn.Module):
  @nn.compact
  def __call__(self, x, rate=0.5):
    block = Block(rate)
    return block(x){after}
"""


def test_a_field_that_nothing_reads_is_left_out_and_no_other() -> None:
    _expect(UNREAD.format(more="", after=""), "native", "")
    _expect(UNREAD.format(more=" * self.rate", after=""), "native", "")  # each call lends it
    _expect(UNREAD.format(more="", after=" * block.rate"), "bridged", "NNX113")
    _expect(UNREAD.format(more=" * len(repr(self))", after=""), "bridged", "NNX113")


RATE = """import flax.linen as nn


class M(nn.Module):
  @nn.compact
  def __call__(self, x, rate=0.5):
    drop = nn.Dropout(rate, deterministic=False)
    rate = rate / 2
    return drop(x) * rate
"""


def test_a_rate_that_changes_before_the_call_is_refused() -> None:
    _expect(RATE, "bridged", "NNX172")


OVER = """import flax.linen as nn


class Base(nn.Module):
  train: bool | None = None
  @nn.compact
  def __call__(self, x, train=None):
    train = nn.merge_param('train', self.train, train)
    x = nn.Dense(3)(x)
    return x if train else nn.tanh(x)


class Derived(Base):
  @nn.compact
  def __call__(self, x, train=None):
    return super().__call__({given})


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    return Derived(train=train)(x)
"""


@pytest.mark.parametrize(
    "given, outcome, code",
    [
        ("x, train=train", "native", ""),
        ("x if train is None else 2 * x, train=train", "bridged", "NNX113"),
        ("x", "bridged", "NNX113"),
    ],
    ids=["handed on", "asked as well", "not handed on"],
)
def test_a_flag_that_is_handed_to_the_base_is_merged_there(given: str, outcome: str, code: str) -> None:
    _expect(OVER.format(given=given), outcome, code)


LOOP = """import flax.linen as nn


class Gate(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x * self.param('gate', nn.initializers.ones, ())


class M(nn.Module):
  @nn.compact
  def __call__(self, x, train=False, first=0):
    for i in range(3):
      if {asked}:
        x = {made}(x)
    return x
"""


OF_PASSES = "train and i > first", "x.sum() > 0"  # the call says which of them there are


@pytest.mark.parametrize(
    "made, outcome",
    [
        ("nn.Dropout(0.1, deterministic=False)", "native"),
        ("nn.Dropout(0.1 * i, deterministic=False)", "bridged"),
        ("Gate()", "bridged"),
    ],
    ids=["alike", "a rate of its own for each", "with a parameter"],
)
@pytest.mark.parametrize("asked", OF_PASSES)
def test_modules_of_a_loop_that_a_call_may_skip_are_alike(made: str, outcome: str, asked: str) -> None:
    _expect(LOOP.format(made=made, asked=asked), outcome, "NNX157" if outcome == "bridged" else "")


@pytest.mark.parametrize("made", ["nn.Dropout(0.1 * i, deterministic=False)", "Gate()"])
@pytest.mark.parametrize("asked", ["train", "train and i > 0", "i > 0 and not train"])
def test_those_that_a_flag_skips_together_need_not_be(made: str, asked: str) -> None:
    _expect(LOOP.format(made=made, asked=asked), "native", "")
    again = LOOP.format(made=made, asked=asked).replace("    return x\n", "      train = not train\n    return x\n")
    _expect(again, "bridged", "NNX157")


def _expect(text: str, outcome: str, code: str) -> None:
    plan = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}["m.M"]
    assert (plan.outcome, plan.code) == (outcome, code), plan.reason
