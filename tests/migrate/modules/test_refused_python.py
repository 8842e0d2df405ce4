"""Sizes and arguments that Python changes behind the analysis' back are not known: such classes stay Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .outside_code import named_outside

# What is not known by reading; by a call on shapes some of it is (forms_later_python).
pytestmark = pytest.mark.usefixtures("sizes_by_reading")

HEAD = """import jax.numpy as jnp
from flax import linen as nn


def grow(items, n):
  items.append(n)
  return n


class M(nn.Module):
  kind: str = 'a'
  sizes: tuple = (5, 6)

  def _grow(self, items):
    items += [3]

  @nn.compact
  def __call__(self, x, train: bool = True):
"""

SIZES = "    sizes = [4, 5]\n"
LISTED = "    for n in sizes:\n      x = nn.Dense(n)(x)\n    return x\n"

REFUSED = {
    "a list that grows under another name": ("NNX123", SIZES + "    more = sizes\n    more.append(6)\n" + LISTED),
    "a list that grows by += under another name": ("NNX123", SIZES + "    more = sizes\n    more += [6]\n" + LISTED),
    "a list whose item is set under another name": ("NNX123", SIZES + "    more = sizes\n    more[0] = 9\n" + LISTED),
    "a list within a list": ("NNX123", SIZES + "    both = [sizes, [1]]\n    both[0].append(9)\n" + LISTED),
    "a dict that changes under another name": (
        "NNX137",
        """    base = {'use_bias': True}
    other = base
    other['use_bias'] = False
    return nn.Dense(3, **base)(x)
""",
    ),
    "a list that a function of the project grows": ("NNX123", SIZES + "    n = grow(sizes, 7)\n" + LISTED),
    "a list that a method grows": ("NNX123", SIZES + "    self._grow(sizes)\n" + LISTED),
    "a list that a nested function grows": (
        "NNX123",
        SIZES + "    def add(items, n):\n      items.append(n)\n    add(sizes, 7)\n" + LISTED,
    ),
    "a list that a while loop grows": ("NNX123", SIZES + "    while len(sizes) < 3:\n      sizes.append(5)\n" + LISTED),
    "arrays that a while loop gathers": (
        "NNX110",
        """    found = [x]
    while len(found) < 3:
      found.append(x)
    return nn.Dense(2)(jnp.concatenate(found, -1))
""",
    ),
    "a list that a try statement grows": (
        "NNX123",
        SIZES + "    try:\n      sizes.append(5)\n    except ValueError:\n      pass\n" + LISTED,
    ),
    "a size that is another one where something is caught": (
        "NNX113",
        """    try:
      int(self.kind)
      n = 3
    except ValueError:
      n = 6
    return nn.Dense(n)(x)
""",
    ),
    "a layer in a try statement that catches": (
        "NNX120",
        """    try:
      x = nn.Dense(int(self.kind))(x)
    except ValueError:
      pass
    return x
""",
    ),
    "a size that a pattern binds": (
        "NNX113",
        """    n = 3
    match self.sizes:
      case (n, _):
        pass
    return nn.Dense(n)(x)
""",
    ),
    "nonlocal": (
        "NNX134",
        """    count = 4
    def dense(y):
      nonlocal count
      count += 2
      return nn.Dense(count)(y)
    return dense(dense(x))
""",
    ),
    "global": ("NNX134", "    global COUNT\n    COUNT = 5\n    return nn.Dense(COUNT)(x)\n"),
    "an array of the constructor's own that widens another one": (
        "NNX110",
        """    scale = jnp.ones((1,))
    scale *= jnp.asarray(self.sizes)
    assert x.ndim == 1
    return nn.Dense(4)(jnp.exp(scale)[None, :] * x[:, None])
""",
    ),
    "an attribute of a layer by a string": ("NNX133", "    d = nn.Dense(4)\n    return d(x) * getattr(d, 'features', 1)\n"),
    "a parameter of a layer asked for": (
        "NNX133",
        "    d = nn.Dense(4)\n    y = d(x)\n    return y if hasattr(d, 'bias') else 2 * y\n",
    ),
    "the name of a layer's class": (
        "NNX133",
        "    d = nn.Dense(4)\n    y = d(x)\n    return y if type(d).__name__ == 'Dense' else 2 * y\n",
    ),
    "a default of a layer that NNX has not": (
        "NNX150",
        "    return Four()(x)\n\n\nclass Four(nn.Dense):\n  features: int = 4\n",
    ),
    "a default that is assigned again": (
        "NNX113",
        """    size = 4
    def dense(y, n=size):
      return nn.Dense(n)(y)
    size = 2
    return dense(x)
""",
    ),
    "modules of a called list with different flags": (
        "NNX172",
        """    for layer in [nn.Dropout(0.5, deterministic=not train), nn.Dropout(0.3, deterministic=True)]:
      x = layer(x)
    return x
""",
    ),
    "one of two modules with different flags": (
        "NNX172",
        """    drop = nn.Dropout(0.5, deterministic=not train) if self.kind else nn.Dropout(0.2, deterministic=True)
    return drop(x)
""",
    ),
    "a flag of a module in a Sequential that is called twice": (
        "NNX172",
        """    layers = nn.Sequential([nn.Dense(4), nn.Dropout(0.5, deterministic=not train)])
    return layers(layers(x))
""",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_stays_linen(name: str) -> None:
    code, body = REFUSED[name]
    plans = migrate_project([SourceFile.parse(Path("m.py"), "m", named_outside(HEAD + body))]).classes
    (plan,) = [p for p in plans if p.qualname == "m.M"]
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason


@pytest.mark.parametrize("bases", ["nn.Module, Protocol", "nn.Module, metaclass=Meta"])
def test_a_class_with_a_metaclass_stays_linen(bases: str) -> None:
    head = f"{HEAD.partition('class M')[0]}from typing import Protocol\n\n\nclass Meta(type(nn.Module)): ...\n\n\n"
    text = f"{head}class Head({bases}):\n  @nn.compact\n  def __call__(self, x):\n    return x\n"
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX160"), plan.reason


@pytest.mark.parametrize(
    "protocol",
    [
        "class Base(Protocol):\n  def other(self): ...\n",
        "class Base(Protocol):\n  def __call__(self, x):\n    return x\n",
        "class Base(Protocol):\n  scale: int = 3\n",
        "class Other: ...\n\n\nclass Base(Other, Protocol): ...\n",
        "class Base(Protocol): ...\n\n\ndef ask(m):\n  return isinstance(m, Base)\n",
    ],
)
def test_a_protocol_that_gives_more_than_its_word_keeps_the_class_linen(protocol: str) -> None:
    text = f"{HEAD.partition('class M')[0]}from typing import Protocol\n\n\n{protocol}\n\n"
    text += "class Head(Base, nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    return x\n"
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX160"), plan.reason
