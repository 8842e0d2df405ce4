"""Other methods than `__call__` of modules that are wrapped: of other packages, and of classes that stay Linen."""

from __future__ import annotations

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

from .loading import module

HEAD = """
from typing import Any
from flax import linen as nn
import jax, jax.numpy as jnp

class Head(nn.Module):
  width: int
  act: Any = nn.tanh
  deterministic: bool = True

  def setup(self):
    self.dense = nn.Dense(self.width)
    self.heat = self.param("heat", nn.initializers.constant(2.0), ())
    self.norm = nn.BatchNorm()
    self.more = nn.Dense(2)

  def __call__(self, x):
    self.sow("intermediates", "hidden", x)
    return self.norm(self.dense(x), use_running_average=self.deterministic) / self.heat

  def temperature(self):
    self.sow("intermediates", "heat", self.heat)
    return jnp.exp(self.heat)

  def normed(self, x, *, scale=1.0):
    return self.norm(x, use_running_average=self.deterministic) * scale, {"n": 3}

  def dropped(self, x):
    return x * jax.random.bernoulli(self.make_rng("dropout"), 0.5, x.shape)

  def further(self, x):
    return self.more(x)

  @staticmethod
  def twice(x):
    return x * 2
"""
PROGRAM = """
from flax import linen as nn
from otherheads import Head

class Both(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, x, train: bool = False):
    if self.width > 3:
      head = Head(self.width, name="wide")
    else:
      head = Head(self.width + 3, name="narrow")
    x = head(x)
    heat = head.temperature()
    y, told = head.normed(head.twice(x), scale=2.0)
    return head.act(x), y * head.width, {"heat": heat, **told}

class Flagged(nn.Module):
  @nn.compact
  def __call__(self, x, train: bool = False):
    head = Head(5, deterministic=not train)
    x = head(x)
    y, _ = head.normed(x, scale=2.0)
    return x, y, head.temperature()

class Setup(nn.Module):
  def setup(self):
    self.head = Head(3)
    self.dense = nn.Dense(3)

  def __call__(self, x, train: bool = False):
    y = self.head(self.dense(x))
    return y, self.head.temperature()

  def heat(self):
    return self.head.temperature()

class Dropping(nn.Module):
  @nn.compact
  def __call__(self, x):
    head = Head(3)
    return head(x), head.dropped(x)

class Going(nn.Module):
  @nn.compact
  def __call__(self, x):
    head = Head(3)
    return head(x), head.further(x)
"""
STAYS = "x = x + nn.vjp(lambda m, z: z * 2, self, x, vjp_variables=True)[1](x)[1]"


def migrated(name: str, text: str) -> tuple[Any, Any]:
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text)])
    assert {c.qualname.rpartition(".")[2] for c in result.classes if str(c.outcome) != "native"} <= {"Head"}
    for path, content in result.created.items():
        module(path.stem, content)
    assert result.files[0].after is not None
    return module(f"{name}_before", text), module(f"{name}_after", result.files[0].after)


@pytest.fixture(scope="module", params=["of another package", "of a class that stays Linen"])
def sides(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    if request.param == "of another package":
        module("otherheads", HEAD)
        return migrated("heads", PROGRAM)
    stays = HEAD.replace("  def __call__(self, x):\n", f"  def __call__(self, x):\n    {STAYS}\n")
    stays = stays.replace('    self.sow("intermediates", "hidden", x)\n', "").replace(
        '    self.sow("intermediates", "heat", self.heat)\n', ""
    )
    return migrated("own_heads", stays + PROGRAM.replace("from otherheads import Head\n", ""))


def made(sides: tuple[Any, Any], name: str, **fields: Any) -> tuple[Any, Any, Any, jax.Array]:
    x: jax.Array = jnp.asarray(np.random.RandomState(0).randn(4, 5), jnp.float32)
    linen = getattr(sides[0], name)(**fields)
    variables = dict(linen.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, x))
    variables.pop("intermediates", None)
    model = getattr(sides[1], name)(**fields, in_shape=x.shape, rngs=nnx.Rngs(params=0, dropout=1))
    if name != "Going":
        compat.from_linen(variables, model)
    return linen, variables, model, x


def same(found: Any, expected: Any) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    jax.tree.map(np.testing.assert_array_equal, found, expected)


@pytest.mark.parametrize(("name", "fields"), [("Both", {}), ("Both", {"width": 2}), ("Flagged", {}), ("Setup", {})], ids=str)
def test_they_give_what_they_do_in_linen(sides: tuple[Any, Any], name: str, fields: dict[str, Any]) -> None:
    linen, variables, model, x = made(sides, name, **fields)
    assert str(compat.check_equivalence(linen, variables, model, x).verdict) == "proved"
    for train in (False, True, True, False):
        expected, new = linen.apply(variables, x, train=train, mutable=["batch_stats"])
        variables = {**variables, **new}
        same(model(x, train=train), expected)
        same(compat.to_linen(model), variables)
    if name == "Setup":
        same(model.heat(), linen.apply(variables, method="heat"))


@pytest.mark.parametrize("sides", ["of another package"], indirect=True)  # of the program, what sows is not wrapped
@pytest.mark.parametrize("outputs", [False, True])
@pytest.mark.parametrize("name", ["Both", "Flagged", "Setup"])
def test_what_they_sow_is_captured(sides: tuple[Any, Any], name: str, outputs: bool) -> None:
    linen, variables, model, x = made(sides, name)
    capture = nnx.capture(model, nnx.Intermediate, method_outputs=nnx.Intermediate if outputs else None)
    result, state = capture(x)
    expected, sown = linen.apply(variables, x, mutable=["intermediates"], capture_intermediates=outputs)
    same(result, expected)
    same(nnx.to_pure_dict(state), sown["intermediates"])


def test_each_call_of_one_draws_anew(sides: tuple[Any, Any]) -> None:
    model, x = made(sides, "Dropping")[2:]
    one, two = (np.asarray(model(x)[1]) == 0 for _ in range(2))
    assert one.any() and (one != two).any()


def test_variables_that_only_such_a_method_makes_are_missed_loudly(sides: tuple[Any, Any]) -> None:
    model, x = made(sides, "Going")[2:]
    with pytest.raises(Exception, match=r"Could not find parameter named \"kernel\" in scope \"/more\""):
        model(x)


def test_one_that_is_called_first_is_refused() -> None:
    text = PROGRAM[: PROGRAM.index("class Both")] + (
        "class First(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    head = Head(3)\n"
        "    return head.further(x), head(x)\n"
    )
    (model,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(model.outcome) == "bridged" and "another method than __call__ is called first" in model.reason
