"""Partitioned modules, scanned and unrolled: forward, gradient and a whole training step are proved equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx
from flax.training import train_state
from jax.sharding import AxisType
from nnx_migrate.compat.equivalence import check_steps, compare_migrated
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

TEXT = (Path(__file__).parent / "partitioned.py.txt").read_text()
RULES = (("batch", "data"), ("hidden", "model"))
X = jnp.ones((8, 16))


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any]:
    result = migrate_project([SourceFile.parse(Path("partitioned.py"), "partitioned", TEXT)])
    assert {c.outcome.value for c in result.classes} == {"native"}
    for created, content in result.created.items():
        _module(created.stem, content)
    after = result.files[0].after
    assert after is not None and "linen" not in after.replace("linen_parity", "") and "pjit" not in after
    linen = TEXT.replace("from jax.experimental.pjit import", "from jax.lax import")  # gone from today's jax
    return _module("partitioned_linen", linen), _module("partitioned_nnx", after)


CASES = [
    ("DotReluDot", {"depth": 32}),
    ("MLP", {"num_layers": 3, "depth": 32, "use_scan": True}),
    ("MLP", {"num_layers": 3, "depth": 32, "use_scan": False}),
    ("LogicalMLP", {"num_layers": 3, "depth": 32, "use_scan": True}),
    ("LogicalMLP", {"num_layers": 3, "depth": 32, "use_scan": False}),
]


def _mesh() -> Any:
    return jax.sharding.AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


@pytest.mark.parametrize("name,arguments", CASES, ids=lambda v: v if isinstance(v, str) else str(v.get("use_scan", "")))
def test_forward_and_gradient_are_proved(sides: tuple[Any, Any], name: str, arguments: dict[str, Any]) -> None:
    linen, native = sides
    report = compare_migrated(
        getattr(linen, name)(**arguments),
        lambda: getattr(native, name)(**arguments, in_features=16, rngs=nnx.Rngs(0)),
        X,
        mesh=_mesh(),
        rules=RULES,
    )
    assert report.proved, str(report)


def _summed(out: Any) -> Any:
    return jnp.sum(jax.tree.leaves(out)[0] ** 2)


@pytest.mark.parametrize("name,arguments", CASES, ids=lambda v: v if isinstance(v, str) else str(v.get("use_scan", "")))
def test_a_training_step_is_proved(sides: tuple[Any, Any], name: str, arguments: dict[str, Any]) -> None:
    linen, native = sides
    module = getattr(linen, name)(**arguments)

    def create(x: Any) -> train_state.TrainState:
        params = module.init(jax.random.key(0), x)["params"]
        return train_state.TrainState.create(apply_fn=module.apply, params=params, tx=optax.adam(1e-3))

    def linen_step(state: Any, x: Any) -> Any:
        loss, grads = jax.value_and_grad(lambda p: _summed(state.apply_fn({"params": p}, x)))(state.params)
        return state.apply_gradients(grads=grads), loss

    def make() -> Any:
        model = getattr(native, name)(**arguments, in_features=16, rngs=nnx.Rngs(0))
        return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    def nnx_step(model: Any, optimizer: Any, x: Any) -> Any:
        loss, grads = nnx.value_and_grad(lambda m: _summed(m(x)))(model)
        optimizer.update(model, grads)
        return loss

    mesh = _mesh()
    with jax.set_mesh(jax.make_mesh((1, 1), ("data", "model"), axis_types=(AxisType.Auto,) * 2)):
        state = jax.eval_shape(create, X)
    report = check_steps(linen_step, state, nnx_step, make, X, mesh=mesh, rules=RULES)
    assert report.proved, str(report)
