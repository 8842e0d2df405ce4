"""Module classes that functions define: native where they stand, with the function's own variables; else left alone."""

from __future__ import annotations

import textwrap
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

# Initial values that do not depend on keys: both sides compute the same from the start.
PROGRAM = """from flax import linen as nn
import jax
import jax.numpy as jnp

ONES = nn.initializers.constant(0.3)


class Shared(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width, kernel_init=ONES)(x)


class Tests:
  def test_dense(self, x):
    hidden = 7

    class Simple(nn.Module):
      depth: int = 2

      @nn.compact
      def __call__(self, x):
        for _ in range(self.depth):
          x = nn.relu(nn.Dense(hidden, kernel_init=ONES)(x))
        return Shared(5)(x)

    model = Simple()
    variables = model.init(jax.random.key(0), x)
    return model.apply(variables, x)

  def test_same_name(self, x):
    class Block(nn.Module):
      @nn.compact
      def __call__(self, x):
        return nn.Dense(4, kernel_init=ONES)(x)

    class Simple(Block):
      @nn.compact
      def __call__(self, x):
        return Block()(super().__call__(x))

    model = Simple()
    variables = model.init(jax.random.key(0), x)
    return model.apply(variables, x)


def critic(sizes, activation=nn.relu):
  class Q(nn.Module):
    n: int

    @nn.compact
    def __call__(self, obs, act):
      h = jnp.concatenate([obs, act], -1)
      out = []
      for _ in range(self.n):
        out.append(activation(nn.Dense(sizes[0], kernel_init=ONES)(h)))
      return jnp.concatenate(out, -1)

  module = Q(n=2)
  obs, act = jnp.zeros((1, 3)), jnp.zeros((1, 2))
  return (lambda key: module.init(key, obs, act)), module.apply


def widths(options):
  options = dict(options or {})
  return options.pop("last", 4), options


def builder(options, scale=None):
  last, options = widths(options)
  if scale is None:
    scale = 2.0
  scale *= 1.5

  def build(x):
    class Head(nn.Module):
      @nn.compact
      def __call__(self, x):
        return scale * nn.Dense(last, kernel_init=ONES)(Shared(**options)(x))

    model = Head()
    return model.apply(model.init(jax.random.key(0), x), x)

  return build


def run(x):
  init, apply = critic((5, 6))
  values = apply(init(jax.random.key(0)), x, x[:, :2])
  built = [builder({"width": 3})(x), builder({"width": 3, "last": 6}, 0.5)(x)]
  return [Tests().test_dense(x), Tests().test_same_name(x), values, *built]
"""
BODY = """  class M(nn.Module):
    @nn.compact
    def __call__(self, x):
      return nn.Dense({width})(x)
"""
USE = "  m = M()\n  return m.apply(m.init(jax.random.key(0), x), x)\n"
MAKER = """  class M(nn.Module):
    @nn.compact
    def __call__(self, x):
      return {maker}(3)(x)
"""
REFUSED = {
    "the class is returned": ("NNX175", "def f(x):\n" + BODY.format(width=3) + "  return M\n"),
    "the class is an argument": ("NNX175", "def f(x, keep):\n" + BODY.format(width=3) + "  keep(M)\n" + USE),
    "a class in a class": ("NNX175", "class Outer:\n" + BODY.format(width=3)),
    "a variable that changes": ("NNX175", "def f(x):\n  n = 3\n" + BODY.format(width="n") + "  n = 4\n" + USE),
    "a variable that changes below a function with the class": (
        "NNX175",
        "def f(x):\n  n = 3\n  n = 4\n  def g():\n  "
        + BODY.format(width="n").replace("\n", "\n  ").rstrip(" ")
        + "    m = M()\n    return m.apply(m.init(jax.random.key(0), x), x)\n  y = g()\n  n = 5\n  return y, g()\n",
    ),
    "a variable that another function changes": (
        "NNX175",
        "def f(x):\n  n = 3\n  def more():\n    nonlocal n\n    n += 1\n" + BODY.format(width="n") + USE,
    ),
    "a variable that is a layer first": (
        "NNX175",
        "def f(x):\n  make = nn.Dense(4)\n  make = 3\n" + BODY.format(width="make") + USE,
    ),
    "a variable of a loop that is over": (
        "NNX175",
        "def f(x):\n  for n in (3, 4):\n    pass\n" + BODY.format(width="n") + USE,
    ),
    "a variable that comes later": ("NNX175", "def f(x):\n" + BODY.format(width="n") + "  n = 4\n" + USE),
    "a variable called as the constructor's argument": (
        "NNX175",
        "def f(x, in_features):\n" + BODY.format(width="in_features") + USE,
    ),
    "a variable that holds a layer": ("NNX175", "def f(x):\n  make = nn.Dense\n" + MAKER.format(maker="make") + USE),
    "an argument that may make modules": ("NNX175", "def f(x, make):\n" + MAKER.format(maker="make") + USE),
    "a counter of the function around": (
        "NNX175",
        "def f(x):\n  n = 0\n"
        + "  class M(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n      nonlocal n\n      n += 1\n"
        + "      return nn.Dense(3)(x)\n"
        + USE,
    ),
    "two classes of one name": (
        "NNX175",
        "def f(x, wide):\n  if wide:\n  "
        + BODY.format(width=9).replace("\n", "\n  ").rstrip(" ")
        + "  else:\n  "
        + BODY.format(width=3).replace("\n", "\n  ").rstrip(" ")
        + USE,
    ),
    "one of two definitions of a class": (
        "NNX175",
        "FAST = True\nif FAST:\n" + BODY.format(width=3) + "else:\n" + BODY.format(width=4),
    ),
    "a class that stands below a use of another of its name": (
        "NNX175",
        "class M(nn.Module):\n  pass\n\nOLD = M\n\n" + textwrap.dedent(BODY.format(width=3)),
    ),
    "a class below another of its name and a function that is called at once": (
        "NNX175",
        "class M(nn.Module):\n  pass\n\ndef make():\n  return M()\n\nOLD = make()\n\n"
        + textwrap.dedent(BODY.format(width=3)),
    ),
    "two classes of one name that are registered": (
        "NNX175",
        "ALL = {}\ndef register(cls):\n  ALL[len(ALL)] = cls\n  return cls\n\n"
        + "@register\nclass M(nn.Module):\n  pass\n\n@register\n"
        + textwrap.dedent(BODY.format(width=3)),
    ),
    "two classes of one name whose base is told": (
        "NNX175",
        "class Base(nn.Module):\n  def __init_subclass__(cls, **kwargs):\n    super().__init_subclass__(**kwargs)\n\n"
        + "class M(Base):\n  pass\n\n"
        + textwrap.dedent(BODY.format(width=3)).replace("nn.Module", "Base"),
    ),
    "a class where an import fails": (
        "NNX175",
        "try:\n  from lib import M\nexcept ImportError:\n" + BODY.format(width=3),
    ),
    "a class of the same function that stays Linen": (
        "NNX177",
        "def f(x):\n"
        + BODY.format(width=3)
        + "  class Outer(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        + "      y = M()(x)\n      return y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]\n"
        + "  m = Outer()\n  return m.apply(m.init(jax.random.key(0), x), x)\n",
    ),
}


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("program.py"), "program", text)])


def test_both_sides_are_bitwise_equal() -> None:
    result = _migrated(PROGRAM)
    assert {c.outcome for c in result.classes} == {"native"}, [c.reason for c in result.classes]
    for path, content in result.created.items():
        _module(path.stem, content)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 3), jnp.float32)
    before, after = _module("local_before", PROGRAM), _module("local_after", result.files[0].after or "")
    for expected, got in zip(before.run(x), after.run(x), strict=True):
        assert (expected == got).all()


def test_the_class_above_another_of_its_name_is_marked() -> None:
    body = textwrap.dedent(BODY.format(width=3))
    result = _migrated("from flax import linen as nn\n\n\n" + body + "\n\n" + body.replace("3", "4"))
    assert [(c.outcome, c.line) for c in result.classes] == [("native", 10)]
    assert "# TODO(nnx-migrate): NNX175 this M stays a Linen module" in (result.files[0].after or "")


@pytest.mark.parametrize("name", REFUSED)
def test_it_stays_linen(name: str) -> None:
    code, body = REFUSED[name]
    head = "import jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"
    plans = {c.qualname.rpartition(".")[2]: c for c in _migrated(head + body).classes}
    assert (plans["M"].outcome, plans["M"].code) == ("bridged", code), plans["M"].reason
