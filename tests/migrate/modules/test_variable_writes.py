"""Variables that get values of other shapes and dtypes than they had: Linen puts these in their place."""

from __future__ import annotations

import warnings
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

from .loading import both_sides

TEXT = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Kinds(nn.Module):
    @nn.compact
    def __call__(self, x):
        count = self.variable("stats", "count", lambda: jnp.zeros((), jnp.int32))
        total = self.variable("stats", "total", lambda: jnp.zeros((), jnp.int32))
        mean = self.variable("stats", "mean", lambda: jnp.ones((3,), jnp.float32))
        half = self.variable("stats", "half", lambda: jnp.ones((3,), jnp.bfloat16))
        seen = self.variable("stats", "seen", jnp.zeros, (1, 3))
        if not self.is_initializing():
            count.value += 1
            total.value += 0.5
            mean.value = x.mean()
            half.value = (
                0.9 * half.value  # of what was there
                + 0.1 * x.mean(0)
            )
            seen.value = x
        return nn.Dense(2)(x) + total.value + mean.value.sum() + half.value.sum() + seen.value.sum() + count.value


class Together(nn.Module):
    def setup(self):
        self.low = self.variable("stats", "low", lambda: jnp.zeros((), jnp.int32))
        self.high = self.variable("stats", "high", lambda: jnp.zeros((), jnp.int32))
        self.out = nn.Dense(2)

    def ends(self, x):
        return x.min(), x.max()

    def __call__(self, x):
        high_value = self.out(x)
        if not self.is_initializing():
            self.low.value, self.high.value = self.ends(x)
            first = self.low.value = self.low.value + 1  # one more
            high_value = high_value + first
        return high_value + self.low.value + self.high.value


class Several(nn.Module):
    @nn.compact
    def __call__(self, x):
        ends = self.variable("stats", "ends", lambda: (jnp.zeros((3,)), jnp.ones((3,))))
        ends.value, factor = (ends.value[1], x.sum(0)), 2.0
        return nn.Dense(3)(x) * factor + ends.value[0].sum()


class Cached(nn.Module):
    def update(self, key, cached, index, lengths=None):
        if lengths is not None:
            index.value = lengths
        return jax.lax.dynamic_update_slice(cached.value, key, (0, 0)), index.value + 1

    @nn.compact
    def __call__(self, x, lengths=None):
        ready = self.has_variable("cache", "cached")
        cached = self.variable("cache", "cached", jnp.zeros, x.shape, x.dtype)
        index = self.variable("cache", "index", lambda: jnp.array(0, dtype=jnp.int32))
        y = nn.Dense(4)(x)
        if ready:
            if lengths is None:
                lengths = jnp.zeros((x.shape[0],)).astype(index.value.dtype)
            cached_value, index_value = self.update(x, cached, index, lengths)
            cached.value = cached_value
            index.value = index_value
        return y + cached.value.sum() + index.value.sum()
"""
LINEN, NATIVE = both_sides("variable_writes", TEXT)
X = jnp.linspace(-1, 2, 6, dtype=jnp.float32).reshape(2, 3)


def _seen(tree: Any) -> dict[str, tuple[tuple[int, ...], str, list[float]]]:
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {
        jax.tree_util.keystr(p, simple=True, separator="/"): (
            v.shape,
            str(v.dtype),
            np.asarray(v, np.float32).ravel().tolist(),
        )
        for p, v in leaves
    }


@pytest.mark.parametrize("name", ["Kinds", "Together", "Several", "Cached"])
def test_what_is_there_is_replaced(name: str) -> None:
    module = getattr(LINEN, name)()
    variables = module.init(jax.random.key(0), X)
    model = getattr(NATIVE, name)(in_features=3, rngs=nnx.Rngs(0))
    if name == "Cached":
        model(X)  # as Linen's init, which makes the cache
    compat.from_linen(variables, model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a value that is cast, and of `.value`
        for factor in (1, 2, 3):
            expected, changed = module.apply(variables, X * factor, mutable=["stats", "cache"])
            variables = {**variables, **changed}
            assert np.array_equal(model(X * factor), expected)
            assert _seen(compat.to_linen(model)) == _seen(variables)


@pytest.mark.parametrize(
    "statement",
    [
        "for seen.value in (x, 2 * x): pass",
        "y = 1; y, seen.value = x, x",
        "with open(name) as seen.value: pass",
    ],
)
def test_what_gets_no_name_stays(statement: str) -> None:
    text = f"""import flax.linen as nn
import jax.numpy as jnp


class M(nn.Module):
    @nn.compact
    def __call__(self, x, name=""):
        seen = self.variable("stats", "seen", jnp.zeros, (3,))
        {statement}
        return nn.Dense(2)(x) + seen.value.sum()
"""
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX166"), plan.reason
