"""Modules of other packages with fields that only the call knows: it makes them anew, over variables that are there."""

from __future__ import annotations

import functools
import inspect
import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides, module

LIBRARY = """
from typing import Any
from flax import linen as nn, nnx
import jax, jax.numpy as jnp

class Block(nn.Module):
  width: int
  rate: float = 0.5
  deterministic: Any = None
  train: Any = None
  dtype: Any = None
  @nn.compact
  def __call__(self, x):
    det = self.deterministic if self.train is None else not self.train
    x = nn.Dense(self.width, dtype=self.dtype)(x)
    x = nn.BatchNorm(use_running_average=det)(x)
    self.sow("intermediates", "hidden", x)
    return nn.Dropout(self.rate, deterministic=det)(x)

class Adds(nn.Module):
  train: bool = False
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    return nn.Dense(4)(x) if self.train else x

class AddsStatistics(nn.Module):
  train: bool = False
  @nn.compact
  def __call__(self, x):
    x = nn.BatchNorm(use_running_average=not self.train, use_scale=False, use_bias=False)(x)
    if self.train:
      x = nn.BatchNorm(use_running_average=False, use_scale=False, use_bias=False)(x)
    return x

class Typed(nn.Module):
  dtype: Any = jnp.float32
  @nn.compact
  def __call__(self, x):
    return x * self.param("scale", nn.initializers.ones, (x.shape[-1],), self.dtype)

def Act(train=False):
  return (lambda x: x * 2) if train else jax.nn.gelu

def Either(train=False, name=None):
  return Typed() if train else Adds()
"""

PROGRAM = """
from typing import Any
from flax import linen as nn
import jax.numpy as jnp
from otherfields import Act, Adds, AddsStatistics, Block, Either, Typed


class Plain(nn.Module):
  width: int = 4
  rate: float = 0.0

  @nn.compact
  def __call__(self, x, train: bool = False):
    deterministic = not train
    width = self.width * 2
    x = Block(width, rate=self.rate, deterministic=deterministic, dtype=x.dtype)(x)
    return nn.Dense(3)(Act(train)(x))


class Looped(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, x, train: bool = False):
    for i in range(2):
      x = Block(self.width, rate=0.0, name=f"block_{i}", deterministic=not train)(x)
    for i in range(2):
      x = Block(self.width + i, rate=0.0, train=train)(x)
    return nn.Dense(3)(x)


class Twice(nn.Module):
  rate: float = 0.0

  @nn.compact
  def __call__(self, x, train: bool = False):
    block = Block(x.shape[-1], rate=self.rate, deterministic=not train)
    return block(block(x))


class Helped(nn.Module):
  width: int = 4

  def block(self, train):
    return Block(self.width, rate=0.0, deterministic=not train)

  @nn.compact
  def __call__(self, x, train: bool = False):
    def twice(y, n):
      return Block(n, rate=0.0, train=train)(y)
    x = twice(self.block(train)(x), 5)
    train = True
    return nn.Dense(2)(twice(x, 6))


class Derived(Helped):
  more: int = 1


class Found(nn.Module):
  @nn.compact
  def __call__(self, x, rate: float = 0.0, train: bool = False):
    return nn.Dense(3)(Block(x.shape[-1] + 1, rate=rate, train=train)(x))


class Mapped(nn.Module):
  kw: Any = None

  @nn.compact
  def __call__(self, x, train: bool = False):
    return nn.Dense(3)(Block(4, deterministic=not train, **(self.kw or {"rate": 0.0}))(x))


class MappedInSetup(nn.Module):
  kw: Any

  def setup(self):
    self.block = Block(width=4, deterministic=True, **self.kw)

  def __call__(self, x, train: bool = False):
    return self.block(x)


class MappedByCall(nn.Module):
  rate: float = 0.0

  @nn.compact
  def __call__(self, x, train: bool = False, **more):
    if self.rate > 0:
      kw = {"rate": self.rate}
    else:
      kw = dict(more, rate=0.0, train=train)
    x = Block(4, deterministic=True, name="first", **kw)(x)
    return nn.Dense(3)(Block(4, deterministic=not train, rate=0.0, **more)(x))


class Adding(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return Adds(train=train)(x)


class AddingStatistics(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return AddsStatistics(train=train)(x)


class InDtype(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return Typed(dtype=x.dtype)(x)


class OfField(nn.Module):
  dtype: Any = None

  @nn.compact
  def __call__(self, x, train: bool = False):
    dtype = self.dtype or x.dtype
    return Typed(dtype=dtype)(x)


class OneOrOther(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    return Either(train, name="one")(x)
"""

NATIVE = ["Plain", "Looped", "Twice", "Helped", "Derived", "Found", "Mapped", "MappedByCall"]


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any]:
    module("otherfields", LIBRARY)
    return both_sides("fields", PROGRAM)


def inputs() -> jax.Array:
    return jnp.asarray(np.random.RandomState(0).randn(4, 6), jnp.float32)


def made(sides: tuple[Any, Any], name: str, x: Any, **fields: Any) -> tuple[Any, Any, Any]:
    """Both sides with the same variables."""
    before, native = getattr(sides[0], name)(**fields), getattr(sides[1], name)
    variables = before.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, x)
    asked = inspect.signature(native.__init__).parameters
    sizes = {p: x if p.endswith("_example") else x.shape for p in asked if p.startswith("in_")}
    model = native(**fields, **sizes, rngs=nnx.Rngs(params=0, dropout=1))
    compat.from_linen(variables, model)
    return before, variables, model


@pytest.mark.parametrize("name", NATIVE)
def test_calls_with_other_flags_are_those_of_linen(sides: tuple[Any, Any], name: str) -> None:
    x = inputs()
    before, variables, model = made(sides, name, x)
    if name not in ("Helped", "Derived"):  # of which every call changes statistics
        assert str(compat.check_equivalence(before, variables, model, x).verdict) == "proved"
    for train in (False, True, True, False):
        expected, new = before.apply(variables, x, train=train, mutable=["batch_stats"])
        np.testing.assert_array_equal(expected, model(x, train=train))
        variables = {**variables, **new}
        back = compat.to_linen(model)
        assert jax.tree.structure(back) == jax.tree.structure(variables)
        jax.tree.map(np.testing.assert_array_equal, back, variables)


@pytest.mark.parametrize("name", NATIVE)
def test_they_are_traced_and_differentiated(sides: tuple[Any, Any], name: str) -> None:
    x = inputs()
    before, variables, model = made(sides, name, x)

    def loss(params: Any) -> Any:
        return before.apply({**variables, "params": params}, x, train=True, mutable=["batch_stats"])[0].sum()

    expected = jax.jit(jax.grad(loss))(variables["params"])
    state = nnx.jit(nnx.grad(lambda model: model(x, train=True).sum()))(model)
    found = compat.to_linen(nnx.merge(nnx.graphdef(model), state, nnx.state(model, nnx.Not(nnx.Param))))["params"]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), found, expected)


def test_masks_of_dropout_follow_the_flag_of_the_call(sides: tuple[Any, Any]) -> None:
    x = inputs()
    _, _, model = made(sides, "Twice", x, rate=0.5)
    quiet = model(x)
    np.testing.assert_array_equal(quiet, model(x))
    one, two = (np.asarray(model(x, train=True)) for _ in range(2))
    assert (one == 0).any() and (one != two).any()


def test_what_they_sow_is_captured(sides: tuple[Any, Any]) -> None:
    x = inputs()
    before, variables, model = made(sides, "Twice", x)
    for outputs in (False, True):
        capture = nnx.capture(model, nnx.Intermediate, method_outputs=nnx.Intermediate if outputs else None)
        result, state = capture(x)
        expected, sown = before.apply(variables, x, mutable=["intermediates"], capture_intermediates=outputs)
        np.testing.assert_array_equal(result, expected)
        found = nnx.to_pure_dict(state)
        assert jax.tree.structure(found) == jax.tree.structure(sown["intermediates"])
        jax.tree.map(np.testing.assert_array_equal, found, sown["intermediates"])


@pytest.mark.parametrize("dtype", [None, jnp.bfloat16, jnp.float32])
def test_parameters_have_the_dtype_of_the_field(sides: tuple[Any, Any], dtype: Any) -> None:
    x = inputs()
    before, variables, model = made(sides, "OfField", x, dtype=dtype)
    assert model.Typed_0.scale.dtype == variables["params"]["Typed_0"]["scale"].dtype == (dtype or jnp.float32)
    expected, found = before.apply(variables, x), model(x)
    np.testing.assert_array_equal(expected, found)
    assert expected.dtype == found.dtype


def test_in_a_linen_module(sides: tuple[Any, Any]) -> None:
    x = inputs()
    before, variables, _ = made(sides, "Twice", x)
    bridge = nnx.bridge.ToLinen(sides[1].Twice, kwargs={"in_shape": x.shape})
    around = bridge.init({"params": jax.random.key(0)}, x)
    leaves = jax.tree.leaves(variables["params"])
    around = {**around, "params": jax.tree.unflatten(jax.tree.structure(around["params"]), leaves)}
    np.testing.assert_array_equal(bridge.apply(around, x, train=False), before.apply(variables, x))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Adding", "Dense_1"),
        ("AddingStatistics", "makes new variables when it is called"),
        ("InDtype", "makes its parameters by the dtypes of its inputs"),
        ("OneOrOther", "a Typed is made where there was a Adds"),
    ],
)
def test_what_the_call_alone_decides_is_said(sides: tuple[Any, Any], name: str, message: str) -> None:
    x = inputs()
    model = getattr(sides[1], name)(in_shape=x.shape, rngs=nnx.Rngs(0))
    model(x)
    with pytest.raises(Exception, match=message):
        model(x.astype(jnp.bfloat16), train=True)


def test_mappings_that_are_handed_on(sides: tuple[Any, Any]) -> None:
    x = inputs()
    for kw in ({"rate": 0.0}, {"dtype": jnp.bfloat16, "rate": 0.0}):
        for name in ("Mapped", "MappedInSetup"):
            before, variables, model = made(sides, name, x, kw=kw)
            expected, found = before.apply(variables, x), model(x)
            np.testing.assert_array_equal(expected, found)
            assert expected.dtype == found.dtype


@pytest.mark.parametrize(
    ("kw", "message"),
    [
        ({"name": "other"}, "Block is named 'other' by what it is given"),
        ({"dtype": nnx.Linear}, "`dtype`, which is no Linen module any more"),
        ({"dtype": functools.partial(nnx.Linear, 3)}, "`dtype`, which is no Linen module any more"),
        ({"dtype": linen.Dense(3)}, "`dtype`, which Linen would name by where it is made"),
        ({"unknown": 3}, "unexpected keyword argument 'unknown'"),
    ],
    ids=str,
)
def test_mappings_that_cannot_be_handed_on(sides: tuple[Any, Any], kw: dict[str, Any], message: str) -> None:
    x = inputs()
    for name in ("Mapped", "MappedInSetup"):
        with pytest.raises(TypeError, match=message):
            getattr(sides[1], name)(kw=kw, in_shape=x.shape, rngs=nnx.Rngs(0))
    if "name" not in kw:
        model = sides[1].MappedByCall(in_example=x, rngs=nnx.Rngs(0))
        with pytest.raises(TypeError, match=message):
            model(x, **kw)


STAYS = {
    "an array": ("return Block(4, mask=mask)(x)", "`mask` of Block is `mask`, known only when"),
    "a parameter": ("return Block(4, mask=self.param('m', nn.initializers.ones, (4,)))(x)", "known only when"),
    "what is made": ("return Block(4, inner=nn.Dense(4))(x)", "is given `nn.Dense\\(4\\)`"),
    "under both": (
        "if train:\n      return Block(4, train=True)(x)\n    return Block(4, train=train)(x)",
        "two modules are called Block_0",
    ),
}


@pytest.mark.parametrize(("body", "why"), STAYS.values(), ids=STAYS)
def test_classes_that_stay_linen(body: str, why: str) -> None:
    text = (
        "from flax import linen as nn\nfrom otherfields import Block\n\nclass Model(nn.Module):\n"
        f"  @nn.compact\n  def __call__(self, x, mask, train=False):\n    {body}\n"
    )
    (model,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(model.outcome) == "bridged" and re.search(why, model.reason), model.reason
