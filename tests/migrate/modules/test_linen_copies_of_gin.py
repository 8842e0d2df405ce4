"""Classes that gin configures: their Linen copies are given what gin binds for the originals, which alone are registered."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.migrate.pipeline import migrate_project

from . import gin_stand_in
from .linen_copy_programs import assert_same, fresh, load, migrate, outcomes, sources, write

__all__ = ["fresh"]

LAYERS = """import flax.linen as nn
import gin


# How wide.
@gin.configurable
class Block(nn.Module):
    width: int = 4
    scale: float = 1.0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x) * self.scale


@gin.configurable(denylist=["name"])
class Wide(Block):
    more: float = 1.0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width + 1)(x) * self.scale * self.more


@gin.configurable("Top", module="own", denylist=["name", "out"])
class Head(nn.Module):
    out: int = 3
    inner: float = 2.0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.out)(Block(scale=self.inner)(x))


@gin.configurable
class Need(nn.Module):
    width: int = gin.REQUIRED

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


@gin.configurable
def gain(x, by=1.0):
    return Block(2)(x) * by
"""
MODEL = """import flax.linen as nn
import gin
import jax
import jax.numpy as jnp
from elsewhere import mixed
from pkg import layers
from pkg.layers import Block, Head, Need, Wide, gain


class Odd(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = mixed(nn.Dense(3)(Block()(x)))
        y = Head(name="head")(x) + gain(x)[:, :1] + Need()(x)[:, :1]
        z = Block(3, scale=0.5)(x)[:, :1] + layers.Block(width=gin.REQUIRED)(x)[:, :1]
        return y + z + Wide()(x)[:, :1] + Wide(width=2, parent=None).clone(scale=3.0).width


def run():
    x = jnp.arange(8.0).reshape(2, 4)
    found = []
    for bound in (
        {},
        {"pkg.layers.Block": {"width": 5}, "own.Top": {"inner": 7.0}, "pkg.layers.gain": {"by": 3.0}},
        {"pkg.layers.Wide": {"width": 2, "more": 0.25}, "pkg.layers.Block": {"scale": 2.0}},
    ):
        gin.clear_config()
        gin.bind("pkg.layers.Need", width=2)
        for name, values in bound.items():
            gin.bind(name, **values)
        variables = Odd().init(jax.random.key(0), x)
        found += [variables, Odd().apply(variables, x)]
    gin.clear_config()
    try:
        Odd().init(jax.random.key(0), x)
    except RuntimeError:
        found.append(1.0)
    return found
"""
ELSEWHERE = "def mixed(x):\n    return x\n"


@pytest.fixture
def gin(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(sys.modules, "gin", gin_stand_in)
    gin_stand_in.forget()
    yield gin_stand_in
    gin_stand_in.forget()


@pytest.mark.usefixtures("fresh")
def test_copies_are_given_what_is_bound_for_the_originals(tmp_path: Path, gin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    package = {"pkg/__init__.py": "", "pkg/layers.py": LAYERS, "pkg/model.py": MODEL}
    before = write(tmp_path / "before", package)
    other = write(tmp_path / "other", {"elsewhere.py": ELSEWHERE})
    monkeypatch.syspath_prepend(str(other))
    importlib.invalidate_caches()
    result = migrate(before, tmp_path / "after")
    native = dict.fromkeys(("Block", "Wide", "Head", "Need"), "native")
    assert outcomes(result) == {**native, "Odd": "bridged"}
    expected = load(before, "pkg.model").run()
    for first in ("pkg.model", "pkg.layers", "pkg.layers_linen"):
        gin.forget()
        assert_same(expected, load(tmp_path / "after", first, "pkg.model").run())
    text = (tmp_path / "after/pkg/layers.py").read_text()
    assert "@gin.configurable\nclass Wide" in text and 'denylist=["out"]' in text  # NNX modules take no `name`
    again = migrate_project(sources(tmp_path / "after"))
    assert not again.created and [f.path for f in again.files if f.after != f.before] == []


@pytest.mark.parametrize(
    "decorator",
    ["gin.configurable(NAME)", "gin.configurable(**OPTIONS)", 'gin.configurable("a.b")', "register", "gin.external(1)"],
)
def test_what_is_registered_in_other_ways_is_not_copied(decorator: str, tmp_path: Path) -> None:
    text = LAYERS.replace("@gin.configurable\nclass Block", f"@{decorator}\nclass Block")
    text = f"from elsewhere import NAME, OPTIONS, register\n{text}"
    before = write(tmp_path / "before", {"pkg/__init__.py": "", "pkg/layers.py": text, "pkg/model.py": MODEL})
    found = outcomes(migrate(before, tmp_path / "after"))
    assert found["Block"] == "bridged" and found["Odd"] == "bridged"


def test_a_value_that_is_required_within_a_copy_is_not_followed(tmp_path: Path) -> None:
    text = LAYERS.replace("Block(scale=self.inner)", "Block(gin.REQUIRED, self.inner)")
    before = write(tmp_path / "before", {"pkg/__init__.py": "", "pkg/layers.py": text, "pkg/model.py": MODEL})
    assert outcomes(migrate(before, tmp_path / "after"))["Head"] == "bridged"
