"""Helper functions that make layers for their callers: in files of their own, and what stays Linen."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

OPS = """import math

import flax.linen as nn
import jax.numpy as jnp


def mlp(module, x, width, name, dtype=jnp.float32):
  scale = module.param(name, nn.initializers.normal(1 / math.sqrt(width)), (x.shape[-1],), dtype)
  x = nn.Dense(width, kernel_init=nn.initializers.normal(0.5))(x * scale)
  return nn.Dropout(0.5)(nn.relu(x), deterministic=True) * module.gain
"""
MODEL = """from typing import Any

from flax import linen as layers

from helper_ops import mlp


class Model(layers.Module):
  width: int
  gain: float = 2.0

  @layers.compact
  def __call__(self, x):
    x = mlp(self, x, self.width, "first")
    return mlp(self, x, 3, "second")
"""
HEAD = "import functools\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"


def _load(name: str, text: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def _migrated(files: dict[str, str]) -> RunResult:
    return migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()])


def test_a_helper_of_another_file_gives_the_same_numbers() -> None:
    files = {"helper_ops": OPS, "helper_model": MODEL}
    result = _migrated(files)
    assert [c.outcome for c in result.classes] == ["native"], result.classes[0].reason
    x = jnp.asarray(np.random.RandomState(0).randn(2, 5), jnp.float32)
    _load("helper_ops", OPS)
    linen = _load("helper_model", MODEL).Model(width=7)
    variables = linen.init(jax.random.key(0), x)
    expected = linen.apply(variables, x)
    after = {f.source.module if hasattr(f, "source") else f.path.stem: f.after for f in result.files}
    for created, content in result.created.items():
        _load(created.stem, content)
    for name in files:
        text = after[name]
        assert text is not None and "linen" not in text.replace("linen_parity", "")
        module = _load(name, text)
    native = module.Model(width=7, in_features=5, rngs=nnx.Rngs(0))
    compat.from_linen(variables, native)
    assert jnp.array_equal(native(x), expected)


REFUSED = {
    "a helper for setup that makes two": """def dense(n):
  return nn.Dense(n), nn.Dense(n)


class M(nn.Module):
  def setup(self):
    self.head, self.other = dense(3)

  def __call__(self, x):
    return self.head(x)
""",
    "a decorated helper": """@jax.jit
def dense(x):
  return nn.Dense(3)(x)


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    return dense(x)
""",
    "a helper of Linen's own": """from flax.linen.normalization import _normalize


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    mean, var = x.mean(0), x.var(0)
    zeros, ones = nn.initializers.zeros, nn.initializers.ones
    rest = (None, jnp.float32, 1e-5, True, True, zeros, ones)
    return _normalize(self, x, mean, var, (0,), (1,), *rest)
""",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_helper_cannot_be_handed_stays_linen(what: str) -> None:
    plan = _migrated({"m": HEAD + REFUSED[what]}).classes[-1]
    assert (plan.outcome, plan.code) == ("bridged", "NNX135"), plan.reason


def test_a_helper_that_a_linen_class_uses_too_is_kept_for_it() -> None:
    text = (
        HEAD
        + """def dense(x, n):
  return nn.relu(nn.Dense(n)(x))


class Native(nn.Module):
  @nn.compact
  def __call__(self, x):
    return dense(x, 3)


class Odd(nn.Module):
  @nn.compact
  def __call__(self, x):
    return self.perturb("p", dense(x, 3))
"""
    )
    result = _migrated({"kept": text})
    outcomes = {c.qualname: c.outcome for c in result.classes if c.code != "NNX178"}
    assert outcomes == {"kept.Native": "native", "kept.Odd": "bridged"}
    after = result.files[0].after
    assert after is not None and "kept_linen.dense(x, 3)" in after and "dense(x, 3, dense=self.Dense_0)" in after


@pytest.mark.parametrize("make,code", [
    ("list(map(dense, (3, 4), (True, False)))[0]", "NNX134"),
])  # fmt: skip
def test_a_helper_for_setup_by_another_name_stays_linen(make: str, code: str) -> None:
    body = f"""def dense(n, b):
  return nn.Dense(n, use_bias=b)


class M(nn.Module):
  n: int = 3

  def setup(self):
    self.head = {make}

  def __call__(self, x):
    return self.head(x)
"""
    (plan,) = _migrated({"m": HEAD + body}).classes
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason


MAKERS = """import functools
import math

import flax.linen as nn

WIDE = 3
init = nn.initializers.ones
Plain = functools.partial(nn.Dense, use_bias=False)


class Own(nn.Module):
  n: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.n)(x)


def wide(n):
  return nn.Dense(n * WIDE)


def ones(n, i=init):
  return nn.Dense(math.ceil(n / 2), kernel_init=i)


def plain(n):
  return Plain(n)


def own(n):
  return Own(n)
"""
USER = """import flax.linen as nn

import {maker}


class Model(nn.Module):
  def setup(self):
    self.a, self.b = {maker}.wide(2), {maker}.ones(5)
    self.c, self.d = {maker}.plain(3), {maker}.own(4)

  def __call__(self, x):
    return self.d(self.c(self.b(self.a(x))))
"""


def test_a_helper_of_another_file_makes_modules_for_setup() -> None:
    files = {"setup_makers": MAKERS, "setup_user": USER.format(maker="setup_makers")}
    result = _migrated(files)
    assert {c.outcome for c in result.classes} == {"native"}, [c.reason for c in result.classes]
    x = jnp.asarray(np.random.RandomState(0).randn(2, 5), jnp.float32)
    _load("setup_makers", MAKERS)
    linen = _load("setup_user", files["setup_user"]).Model()
    variables = linen.init(jax.random.key(0), x)
    expected = linen.apply(variables, x)
    after = {f.path.stem: f.after for f in result.files}
    for name in files:
        text = after[name]
        assert text is not None
        module = _load(name, text)
    native = module.Model(in_features=5, rngs=nnx.Rngs(0))
    compat.from_linen(variables, native)
    assert jnp.array_equal(native(x), expected)


CHUNKED = """import flax.linen as nn
import jax

def chunked(ffn, x, size):
  b, n, d = x.shape
  x = x.reshape(b, size, n // size, d)
  def body(module, carry, h):
    return carry, module(h)
  _, y = nn.scan(body, variable_broadcast="params", split_rngs={"params": False}, in_axes=2, out_axes=2)(ffn, None, x)
  return y.reshape(b, n, d)
"""
CHUNK_USER = """import flax.linen as nn
from chunk_ops import chunked

class Ffn(nn.Module):
  n: int = 4
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.n)(x)

class Model(nn.Module):
  n: int = 4
  def setup(self):
    self.ffn = Ffn(self.n)
  def __call__(self, x):
    return chunked(self.ffn, x, 2)
"""


def test_a_lifted_function_of_another_file_gets_its_imports() -> None:
    files = {"chunk_ops": CHUNKED, "chunk_user": CHUNK_USER}
    result = _migrated(files)
    assert {c.outcome for c in result.classes} == {"native"}, [c.reason for c in result.classes]
    x = jnp.asarray(np.random.RandomState(0).randn(2, 4, 4), jnp.float32)
    _load("chunk_ops", CHUNKED)
    linen = _load("chunk_user", CHUNK_USER).Model()
    variables = linen.init(jax.random.key(0), x)
    expected = linen.apply(variables, x)
    for name in files:
        text = {f.path.stem: f.after for f in result.files}[name]
        assert text is not None and "linen" not in text
        module = _load(name, text)
    native = module.Model(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, native)
    assert jnp.array_equal(native(x), expected)


CHOSEN = {
    "by a name": "def setup(self):\n  make = plain\n  if self.c:\n    make = bare\n  self.d = make(4)\n"
    "def __call__(self, x):\n  return self.d(x)",
    "in a loop": "def setup(self):\n  self.d = [make(4) for make in (plain, bare)]\n"
    "def __call__(self, x):\n  return self.d[1](x)",
}


@pytest.mark.parametrize("how", CHOSEN)
def test_a_helper_that_is_chosen_from_several_stays_linen(how: str) -> None:
    helpers = "def plain(n):\n  return nn.Dense(n)\ndef bare(n):\n  return nn.Dense(n, use_bias=False)\n"
    body = "".join(f"  {line}\n" for line in CHOSEN[how].splitlines())
    text = f"{HEAD}{helpers}class M(nn.Module):\n  c: bool = True\n{body}"
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX135"), plan.reason


def test_a_helper_that_code_outside_of_modules_calls_too_constructs_nothing_there() -> None:
    text = """from flax import linen as nn
import jax.numpy as jnp


class Same(nn.Module):
  @nn.compact
  def __call__(self, x):
    return x


def attend(x, capture=False):
  x = x * 2
  if capture:
    x = Same(name='weights')(x)
  return x


class Model(nn.Module):
  capture: bool = False
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(attend(x, capture=self.capture))


def check():
  return attend(jnp.ones((2, 3)))
"""
    result = _migrated({"attended": text})
    after = result.files[0].after
    assert after is not None and not [d for d in result.files[0].diagnostics if d.code == "NNX001"]
    assert {c.outcome.value for c in result.classes} == {"native"}
    assert "    x = same(x)\n" in after and "Functional" not in after
    linen, native = _load("attended_linen", text), _load("attended_nnx", after)
    assert jnp.array_equal(linen.check(), native.check())
    x = jnp.arange(8.0).reshape(2, 4)
    variables = linen.Model(True).init(jax.random.key(0), x)
    model = native.Model(True, in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    assert jnp.array_equal(linen.Model(True).apply(variables, x), model(x))


@pytest.mark.parametrize("name", ['f"{i}"', 'f"b_{i}"', "self.label + str(i)"])
def test_a_name_that_a_function_of_another_file_hands_on(name: str) -> None:
    """It stands in the file of the caller, and is said there."""
    files = {
        "handing_body": "from flax import linen as nn\n\n\n"
        "class Body(nn.Module):\n  size: int\n\n  @nn.compact\n  def __call__(self, x):\n"
        "    return nn.Dense(self.size)(x)\n\n\n"
        "def body(size, *args, **kwargs):\n  return Body(size, *args, **kwargs)\n",
        "handing_model": "from flax import linen as nn\n\nfrom handing_body import body\n\n\n"
        + "# padding, so that lines of this file are none of the other\n" * 40
        + "class Model(nn.Module):\n  size: int = 3\n  label: str = 'b'\n\n  @nn.compact\n  def __call__(self, x):\n"
        f"    for i in range(2):\n      x = body(self.size, name={name})(x)\n    return x\n",
    }
    result = _migrated(files)
    assert {c.outcome for c in result.classes} == {"native"}, [c.reason for c in result.classes]
    x = jnp.arange(8.0).reshape(2, 4)
    linen = [_load(stem, text) for stem, text in files.items()][-1].Model()
    variables = linen.init(jax.random.key(0), x)
    expected = linen.apply(variables, x)
    after = {f.path.stem: f.after or "" for f in result.files}
    native = [_load(stem, after[stem]) for stem in files][-1].Model(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, native)
    assert jnp.array_equal(native(x), expected)
    assert name == 'f"{i}"' or jax.tree.structure(compat.to_linen(native)) == jax.tree.structure(variables)
