"""First values that follow the dtypes of a call, in classes whose call tells shapes: on both sides, for several dtypes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

TEXT = """import jax
import jax.numpy as jnp
from flax import linen as nn


class ByClosure(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(5)(x)
        return y + self.param("w", lambda key: jnp.ones_like(x[0]))


class ByName(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(5)(x)
        like = jnp.zeros_like(x)
        return y * self.param("w", lambda key: like + 1)


class ByArgument(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(5)(x)
        return y * self.param("w", lambda key, a: jnp.ones(a.shape[1:], a.dtype), x)


class ByKeyword(nn.Module):
    @nn.compact
    def __call__(self, x):
        def init(key, n, a):
            return jnp.full_like(a, n)

        y = nn.Dense(5)(x)
        return y * self.param("w", init, a=x, n=3)


class Beside(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(5)(x)
        counts = jnp.arange(x.shape[1])
        return y * self.param("w", lambda key, a: jnp.full_like(a[0], 2) + counts[:, None], x)


class OfVariable(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(5)(x)
        like = jnp.zeros_like(x[0])
        return y + self.variable("stats", "n", lambda: like).value


class OfShape(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(5)(x)
        return y + self.param("w", lambda key, a: jnp.ones((a.shape[-1],)), x)
"""
CLASSES = ("ByClosure", "ByName", "ByArgument", "ByKeyword", "Beside", "OfVariable", "OfShape")


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("m.py"), "m", text)])


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any, dict[str, Any]]:
    result = _migrated(TEXT)
    for path, content in result.created.items():
        module(path.stem, content)
    assert result.files[0].after is not None
    plans = {c.qualname.removeprefix("m."): c for c in result.classes}
    return module("dtypes_before", TEXT), module("dtypes_after", result.files[0].after), plans


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.float16])
@pytest.mark.parametrize("name", CLASSES)
def test_fresh_variables_have_the_dtypes_of_linen(sides: tuple[Any, Any, dict[str, Any]], name: str, dtype: Any) -> None:
    linen, native, plans = sides
    assert plans[name].outcome == "native", plans[name].reason
    x = jnp.asarray(np.random.RandomState(0).randn(2, 8, 5), dtype)
    variables = getattr(linen, name)().init(jax.random.key(0), x)
    added = {a.name: eval(a.origin, {}, {"x": x}) for a in plans[name].added_arguments}
    model = getattr(native, name)(**added, rngs=nnx.Rngs(0))
    fresh = compat.to_linen(model)
    assert jax.tree.map(lambda v: (v.shape, v.dtype), fresh) == jax.tree.map(lambda v: (v.shape, v.dtype), variables)
    compat.from_linen(variables, model)
    expected, reached = getattr(linen, name)().apply(variables, x), model(x)
    assert expected.dtype == reached.dtype
    np.testing.assert_array_equal(np.asarray(expected, np.float32), np.asarray(reached, np.float32))


def test_a_shape_alone_needs_no_example(sides: tuple[Any, Any, dict[str, Any]]) -> None:
    assert [a.name for a in sides[2]["OfShape"].added_arguments] == ["in_shape"]


def test_an_argument_of_another_name_is_not_taken_for_it() -> None:
    body = TEXT[: TEXT.index("class ByClosure")] + (
        "class M(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        def init(key, n, a):\n            return jnp.ones(5) * a.mean()\n\n"
        "        y = nn.Dense(5)(x)\n        return y * self.param('w', init, a=x, n=3)\n"
    )
    assert _migrated(body).classes[0].outcome == "bridged"
