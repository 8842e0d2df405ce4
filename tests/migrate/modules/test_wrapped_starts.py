"""What a wrapped module starts from where Linen's init computes that from the arrays that it is given."""

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

from .loading import module

TEXT = """import jax
import jax.numpy as jnp
from flax import linen as nn


class ActNorm(nn.Module):
    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", lambda key, x: 1.0 / (jnp.std(x, 0) + 1e-6), x)
        bias = self.param("bias", nn.initializers.normal(), (x.shape[-1],))
        count = self.variable("batch_stats", "count", lambda: jnp.sum(x > 0).astype(jnp.int32))
        return nn.Dense(3)((x + bias) * scale) + count.value


class Shaped(nn.Module):
    @nn.compact
    def __call__(self, x):
        w = self.param("w", lambda key, x: jax.random.normal(key, x.shape[1:]) + 0 * x.sum(), x)
        return x * w


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Shaped()(ActNorm()(nn.Dense(4)(x)))
"""


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any]:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    assert {c.qualname: str(c.outcome) for c in result.classes} == {
        "m.ActNorm": "bridged", "m.Shaped": "bridged", "m.Net": "native"
    }  # fmt: skip
    for path, content in result.created.items():
        module(path.stem, content)
    assert result.files[0].after is not None
    return module("starts_before", TEXT), module("starts_after", result.files[0].after)


@pytest.mark.parametrize("make", [lambda f: f(), lambda f: nnx.jit(f)()])
def test_what_is_not_known_is_no_number(sides: tuple[Any, Any], make: Any) -> None:
    with pytest.warns(UserWarning, match="ActNorm starts batch_stats/count, params/scale from what Linen's init is"):
        model = make(lambda: sides[1].Net(in_shape=(5, 3), rngs=nnx.Rngs(0)))
    assert jnp.isnan(model.ActNorm_0.scale[...]).all()
    assert not jnp.isnan(model.ActNorm_0.bias[...]).any()
    assert not jnp.isnan(model.ActNorm_0.Dense_0["kernel"][...]).any()
    assert jnp.isnan(model(jnp.ones((5, 3)))).all()


def test_what_shapes_tell_is_as_in_linen(sides: tuple[Any, Any]) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ActNorm starts")
        warnings.filterwarnings("error", "Shaped starts")
        model = sides[1].Net(in_shape=(5, 3), rngs=nnx.Rngs(0))
    assert np.isfinite(np.asarray(model.Shaped_0.w[...])).all()


def test_a_checkpoint_sets_it(sides: tuple[Any, Any]) -> None:
    linen, native = sides
    x = jnp.asarray(np.random.RandomState(0).randn(5, 3), jnp.float32)
    variables = linen.Net().init(jax.random.key(0), x)
    with pytest.warns(UserWarning, match="NaN until a checkpoint is loaded"):
        model = native.Net(in_shape=x.shape, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    np.testing.assert_allclose(model(x), linen.Net().apply(variables, x), rtol=1e-6)
    report = compat.check_equivalence(linen.Net(), variables, model, x)
    assert str(report.verdict) == "proved", report
