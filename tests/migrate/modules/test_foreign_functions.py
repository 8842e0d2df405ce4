"""What functions of other packages make, and is called: activations by their names, modules in `setup`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides, module

LIBRARY = """
from flax import linen as nn
import jax

class Block(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(self.width)(x))

def _convert_to_activation_function(name):
  return nn.PReLU() if name == "prelu" else getattr(jax.nn, name)

get_act_fn = _convert_to_activation_function

def make_block(width, name=None):
  return Block(width, name=name)

def make_scale(factor):
  return lambda x: x * factor
"""
PROGRAM = """
from flax import linen as nn
import otherfunctions as lib
from otherfunctions import get_act_fn

class Gated(nn.Module):
  acts: tuple = ("relu", "gelu")

  @nn.compact
  def __call__(self, x):
    ys = []
    for i, act in enumerate(self.acts):
      y = nn.Dense(4, name=f"wi_{i}")(x)
      ys.append(lib._convert_to_activation_function(act)(y))
    return nn.Dense(3)(ys[0] * ys[1])

class Kept(nn.Module):
  act: str = "relu"

  def setup(self):
    self.fn = get_act_fn(self.act)
    self.dense = nn.Dense(4)
    self.last = nn.Dense(4)

  def __call__(self, x):
    return self.last(self.fn(self.dense(x)))

class Local(nn.Module):
  act: str = "relu"

  @nn.compact
  def __call__(self, x):
    fn = get_act_fn(self.act)
    return nn.Dense(3)(fn(fn(nn.Dense(4)(x))))

class Made(nn.Module):
  def setup(self):
    self.block = lib.make_block(4)
    self.blocks = [lib.make_block(width) for width in (5, 6)]
    self.scale = lib.make_scale(3)

  def __call__(self, x):
    x = self.block(x)
    for block in self.blocks:
      x = block(x)
    return self.scale(x)
"""


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any]:
    module("otherfunctions", LIBRARY)
    return both_sides("functions", PROGRAM)


def native(sides: tuple[Any, Any], name: str, **fields: Any) -> tuple[Any, jax.Array]:
    x: jax.Array = jnp.asarray(np.random.RandomState(0).randn(4, 5), jnp.float32)
    made = getattr(sides[1], name)
    sizes: dict[str, Any] = {"in_shape": x.shape, "in_example": x} if name == "Made" else {"in_features": 5}
    return made(**fields, **sizes, rngs=nnx.Rngs(0)), x


@pytest.mark.parametrize(
    ("name", "fields"),
    [("Gated", {}), ("Gated", {"acts": ("tanh", "silu")}), ("Kept", {}), ("Local", {"act": "gelu"}), ("Made", {})],
    ids=str,
)
def test_they_give_what_they_do_in_linen(sides: tuple[Any, Any], name: str, fields: dict[str, Any]) -> None:
    model, x = native(sides, name, **fields)
    linen = getattr(sides[0], name)(**fields)
    variables = linen.init(jax.random.key(0), x)
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(linen.apply(variables, x), model(x))
    back = compat.to_linen(model)
    assert jax.tree.structure(back) == jax.tree.structure(variables)
    assert str(compat.check_equivalence(linen, variables, model, x).verdict) == "proved"


@pytest.mark.parametrize(
    ("name", "fields"), [("Gated", {"acts": ("relu", "prelu")}), ("Kept", {"act": "prelu"}), ("Local", {"act": "prelu"})]
)
def test_modules_by_the_name_of_an_activation_raise(sides: tuple[Any, Any], name: str, fields: dict[str, Any]) -> None:
    model, x = native(sides, name, **fields)
    with pytest.raises(Exception, match="Can't call compact methods on unbound modules"):
        model(x)


STAYS = {
    "made in a method": "return lib.make_block(4)(x)",
    "given a name, which it may change": 'return lib.make_block(4, name="block")(x)',
}


@pytest.mark.parametrize("body", STAYS.values(), ids=STAYS)
def test_classes_that_stay_linen(body: str) -> None:
    text = (
        "from flax import linen as nn\nimport otherfunctions as lib\n\nclass Model(nn.Module):\n  @nn.compact\n"
        f"  def __call__(self, x):\n    {body}\n"
    )
    (model,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(model.outcome) == "bridged" and re.search("how Linen names what `make_block`", model.reason), model.reason
