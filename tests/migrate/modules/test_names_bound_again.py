"""Factories under local names that are bound again: `cls = partial(Net)`, then `cls = partial(Outer, net_cls=cls)`."""

from __future__ import annotations

import ast
from pathlib import Path

import jax.numpy as jnp
import pytest
from nnx_migrate.migrate.linen.project.reaching import reaching
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

HEAD = """from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

ones = nn.initializers.ones
x = jnp.sin(jnp.arange(12.0)).reshape(2, 6)


class Small(nn.Module):
  size: int = 3
  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(self.size, kernel_init=ones)(x))


class Large(nn.Module):
  size: int = 5
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.size, kernel_init=ones)(nn.LayerNorm()(x))


class Around(nn.Module):
  net_cls: Any
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4, kernel_init=ones)(x)
    return nn.Dense(2, kernel_init=ones)(self.net_cls()(x))


class Whole(nn.Module):
  net_cls: Any
  @nn.compact
  def __call__(self, x):
    return nn.Dense(1, kernel_init=ones)(self.net_cls()(x))


"""
RUN = {
    "a chain of partials": "  cls = partial(Small, size=4)\n  cls = partial(Around, net_cls=cls)\n  model = Whole(cls)\n",
    "a chain behind a condition":
        "  cls = partial(Small, 4)\n  if x.ndim == 2:\n    cls = partial(Around, net_cls=cls)\n    model = Whole(cls)\n",
    "a parameter that is bound again": "  net = partial(Around, net_cls=net)\n  model = Whole(net_cls=net)\n",
    "a name that is bound again behind the use":
        "  cls = partial(Small)\n  model = Around(net_cls=cls)\n  cls = Around\n",
    "a size that is changed before the model is initialized":
        "  size = 3\n  model = Around(partial(Small, size=size))\n  size = 7\n",
    "a size that a loop changes":
        "  size = 3\n  model = Around(partial(Small, size))\n  for size in range(2, 5):\n    print(size)\n",
    "a list that shrinks":
        "  sizes = [3, 4]\n  model = Around(partial(Small, sizes[-1]))\n  if x.ndim == 2:\n    sizes.pop()\n",
    "a table that changes":
        "  sizes = {'a': 3}\n  model = Around(partial(Small, sizes['a']))\n  sizes['a'] += 2\n",
    "a name that a function takes":
        "  size = 3\n  model = Around(partial(Small, size))\n  def size():\n    return 4\n",
}  # fmt: skip


@pytest.mark.parametrize("what", RUN)
def test_both_sides_compute_the_same(what: str) -> None:
    text = f"{HEAD}def run(net=Small):\n{RUN[what]}"
    text += "  params = model.init(jax.random.key(0), x)\n  return model.apply(params, x)\n"
    result = migrate_project([SourceFile.parse(Path("again.py"), "again", text)])
    plans = {c.qualname: c for c in result.classes}
    assert plans["again.Around"].outcome == "native", plans["again.Around"].reason
    for created, content in result.created.items():
        _module(created.stem, content)
    linen, native = _module("again_linen", text), _module("again_nnx", result.files[0].after or "")
    assert jnp.array_equal(linen.run(), native.run())


USES = {
    "a = 1\na = 2\nuse(a)": ([2], False),
    "use(a)\na = 2": ([], True),
    "a = 1\na = f(a)": ([1], False),
    "a = f(a)": ([], True),
    "if b:\n  a = 1\nuse(a)": ([2], True),
    "a = 1\nif b:\n  a = 2\nuse(a)": ([1, 3], False),
    "a = 1\nif b:\n  a = 2\nelse:\n  use(a)": ([1, 3], False),
    "for i in b:\n  use(a)\n  a = 2": ([3], True),
    "for i in b:\n  a = 1\n  use(a)\n  a = 2": ([2], False),
    "a = 0\nfor i in b:\n  a = f(a)": ([1, 3], False),
    "a = 0\nwhile (a := f(a)):\n  pass": ([1, 2], False),
    "a = 0\na = 1\ntry:\n  a = 2\nexcept E:\n  use(a)": ([2, 4], False),
    "a = 1\ndef g():\n  return use(a)\na = 2": ([1, 4], True),
    "a = 1\ng = lambda: use(a)\na = 2": ([1, 3], True),
}


@pytest.mark.parametrize("body", USES)
def test_what_a_use_may_see(body: str) -> None:
    lines = "\n".join(f"  {line}" for line in body.splitlines())
    source = SourceFile.parse(Path("m.py"), "m", f"def fun(a):\n{lines}\n")
    (scope,) = source.tree.body
    named = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == "a"]
    (use,) = [n for n in named if isinstance(n.ctx, ast.Load)]
    binders = [n for n in ast.walk(scope) if isinstance(n, ast.Assign | ast.NamedExpr) and _names(n) == "a"]
    seen, outside = reaching(source, use, scope, binders)
    lines_seen, from_outside = USES[body]
    assert sorted(n.lineno - 1 for n in seen) == lines_seen and outside == from_outside


def _names(node: ast.Assign | ast.NamedExpr) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return target.id if isinstance(target, ast.Name) else ""
