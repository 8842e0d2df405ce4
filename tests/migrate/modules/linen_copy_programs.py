"""Programs with classes that stay Linen, and how they are migrated and run on both sides."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

LAYERS = '''# Copyright of the example.
"""Layers."""
import dataclasses

import jax.numpy as jnp
from flax import linen as nn

SCALES = {"small": 0.5, "large": 2.0}


@dataclasses.dataclass
class Config:
  width: int = 8


def activate(x, scale):
  return nn.gelu(x) * SCALES[scale]


# What Block is for.
class Block(nn.Module):
  width: int
  scale: str = "large"

  @nn.compact
  def __call__(self, x):
    x = activate(nn.Dense(self.width)(x), self.scale)
    return nn.Dropout(0.5, deterministic=False)(x)


class Stack(nn.Module):
  depth: int
  config: Config

  @nn.compact
  def __call__(self, x):
    assert isinstance(self.config, Config)
    for _ in range(self.depth):
      x = Block(self.config.width)(x)
    return x


BLOCKS = {"block": Block}


class Odd(nn.Module):
  """Reads its own path."""

  @nn.compact
  def __call__(self, x):
    x = Stack(2, Config(4))(x)
    x = BLOCKS["block"](3)(x)
    return Block(2)(x) * len(self.path)
'''

MODEL = """import functools

import jax
from flax import linen as nn

from . import layers
from .layers import Block, Config, Odd
from .layers import Stack as Tower


class Head(nn.Module):
  features: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.features)(Block(7)(x))


class Model(Head):
  block: type = Block

  @nn.compact
  def __call__(self, x):
    x = Head(6)(x)
    x = Tower(2, Config(4))(x)
    x = layers.Block(3)(self.block(5)(x))
    if self.path:
      x = -x
    assert isinstance(self, Head)
    return nn.Dense(self.features)(Odd()(x))


class Given(nn.Module):
  block: type

  @nn.compact
  def __call__(self, x):
    return self.block(5)(x) + len(self.path)


given = functools.partial(Given, block=Block)


class Wrapper(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.inner(x) + len(self.path)


def wrapped():
  inner = Block(4)
  return Wrapper(inner)


def run():
  x = jax.numpy.ones((2, 3))
  keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
  out = []
  for module in (Model(), given(), Given(Head), wrapped(), Wrapper(Head(2))):
    variables = module.init(keys, x)
    out += [variables, module.apply(variables, x, rngs={"dropout": jax.random.key(2)})]
  return out
"""

PACKAGE = {"pkg/__init__.py": "", "pkg/layers.py": LAYERS, "pkg/model.py": MODEL}


@pytest.fixture
def fresh() -> Iterator[None]:
    """No module of one side is left for the other."""
    yield
    for name in [n for n in sys.modules if n.partition(".")[0] == "pkg"]:
        del sys.modules[name]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def load(folder: Path, *names: str) -> ModuleType:
    """Import modules from a folder, in order; the last one."""
    for name in [n for n in sys.modules if n.partition(".")[0] in {x.partition(".")[0] for x in names}]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return [importlib.import_module(name) for name in names][-1]
    finally:
        sys.path.remove(str(folder))


def sources(folder: Path) -> list[SourceFile]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found.append(SourceFile.parse(path, name, path.read_text(), is_package=package))
    return found


def migrate(folder: Path, target: Path, options: Options | None = None) -> RunResult:
    result = migrate_project(sources(folder), options)
    for file in result.files:
        assert file.after is not None, file.diagnostics
        write(target, {str(file.path.relative_to(folder)): file.after})
    for path, text in result.created.items():
        write(target, {str(path.relative_to(folder)): text})
    return result


def assert_same(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def outcomes(result: RunResult) -> dict[str, str]:
    return {c.qualname.rpartition(".")[2]: str(c.outcome) for c in result.classes}
