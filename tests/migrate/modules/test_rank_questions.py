"""A question about an array's rank narrows it where the answer is yes, and nowhere else: what refuses other ranks by an
exception leaves the array as it was given.
"""

from __future__ import annotations

from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import flax.linen as nn
import jax.numpy as jnp


class Checked(nn.Module):
    @nn.compact
    def __call__(self, x):
        if x.ndim != 4:
            raise ValueError("four dimensions")
        return x * 2


class Widened(nn.Module):
    @nn.compact
    def __call__(self, x):
        if x.ndim == 2:
            x = x[:, None]
        return nn.Dense(4)(x)


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        b, n, c = x.shape
        h = Checked()(x.reshape(b, n, 2, c // 2)).reshape(b, n, c)
        return nn.Dense(3)(h) + Widened()(h).sum(-1, keepdims=True)


class Joined(nn.Module):
    @nn.compact
    def __call__(self, x, token):
        h = nn.LayerNorm()(jnp.concatenate([token, x], axis=1))
        return Asked()(h)


class Asked(nn.Module):
    @nn.compact
    def __call__(self, x):
        b, n, c = x.shape
        return nn.Dense(4)(x)
"""


def test_added_arguments() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    found = {plan.qualname.rpartition(".")[2]: [a.name for a in plan.added_arguments] for plan in result.classes}
    assert found == {
        "Checked": [],
        "Widened": ["in_features"],
        "Model": ["in_features"],
        "Joined": ["token_features"],
        "Asked": ["in_features"],
    }
