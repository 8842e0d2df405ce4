"""A `Functional` has Linen's keys for what several modules share and for modules in dicts: masks by name, checkpoints."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import jax
import numpy as np
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """
import functools
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax import serialization


class Encoder(nn.Module):
  embed: nn.Module
  @nn.compact
  def __call__(self, ids):
    x = nn.Dense(4)(self.embed(ids))
    self.sow('intermediates', 'encoded', x)
    return nn.BatchNorm(use_running_average=False)(x)


class Tied(nn.Module):
  def setup(self):
    self.shared = nn.Embed(7, 4)
    self.encoder = Encoder(embed=self.shared)
    self.heads = {'a': nn.Dense(4), 'b': [nn.Dense(4), nn.Dense(4)]}
  def __call__(self, ids):
    x = self.heads['b'][1](self.heads['b'][0](self.heads['a'](self.encoder(ids))))
    return self.shared.attend(x)


def train(model, ids, variables, steps):
  params, stats = variables['params'], variables['batch_stats']
  mask = jax.tree_util.tree_map_with_path(lambda path, _: 'shared' in str(path) or 'heads_b' in str(path), params)
  tx = optax.masked(optax.sgd(0.1), mask)
  state = tx.init(params)

  def loss(params, stats):
    logits, updated = model.apply({'params': params, 'batch_stats': stats}, ids, mutable=['batch_stats'])
    return optax.softmax_cross_entropy_with_integer_labels(logits, ids).mean(), updated

  for _ in range(steps):
    grads, updated = jax.grad(loss, has_aux=True)(params, stats)
    grads = jax.tree.map(lambda g, m: g if m else jnp.zeros_like(g), grads, mask)
    updates, state = tx.update(grads, state, params)
    params, stats = optax.apply_updates(params, updates), updated['batch_stats']
  return {'params': params, 'batch_stats': stats}


model = Tied()
ids = jnp.array([[1, 2], [3, 5]])
fresh = model.init(jax.random.key(0), ids)
fresh = {name: fresh[name] for name in ('params', 'batch_stats')}
_, seen = model.apply(fresh, ids, mutable=['intermediates', 'batch_stats'])
start = jax.tree.map(lambda v: 0.3 * jnp.sin(1.0 + jnp.arange(v.size, dtype=v.dtype)).reshape(v.shape), fresh['params'])
final = train(model, ids, {'params': start, 'batch_stats': fresh['batch_stats']}, 3)
saved = serialization.to_bytes(final)
"""


def _run(name: str, text: str) -> dict[str, Any]:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module.__dict__


def test_shared_modules_and_dicts_have_linens_keys() -> None:
    result = migrate_project([SourceFile.parse(Path("tied.py"), "tied", PROGRAM)])
    assert {c.outcome for c in result.classes} == {"native"}, result.classes
    after = result.files[0].after
    assert after is not None
    assert "linen_parity.Functional(Tied)" in after
    for path, text in result.created.items():
        _run(path.stem, text)
    linen, native = _run("tied_linen_side", PROGRAM), _run("tied_nnx_side", after)
    assert "shared" in linen["fresh"]["params"]
    assert "heads_b_1" in linen["fresh"]["params"]
    for name in ("fresh", "seen", "final"):
        assert jax.tree.structure(linen[name]) == jax.tree.structure(native[name]), name
    moved = linen["final"]["params"]["shared"]["embedding"] - linen["start"]["shared"]["embedding"]
    assert np.abs(moved).max() > 1e-3, "the mask lets the embedding train"
    for a, b in zip(jax.tree.leaves(linen["final"]), jax.tree.leaves(native["final"]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    restored = native["serialization"].from_bytes(native["final"], linen["saved"])
    assert jax.tree.structure(restored) == jax.tree.structure(linen["final"])
