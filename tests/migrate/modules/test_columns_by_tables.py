"""`t[:, None] * table`, where nothing shows how long the table is: not one wide, nor as wide as t."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

TEXT = '''import jax.numpy as jnp
import numpy as np
from flax import linen as nn


def table_of(size):
    rows, k = [], 0
    while k < size // 2:
        rows.append(10.0**-k)
        k += 1
    return np.array(rows)


class Steps(nn.Module):
    size: int = 6

    def table(self, k):
        steps = -np.log(100) * np.arange(0, 1, 2 / self.size)
        x = k[:, None] * np.exp(steps)[None, :]
        return jnp.concatenate([jnp.sin(x), jnp.cos(x)], axis=-1)

    @nn.compact
    def __call__(self, t):
        return nn.Dense(3)(self.table(t * 5))


class Rows(nn.Module):
    size: int = 6

    @nn.compact
    def __call__(self, t):
        steps = jnp.arange(0, 1, 2 / self.size)
        return nn.Dense(3)(t[:, None] * steps)


class Foreign(nn.Module):
    size: int = 6

    @nn.compact
    def __call__(self, t):
        return nn.Dense(3)(t[:, None] * table_of(self.size)), nn.Dense(2)(t[:, None] / 5)


class Added(nn.Module):
    size: int = 6

    @nn.compact
    def __call__(self, t):
        table = jnp.asarray(table_of(self.size))
        return nn.Dense(3)(t[:, None] + table[None])
'''


@pytest.mark.parametrize("name,widths", [("Steps", 2), ("Rows", 1), ("Foreign", 1), ("Added", 1)])
def test_the_width_is_asked_for(name: str, widths: int) -> None:
    result = migrate_project([SourceFile.parse(Path("columns.py"), "columns", TEXT)])
    plan = next(c for c in result.classes if c.qualname.endswith(name))
    assert plan.outcome == "native", plan.reason
    linen, native = module("columns_linen", TEXT), module("columns_nnx", str(result.files[0].after))
    for shape, size in (((5,), 6), ((5,), 8)):
        t = jnp.asarray(np.random.RandomState(0).randn(*shape), jnp.float32)
        one = getattr(linen, name)(size)
        variables = one.init(jax.random.key(0), t)
        sizes: dict[str, Any] = {"t.shape": t.shape}
        added = {a.name: sizes.get(a.origin, widths * size // 2) for a in plan.added_arguments}
        assert len(set(added) - {"in_shape"}) == 1
        made = getattr(native, name)(size, **added, rngs=nnx.Rngs(0))
        compat.from_linen(variables, made)
        jax.tree.map(np.testing.assert_array_equal, one.apply(variables, t), made(t))
