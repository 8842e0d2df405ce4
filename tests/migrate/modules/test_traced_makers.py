"""Modules that are made in functions given to transforms of JAX's, where they cannot be those of the method."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import jax
import jax.numpy as jnp
from flax import linen as nn


def widen(t):
    return nn.Dense(3)(t)


class Counting(nn.Module):
    @nn.compact
    def __call__(self, t):
        count = self.variable("state", "count", jnp.zeros, ())
        count.value += 1
        return nn.Dense(3)(t) * count.value


class M(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
"""
STAYS = {
    "statistics": "return jax.vmap(lambda t: nn.BatchNorm(use_running_average=not train)(t))(x)",
    "a drawing Dropout": "return jax.vmap(lambda t: nn.Dropout(0.5, deterministic=not train)(nn.Dense(3)(t)))(x)",
    "variables of a module": "return jax.vmap(lambda t: Counting()(t))(x)",
    "a variable": "return jax.vmap(lambda t: t + self.variable('state', 'n', jnp.zeros, (3,)).value)(x)",
    "sown values": "return jax.vmap(lambda t: (self.sow('intermediates', 't', t), nn.Dense(3)(t))[1])(x)",
    "a lifted module": "return jax.vmap(lambda t: nn.vmap(nn.Dense, variable_axes={'params': 0}, "
    "split_rngs={'params': True}, in_axes=0, axis_size=3)(2)(t))(x)",
    "a function of the file": "return jax.vmap(widen)(x)",
    "a scan": "return jax.lax.scan(lambda c, t: (c, nn.Dense(3)(t)), 0, x)[1]",
    "a map": "return jax.lax.map(lambda t: nn.Dense(3)(t), x)",
    "a tree": "return jax.tree.map(jax.vmap(lambda t: nn.Dense(3)(t)), [x, x])",
    "one that is not called": "head = jax.vmap(lambda t: nn.Dense(3)(t))\n        return x",
}


@pytest.mark.parametrize("what", STAYS)
def test_they_stay(what: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", f"{HEAD}        {STAYS[what]}\n")])
    plan = next(c for c in result.classes if c.qualname == "m.M")
    assert str(plan.outcome) == "bridged" and plan.code in ("NNX134", "NNX135", "NNX130", "NNX110", "NNX150"), plan.reason
