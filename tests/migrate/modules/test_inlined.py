"""Functions of other files whose text goes to the classes that call them, and where findings point then."""

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
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.nnx.classes import modules
from nnx_migrate.migrate.nnx.linen_copies import Copies
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.plan import ClassPlan, Plan
from nnx_migrate.migrate.source import SourceFile

MAKERS = """import functools
from functools import partial

import flax.linen as nn
import jax.numpy as jnp

WIDE = 3
Plain = partial(nn.Dense, use_bias=False)


class Own(nn.Module):
  n: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.n)(x)


def chain(sizes, act=jnp.tanh):
  layers = []
  for size in sizes:
    layers += [nn.Dense(size * WIDE), act]
  return nn.Sequential([*layers, Plain(WIDE)])


def own(n):
  made = Own(n)
  return made
"""
USER = """from flax import linen as nn

from inlined_makers import chain, own
{more}

class Model(nn.Module):
  @nn.nowrap
  def unused(self):
    return {unused}

  def setup(self):
    self.a = chain((4, 2))
    self.b = chain((1,), act=nn.relu)
    self.c = own(5)

  def __call__(self, x):
    return self.c(self.b(self.a(x)))
"""


def _migrated(files: dict[str, str]) -> RunResult:
    return migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()])


def _load(name: str, text: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("more,unused", [("", "1"), ("from functools import partial\n", "partial(max, 2)(3)")])
def test_the_text_of_another_file_finds_its_names(more: str, unused: str) -> None:
    files = {"inlined_makers": MAKERS, "inlined_user": USER.format(more=more, unused=unused)}
    result = _migrated(files)
    assert {c.outcome for c in result.classes} == {"native"}, [c.reason for c in result.classes]
    x = jnp.asarray(np.random.RandomState(0).randn(2, 5), jnp.float32)
    linen = [_load(name, text) for name, text in files.items()][-1].Model()
    variables = linen.init(jax.random.key(0), x)
    expected = linen.apply(variables, x)
    after = {file.path.stem: file.after or "" for file in result.files}
    native = [_load(name, after[name]) for name in files][-1].Model(in_features=5, rngs=nnx.Rngs(0))
    compat.from_linen(variables, native)
    assert (native(x) == expected).all()
    assert jax.tree.structure(compat.to_linen(native)["params"]) == jax.tree.structure(variables["params"])
    again = _migrated(after)
    assert [file.after for file in again.files] == [file.before for file in again.files]


@pytest.mark.parametrize("more", ["WIDE = 4\n", "from somewhere import *\n", "\ndef helper(WIDE):\n  return WIDE\n\n"])
def test_a_name_that_means_something_else_in_the_callers_file_refuses(more: str) -> None:
    result = _migrated({"inlined_makers": MAKERS, "inlined_user": USER.format(more=more, unused="1")})
    (plan,) = [c for c in result.classes if c.qualname.endswith("Model")]
    assert (plan.outcome, plan.code) == ("bridged", "NNX135"), plan.reason
    assert "chain((4, 2))" in next(f.after or "" for f in result.files if f.path.stem == "inlined_user")


def test_findings_point_to_the_text_that_the_user_has() -> None:
    odd = "\n\nclass Odd(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    return self.perturb('p', x)\n"
    text = USER.format(more="", unused="1") + odd
    result = _migrated({"inlined_makers": MAKERS, "inlined_user": text})
    plans = {c.qualname.rpartition(".")[2]: c for c in result.classes}
    assert (plans["Model"].outcome, plans["Odd"].outcome) == ("native", "bridged")
    (file,) = [f for f in result.files if f.path.stem == "inlined_user"]
    assert file.before == text
    lines = text.splitlines()
    assert [lines[plans[name].line - 1] for name in ("Model", "Odd")] == ["class Model(nn.Module):", "class Odd(nn.Module):"]
    assert "class Odd(nn.Module):" in [lines[d.line - 1] for d in file.diagnostics if d.code == "NNX145"]


NORMS = """import functools

from flax import linen as nn
import jax.numpy as jnp


def get_norm(kind, train, dtype=jnp.float32):
  if kind == 'batch':
    return functools.partial(nn.BatchNorm, use_running_average=not train, dtype=dtype)
  elif kind in ['layer', 'pre']:
    return functools.partial(nn.LayerNorm, dtype=dtype)
  raise ValueError(kind)
"""
NORMED = """from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

import inlined_norms


def odd(x):
  return jax.tree.leaves({'a': x, 'b': x * 2})[0]


class Attend(nn.Module):
  heads: int
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(self, q, kv, mask=None, train=False):
    norm = inlined_norms.get_norm('layer', train, dtype=self.dtype)
    query = odd(nn.DenseGeneral((self.heads, q.shape[-1]), name='query')(q))
    key = odd(nn.DenseGeneral((self.heads, q.shape[-1]), name='key')(kv))
    value = odd(nn.DenseGeneral((self.heads, q.shape[-1]), name='value')(kv))
    query, key, value = norm()(query), norm(name='of_key')(key), norm()(value)
    weights = jnp.einsum('bqhd,bkhd->bhqk', query, key)
    if mask is not None:
      weights = jnp.where(mask, weights, -1e9)
    x = jnp.einsum('bhqk,bkhd->bqhd', nn.softmax(weights), value)
    out = nn.DenseGeneral(q.shape[-1], axis=(-2, -1), name='out')(odd(x))
    out_norm = inlined_norms.get_norm('batch', train)
    return out_norm()(odd(out))


class SelfAttend(Attend):
  @nn.compact
  def __call__(self, q, mask=None, train=False):
    return super().__call__(q, q, mask, train=train)


class Model(nn.Module):
  @nn.compact
  def __call__(self, x, y, mask=None, train=False):
    x = SelfAttend(2)(x, mask, train)
    x = SelfAttend(3)(nn.Dense(5)(x), train=train)
    return Attend(2)(x, y, train=train)
"""


@pytest.mark.parametrize("masked", [False, True])
def test_the_text_of_another_file_is_taken_where_sizes_are_not_known_either(masked: bool) -> None:
    files = {"inlined_norms": NORMS, "inlined_normed": NORMED}
    result = _migrated(files)
    plans = {c.qualname.rpartition(".")[2]: c for c in result.classes}
    assert {c.outcome for c in result.classes} == {"native"}, [c.reason for c in result.classes]
    random = np.random.RandomState(0)
    x, y = (jnp.asarray(random.randn(2, *shape), jnp.float32) for shape in ((4, 6), (3, 7)))
    mask = jnp.asarray(random.rand(2, 1, 4, 4) > 0.3) if masked else None
    linen = [_load(name, text) for name, text in files.items()][-1].Model()
    variables = linen.init(jax.random.key(0), x, y, mask)
    for name, content in result.created.items():
        _load(name.stem, content)
    after = {file.path.stem: file.after or "" for file in result.files}
    call = {"x": x, "y": y, "mask": mask, "train": False}
    added = {a.name: eval(a.origin, {}, call) for a in plans["Model"].added_arguments}
    native = [_load(name, after[name]) for name in files][-1].Model(**added, rngs=nnx.Rngs(0))
    assert jax.tree.structure(compat.to_linen(native)) == jax.tree.structure(variables)
    compat.from_linen(variables, native)
    assert (native(x, y, mask) == linen.apply(variables, x, y, mask)).all()
    expected, changed = linen.apply(variables, x, y, mask, train=True, mutable=["batch_stats"])
    assert (native(x, y, mask, train=True) == expected).all()
    state = compat.to_linen(native)["batch_stats"]
    assert all(jax.tree.leaves(jax.tree.map(lambda a, b: (a == b).all(), state, changed["batch_stats"])))


AROUND = """

class Above(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Model()(x)


class Apart(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(x)
"""


@pytest.mark.parametrize("more, whole", [("", 2), ("WIDE = 4\n", 1)])
def test_a_trial_decides_what_uses_the_class_and_the_rest_only_when_it_helps(
    monkeypatch: pytest.MonkeyPatch, more: str, whole: int
) -> None:
    asked: list[set[str]] = []
    decide = modules.decide

    def counted(
        project: Project, plan: Plan, options: Options, per_file: object, apart: dict[str, ClassPlan] | None
    ) -> Copies:
        asked.append({name.rpartition(".")[2] for name in {c for c in project.linen_classes if c not in (apart or {})}})
        return decide(project, plan, options, {}, apart)

    monkeypatch.setattr(modules, "decide", counted)
    result = _migrated({"inlined_makers": MAKERS, "inlined_user": USER.format(more=more, unused="1") + AROUND})
    outcomes = {c.qualname.rpartition(".")[2]: str(c.outcome) for c in result.classes}
    assert outcomes["Model"] == ("native" if whole == 2 else "bridged") and outcomes["Apart"] == "native"
    every = {"Own", "Model", "Above", "Apart"}
    assert asked.count(every) == whole and asked[0] == every
    assert all(names == {"Model", "Above"} for names in asked[1 : len(asked) - (whole == 2)])
    assert (len(asked) > 2) == (whole == 2)


LOOP = "def make(x, n{more}):\n  for i in range(n):\n    x = nn.relu(nn.Dense(4)(x))\n  return {last}\n\n\n"
WHY = {
    "the function's text cannot stand there": (
        LOOP.format(more=", sizes=[]", last="x"),
        "make(make(x, self.n), 2)",
        "(a function's text cannot stand in the class: it has a default that may change)",
    ),
    "its text makes something that cannot be followed": (
        LOOP.format(more="", last="nn.Dense(int(x.sum()))(x)"),
        "make(x, self.n)",
        "(with the text of what it calls: `features` of Dense is `int(x.sum())`",
    ),
}


@pytest.mark.parametrize("what", WHY)
def test_the_reason_says_what_came_of_the_functions_text(what: str) -> None:
    function, call, why = WHY[what]
    model = f"class M(nn.Module):\n  n: int\n  @nn.compact\n  def __call__(self, x):\n    return {call}\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", f"from flax import linen as nn\n\n\n{function}{model}")])
    (plan,) = result.classes
    assert plan.outcome == "bridged" and why in plan.reason, plan.reason


def test_the_reason_says_what_came_of_conditions_for_a_match_statement() -> None:
    text = (
        "from flax import linen as nn\n\n\nclass M(nn.Module):\n  kind: str\n  @nn.compact\n  def __call__(self, x):\n"
        "    match self.kind:\n      case 'wide':\n        x = nn.Dense(int(x.sum()))(x)\n    return x\n"
    )
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert "(in another form: `features` of Dense is `int(x.sum())`" in plan.reason, plan.reason
