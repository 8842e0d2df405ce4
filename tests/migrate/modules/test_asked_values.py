"""Widths that no code of the project shows: the constructor asks for them, if nothing outside of modules must say them."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

CLASSES = """from typing import Any, Optional

import jax
import jax.numpy as jnp
from flax import linen as nn


class Joined(nn.Module):
  kind: str
  init_final: Optional[float] = None
  @nn.compact
  def __call__(self, x):
    outputs = getattr(jnp, self.kind)((x, x))
    if self.init_final is not None:
      y = nn.Dense(3, kernel_init=nn.initializers.uniform(self.init_final))(outputs)
    else:
      y = nn.Dense(3)(outputs)
    return nn.LayerNorm()(y)


class Named(nn.Module):
  kind: str
  def setup(self):
    self.head = nn.Dense(3)
  def __call__(self, x):
    x = nn.relu(getattr(jnp, self.kind)((x, x)))
    return self.head(x)


class Looped(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    y = getattr(jnp, self.kind)((x, x))
    for _ in range(2):
      y = nn.Dense(5)(y)
    return y


class Outer(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(6)(x)
    return nn.Dense(2)(Joined(self.kind)(x))


class Base(nn.Module):
  kind: str
  def setup(self):
    self.head = nn.Dense(3)
  def __call__(self, x):
    y = getattr(jnp, self.kind)((x, x))
    return self.head(y)


class Member(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)


class Two(nn.Module):
  @nn.compact
  def __call__(self, pair):
    a, (b, scale) = pair
    return nn.Dense(3)(a) + scale * nn.Dense(3)(b)


class InTuples(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    y = getattr(jnp, self.kind)((x, x))
    inner = (y, 2.0)
    return Two()((y, inner))


class Stack(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    y = getattr(jnp, self.kind)((x, x))
    stack = nn.vmap(Member, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=2)
    return stack()(nn.remat(Member)()(y))


class Mapped(nn.Module):
  kind: str
  def setup(self):
    self.stack = nn.vmap(Member, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=0, axis_size=2)()
  def __call__(self, x):
    return self.stack(getattr(jnp, self.kind)((x, x)))


class Derived(Base):
  scale: float = 2.0
  def __call__(self, x):
    return self.scale * super().__call__(x)
"""
# Class, what its constructor is told.
RUN: dict[str, dict[str, int]] = {
    "Joined": {"outputs_features": 8},
    "Named": {"head_input_features": 8},
    "Looped": {"y_features": 8},
    "Outer": {"in_features": 4, "Joined_0_outputs_features": 12},
    "InTuples": {"y_features": 8},
    "Stack": {"y_features": 8},
    "Mapped": {"stack_input_features": 8},
    "Base": {"y_features": 8},
    "Derived": {"y_features": 8},
}


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("m.py"), "m", text)])


@pytest.fixture(scope="module")
def sides() -> tuple[types.ModuleType, types.ModuleType, RunResult]:
    result = _migrated(CLASSES)
    after = result.files[0].after
    assert after is not None
    made = []
    for name, text in {**{p.stem: t for p, t in result.created.items()}, "asked_linen": CLASSES, "asked_nnx": after}.items():
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
        made.append(module)
    return made[-2], made[-1], result


@pytest.mark.parametrize("name", RUN)
def test_both_sides_are_bitwise_equal(name: str, sides: tuple[Any, Any, RunResult]) -> None:
    linen, native, result = sides
    plan = next(c for c in result.classes if c.qualname == f"m.{name}")
    assert plan.outcome == "native", plan.reason
    assert {a.name for a in plan.added_arguments} == set(RUN[name])
    x = jnp.asarray(np.random.RandomState(0).randn(2, 4), jnp.float32)
    module = getattr(linen, name)("hstack")
    variables = module.init(jax.random.key(0), x)
    model = getattr(native, name)("hstack", **RUN[name], rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(np.asarray(module.apply(variables, x)), np.asarray(model(x)))
    assert any("which this project does not show" in d.message for d in result.files[0].diagnostics if d.code == "NNX116")


def test_a_wrong_width_fails(sides: tuple[Any, Any, RunResult]) -> None:
    _, native, _ = sides
    with pytest.raises(TypeError):
        native.Joined("hstack", outputs_features=7, rngs=nnx.Rngs(0))(jnp.ones((2, 4)))


HEAD = "import jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"
REFUSED = {
    # code outside of modules constructs it, and could not say the width
    "constructed outside": """class M(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    y = getattr(jnp, self.kind)((x, x))
    return nn.Dense(3)(y)


def model():
  return M("hstack")
""",
    # what contains it is constructed outside
    "contained": """class M(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    y = getattr(jnp, self.kind)((x, x))
    return nn.Dense(3)(y)


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(M("hstack")(x))


def model():
  return Outer()
""",
    # another width in every pass
    "in a loop": """class M(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      y = getattr(jnp, self.kind)((x, x))
      x = nn.Dense(3 + i)(y)
    return x
""",
    # a loop that begins with what is known
    "made by a loop": """class M(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      x = getattr(jnp, self.kind)((nn.Dense(3)(x), x))
    return x
""",
    # one of two tuples
    "a tuple that a condition replaces": """class M(nn.Module):
  kind: str
  deep: bool = False
  @nn.compact
  def __call__(self, x):
    y = getattr(jnp, self.kind)((x, x))
    pair = (x, 1.0)
    if self.deep:
      pair = (y, 2.0)
    return Two()(pair)


class Two(nn.Module):
  @nn.compact
  def __call__(self, pair):
    return nn.Dense(3)(pair[0]) * pair[1]
""",
    # a method that several widths go through
    "a method called twice": """class M(nn.Module):
  kind: str
  def setup(self):
    self.a = nn.Dense(3)
  def part(self, x):
    y = getattr(jnp, self.kind)((x, x))
    return self.a(y)
  def __call__(self, x):
    return self.part(x) + self.part(x + 1)
""",
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.usefixtures("sizes_by_reading")
def test_what_may_not_ask_stays_linen(what: str) -> None:
    plan = next(c for c in _migrated(HEAD + REFUSED[what]).classes if c.qualname == "m.M")
    assert plan.outcome == "bridged"
    assert plan.code == "NNX110", plan.reason


def test_what_an_earlier_run_has_left_stays_as_it_was() -> None:
    text = """import jax.numpy as jnp
from flax import linen as nn


# TODO(nnx-migrate): NNX110 Left stays a Linen module: its shape is not known.
class Left(nn.Module):
  kind: str
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(getattr(jnp, self.kind)((x, x)))
"""
    result = _migrated(text)
    (plan,) = result.classes
    assert plan.outcome == "bridged" and result.files[0].after == text
    (fresh,) = _migrated(text.replace("# TODO(nnx-migrate)", "# See")).classes
    assert fresh.outcome == "native"
