"""Caches that modules keep by themselves: several steps of decoding give the same numbers on both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

TEXT = (Path(__file__).parent / "forms_decoding.py").read_text()
RESULT = migrate_project([SourceFile.parse(Path("forms_decoding.py"), "forms_decoding", TEXT)])


for created, content in RESULT.created.items():
    _module(created.stem, content)
LINEN: Any = _module("decoding_linen", TEXT)
NATIVE: Any = _module("decoding_nnx", RESULT.files[0].after or "")


def _same(expected: Any, got: Any) -> None:
    assert jax.tree.structure(expected) == jax.tree.structure(got)
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got)):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def _model(name: str, fields: dict[str, Any], x: Any, params: Any) -> Any:
    plan = {c.qualname.rpartition(".")[2]: c for c in RESULT.classes}[name]
    assert plan.outcome == "native", plan.reason
    added = {a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}
    model = getattr(NATIVE, name)(**fields, **added, rngs=nnx.Rngs(0))
    compat.from_linen({"params": params}, model)
    return model


@pytest.mark.parametrize("name,fields,shape", LINEN.DECODED, ids=[case[0] for case in LINEN.DECODED])
def test_decoding_step_by_step(name: str, fields: dict[str, Any], shape: tuple[int, ...]) -> None:
    x = jax.random.normal(jax.random.key(3), shape)
    module = getattr(LINEN, name)(**fields)
    params = module.init(jax.random.key(0), x)["params"]
    model = _model(name, fields, x, params)
    _same(module.apply({"params": params}, x), model(x))  # a call that makes no cache
    assert not jax.tree.leaves(nnx.state(model, nnx.Cache))

    expected, state = module.apply({"params": params}, x, init_cache=True, mutable=["cache"])
    _same(expected, model(x, init_cache=True))
    moved = False
    for step in range(3):
        one = x[:, step : step + 1] * 0.5
        before = jax.tree.leaves(state["cache"])
        expected, state = module.apply({"params": params, **state}, one, mutable=["cache"])
        _same(expected, model(one))
        moved |= any((np.asarray(a) != np.asarray(b)).any() for a, b in zip(before, jax.tree.leaves(state["cache"])))
    assert moved  # the steps were steps
    cache = nnx.to_pure_dict(nnx.state(model, nnx.Cache))
    assert len(jax.tree.leaves(cache)) == len(jax.tree.leaves(state["cache"]))
    by_shape = sorted(jax.tree.leaves(state["cache"]), key=lambda a: (a.ndim, float(np.sum(np.asarray(a)))))
    ours = sorted(jax.tree.leaves(cache), key=lambda a: (a.ndim, float(np.sum(np.asarray(a)))))
    _same(by_shape, ours)


def test_decoding_compiled() -> None:
    """The same under nnx.jit, where the first call makes the cache."""
    name, fields, shape = next(case for case in LINEN.DECODED if case[0] == "CachedLayers")
    x = jax.random.normal(jax.random.key(3), shape)
    module = getattr(LINEN, name)(**fields)
    params = module.init(jax.random.key(0), x)["params"]
    model = _model(name, fields, x, params)
    _, state = module.apply({"params": params}, x, init_cache=True, mutable=["cache"])
    nnx.jit(lambda m, v: m(v, init_cache=True))(model, x)
    step = nnx.jit(lambda m, v: m(v))
    linen_step = jax.jit(lambda variables, v: module.apply(variables, v, mutable=["cache"]))
    for number in range(3):
        one = x[:, number : number + 1]
        expected, state = linen_step({"params": params, **state}, one)
        _same(expected, step(model, one))
