"""Models whose calls may leave out an array that a submodule takes: they are constructed and run without it, too."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """
import flax.linen as nn
import jax
import functools
import jax.numpy as jnp

Dense = functools.partial(nn.Dense, kernel_init=nn.initializers.constant(0.25))

class Film(nn.Module):
  @nn.compact
  def __call__(self, x, cond):
    return x + Dense(x.shape[-1])(cond)

class ByField(nn.Module):
  film: bool = False
  @nn.compact
  def __call__(self, x, train=True, cond=None):
    x = Dense(4)(x)
    if self.film:
      assert cond is not None
      x = Film()(x, cond)
    return x

class Around(nn.Module):
  film: bool = False
  def setup(self):
    self.first = ByField(self.film)
    self.second = ByField()
  def __call__(self, x, cond=None):
    return self.second(self.first(x, cond=cond))

class ByKeyword(nn.Module):
  @nn.compact
  def __call__(self, x, *, cond=None, scale: float = 2.0):
    x = Dense(4)(x)
    if cond is not None:
      x = x + Dense(4)(cond)
    return x * scale


def without(model, x):
  variables = model.init(jax.random.key(0), x)
  return variables, model.apply(variables, x)

def given(model, x, cond):
  variables = model.init(jax.random.key(0), x, cond=cond)
  return variables, model.apply(variables, x, cond=cond)

def run(x, cond):
  out = [without(model, x) for model in (ByField(), Around(), ByKeyword())]
  return out + [given(model, x, cond) for model in (ByField(film=True), Around(film=True), ByKeyword())]
"""


def _run(name: str, text: str) -> Any:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def test_both_sides_run_without_and_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", TEXT)])
    assert all(plan.outcome.value == "native" for plan in result.classes)
    after = result.files[0].after or ""
    assert "*_, cond=None, **__" in after and "lambda x, train=True, cond=None, *_" in after
    for path, content in result.created.items():
        monkeypatch.setitem(sys.modules, path.stem, _run(path.stem, content))
    x, cond = jnp.linspace(-1, 1, 6).reshape(2, 3), jnp.linspace(0, 1, 10).reshape(2, 5)
    old, new = _run("program_before", TEXT).run(x, cond), _run("program_after", after).run(x, cond)
    assert len(old) == 6
    assert jax.tree.structure(old) == jax.tree.structure(new)
    for a, b in zip(jax.tree.leaves(old), jax.tree.leaves(new), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
