"""A parameter with the dtype of an array of the call: an argument of the constructor, and never a silent difference."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

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
        created = types.ModuleType(path.stem)
        exec(compile(text, path.name, "exec"), created.__dict__)
        monkeypatch.setitem(sys.modules, path.stem, created)
    after = result.files[0].after
    assert after is not None
    native = types.ModuleType("shift")
    exec(compile(after, "shift.py", "exec"), native.__dict__)
    return native


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
    native = _native(monkeypatch)
    positions = native.Positions(in_features=3, rngs=nnx.Rngs(0))
    x = jnp.ones((2, 4, 3))
    assert (positions(x) == x + positions.table[...]).all()
    assert native.Outer(in_features=3, rngs=nnx.Rngs(0))(x).shape == (2, 4, 4)
    with pytest.raises(TypeError, match=r"table_dtype=jnp\.bfloat16"):
        positions(x, dtype=jnp.dtype("bfloat16"))
    half = native.Positions(in_features=3, table_dtype=jnp.bfloat16, rngs=nnx.Rngs(0))
    assert half(x, dtype=jnp.bfloat16).dtype == jnp.float32


OWN_TEXT = """import jax.numpy as jnp
from flax import linen as nn


class Scaled(nn.Module):
  alpha: float = 0.5
  @nn.compact
  def __call__(self, x):
    scale = self.param('scale', lambda key, shape: self.alpha * jnp.ones(shape, dtype=x.dtype), (x.shape[-1],))
    return x * scale


class Promoted(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x * self.param('scale', lambda key: jnp.ones((3,), dtype=x.dtype) * jnp.arange(3, dtype=jnp.float32))
"""


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_text_of_an_initializer_says_the_dtype(monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    monkeypatch.setitem(globals(), "TEXT", OWN_TEXT)
    native = _native(monkeypatch)
    linen = module("linen_side", OWN_TEXT)
    x = jnp.arange(6.0).reshape(2, 3).astype(dtype)
    variables = linen.Scaled(alpha=0.25).init(jax.random.key(0), x)
    made = native.Scaled(alpha=0.25, in_features=3, scale_dtype=x.dtype, rngs=nnx.Rngs(0))
    assert made.scale.dtype == variables["params"]["scale"].dtype == x.dtype
    assert (made.scale[...] == variables["params"]["scale"]).all()
    assert (made(x) == linen.Scaled(alpha=0.25).apply(variables, x)).all()
    with pytest.raises(TypeError, match=f"scale_dtype=jnp.{dtype}"):
        native.Scaled(in_features=3, scale_dtype=jnp.float16, rngs=nnx.Rngs(0))(x)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_may_have_another_dtype_than_it_says_is_made_by_an_example(
    monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    monkeypatch.setitem(globals(), "TEXT", OWN_TEXT)
    native = _native(monkeypatch)
    linen = module("linen_side", OWN_TEXT)
    x = jnp.ones((2, 3), dtype)
    variables = linen.Promoted().init(jax.random.key(0), x)
    made = native.Promoted(in_example=x, rngs=nnx.Rngs(0))
    assert made.scale.dtype == variables["params"]["scale"].dtype == jnp.float32
    assert (made(x) == linen.Promoted().apply(variables, x)).all()
