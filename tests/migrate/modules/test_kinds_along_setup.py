"""Lists of `setup` whose items are of one of several kinds, and whose sizes follow from one item to the next."""

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

from .loading import both_sides

HEAD = """from flax import linen as nn


class Plain(nn.Module):
    n: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.n)(x))


class Deep(nn.Module):
    n: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n)(nn.Dense(3)(x))


class Net(nn.Module):
    deep: bool = True
    kinds: tuple = ("plain", "deep", "plain")

    def setup(self):
"""
CALL = """
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
TABLE = "table = {'plain': Plain, 'deep': Deep}\n"
SETUPS = {
    "by_a_field": "self.layers = [(Deep if self.deep else Plain)(5) for _ in range(3)]",
    "under_a_name": "kind = Deep if self.deep else Plain\nlayers = []\nfor i in range(3):\n    layers.append(kind(4 + i))\n"
    "self.layers = layers",
    "of_a_table": f"{TABLE}self.layers = [table[kind](5) for kind in self.kinds]",
    "of_a_table_in_a_loop": f"{TABLE}layers = []\nfor kind in self.kinds:\n    layers.append(table[kind](5))\n"
    "self.layers = layers",
    "by_the_pass": "self.layers = [(Deep if i else Plain)(5) for i in range(3)]",
    "by_the_pass_under_a_name": "layers = []\nfor i in range(3):\n    kind = Deep if i in (0, 2) else Plain\n"
    "    layers.append(kind(4 + i))\nself.layers = layers",
    "by_the_pass_named": "self.layers = [(Deep if i == 1 else Plain)(5, name=f'layer_{i}') for i in range(3)]",
    "by_a_function": "kind = lambda i: Deep if i % 2 else Plain\nself.layers = [kind(i)(5) for i in range(3)]",
    "bound_again": "flag = self.deep\nkind = Deep if flag else Plain\nflag = not flag\n"
    "self.layers = [kind(4), (Deep if flag else Plain)(5)]",
    "of_a_table_by_a_field": f"{TABLE}self.layers = [table[self.kinds[0]](4 + i) for i in range(3)]",
}


def _text(setup: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in setup.splitlines()) + CALL


@pytest.mark.parametrize("more", [{}, {"deep": False}, {"kinds": ("deep", "deep", "plain")}])
@pytest.mark.parametrize("kind", SETUPS)
def test_sizes_follow_whichever_kind_an_item_is(kind: str, more: dict[str, Any]) -> None:
    before, after = both_sides(f"along_{kind}", _text(SETUPS[kind]))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)
    linen, new = before.Net(**more), after.Net(**more, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(0), x), new, x)


@pytest.mark.parametrize(
    "setup",
    [
        "self.layers = [Deep(5) if self.deep else Plain(6) for _ in range(3)]",
        "kind = Plain\nlayers = []\nfor i in range(3):\n    if i == 2:\n        kind = Deep\n    layers.append(kind(5))\n"
        "self.layers = layers",
    ],
)
def test_what_the_items_decide_stays_linen(setup: str) -> None:
    plans = migrate_project([SourceFile.parse(Path("net.py"), "net", _text(setup))]).classes
    net = next(plan for plan in plans if plan.qualname == "net.Net")
    assert str(net.outcome) == "bridged" and net.code in ("NNX114", "NNX132"), net.reason


COMPACT = HEAD[: HEAD.index("    def setup")] + "    @nn.compact\n    def __call__(self, x):\n"
LEFT = {
    "elif": "for i in range(4):\n    if i == 1:\n        kind = Deep\n    elif i == 0:\n        kind = Plain\n"
    "    x = kind(5)(x)\nreturn x",
    "two": "for i in range(4):\n    if i == 0:\n        kind = Plain\n    if i == 2:\n        kind = Deep\n"
    "    x = kind(5)(x)\nreturn x",
}
SAID = {
    "else": "for i in range(4):\n    if i == 1:\n        kind = Deep\n    else:\n        kind = Plain\n"
    "    x = kind(5)(x)\nreturn x",
    "before": "for i in range(4):\n    kind = Plain\n    if i == 1:\n        kind = Deep\n    x = kind(5)(x)\nreturn x",
    "raises": "for i in range(2):\n    if i == 1:\n        kind = Deep\n    elif i == 0:\n        kind = Plain\n"
    "    else:\n        raise ValueError(i)\n    x = kind(5)(x)\nreturn x",
}


def _compact(body: str) -> str:
    return COMPACT + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("kind", LEFT)
def test_a_kind_that_an_earlier_pass_left_stays_linen(kind: str) -> None:
    plans = migrate_project([SourceFile.parse(Path("net.py"), "net", _compact(LEFT[kind]))]).classes
    net = next(plan for plan in plans if plan.qualname == "net.Net")
    assert (str(net.outcome), net.code) == ("bridged", "NNX132"), net.reason


@pytest.mark.parametrize("kind", SAID)
def test_a_kind_that_each_pass_says_is_followed(kind: str) -> None:
    before, after = both_sides(f"said_{kind}", _compact(SAID[kind]))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)
    linen, new = before.Net(), after.Net(in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(0), x), new, x)
