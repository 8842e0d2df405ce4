"""A parameter with the dtype of an array of the call: an argument of the constructor, and never a silent difference."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import jax.numpy as jnp
from flax import linen as nn


class Shift(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x + self.param('shift', nn.initializers.zeros, x.shape[-1:], x.dtype)
"""


def _native(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    result = migrate_project([SourceFile.parse(Path("shift.py"), "shift", TEXT)])
    for path, text in result.created.items():
        module = types.ModuleType(path.stem)
        exec(compile(text, path.name, "exec"), module.__dict__)
        monkeypatch.setitem(sys.modules, path.stem, module)
    after = result.files[0].after
    assert after is not None
    module = types.ModuleType("shift")
    exec(compile(after, "shift.py", "exec"), module.__dict__)
    return module


def test_the_dtype_is_an_argument_with_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    shift = _native(monkeypatch).Shift
    assert shift(in_features=3, rngs=nnx.Rngs(0)).shift.dtype == jnp.float32
    half = shift(in_features=3, shift_dtype=jnp.bfloat16, rngs=nnx.Rngs(0))
    assert half(jnp.ones((2, 3), jnp.bfloat16)).dtype == jnp.bfloat16


def test_another_dtype_raises_and_names_the_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    shift = _native(monkeypatch).Shift
    with pytest.raises(TypeError, match=r"shift_dtype=jnp\.bfloat16"):
        shift(in_features=3, rngs=nnx.Rngs(0))(jnp.ones((2, 3), jnp.bfloat16))


ASKED = """import numpy as np
from flax import linen as nn


class Positions(nn.Module):
  length: int = 4
  @nn.compact
  def __call__(self, x, dtype=np.float32):
    table = self.param('table', nn.initializers.normal(1.0), (1, self.length, x.shape[-1]), dtype)
    return x + table[:, :x.shape[1]]


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Positions()(nn.Dense(4)(x))
"""


def test_a_dtype_that_the_caller_gives_is_an_argument_with_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "TEXT", ASKED)
    module = _native(monkeypatch)
    positions = module.Positions(in_features=3, rngs=nnx.Rngs(0))
    x = jnp.ones((2, 4, 3))
    assert (positions(x) == x + positions.table[...]).all()
    assert module.Outer(in_features=3, rngs=nnx.Rngs(0))(x).shape == (2, 4, 4)
    with pytest.raises(TypeError, match=r"table_dtype=jnp\.bfloat16"):
        positions(x, dtype=jnp.dtype("bfloat16"))
    half = module.Positions(in_features=3, table_dtype=jnp.bfloat16, rngs=nnx.Rngs(0))
    assert half(x, dtype=jnp.bfloat16).dtype == jnp.float32
