"""A whole training step, TrainState against nnx.Optimizer."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx
from flax.training import train_state
from nnx_migrate.compat.equivalence.report import Verdict
from nnx_migrate.compat.equivalence.steps import check_steps, compare_steps, step_programs

X = jax.ShapeDtypeStruct((8, 6), jnp.float32)
Y = jax.ShapeDtypeStruct((8, 3), jnp.float32)
TX = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2))


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(8)(x))
        return nn.Dense(3)(nn.Dropout(0.5, deterministic=not train)(nn.relu(x)))


class Native(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.Dense_0 = nnx.Linear(6, 8, rngs=rngs)
        self.BatchNorm_0 = nnx.BatchNorm(8, rngs=rngs)
        self.Dropout_0 = nnx.Dropout(0.5, rngs=rngs)
        self.Dense_1 = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x: Any, train: bool) -> Any:
        x = nnx.relu(self.BatchNorm_0(self.Dense_0(x), use_running_average=not train))
        return self.Dense_1(self.Dropout_0(x, deterministic=not train))


class State(train_state.TrainState):
    batch_stats: Any


def linen_state() -> Any:
    def make() -> Any:
        v = Linen().init(jax.random.key(0), jnp.ones((8, 6)), False)
        return State.create(apply_fn=Linen().apply, params=v["params"], tx=TX, batch_stats=v["batch_stats"])

    return jax.eval_shape(make)


def native_step(model: Any, optimizer: Any, x: Any, y: Any, *, change: str = "") -> Any:
    def loss(m: Any) -> Any:
        return jnp.mean((m(x, True) - y) ** 2)

    value, grads = nnx.value_and_grad(loss)(model)
    if change == "gradients scaled":
        grads = jax.tree.map(lambda g: 2 * g, grads)
    if change != "update dropped":
        optimizer.update(model, grads)
    return {"loss": value + 1e-3 if change == "metric" else value}


def target(tx: Any = TX) -> Any:
    def make() -> Any:
        model = Native(rngs=nnx.Rngs(0))
        return model, nnx.Optimizer(model, tx, wrt=nnx.Param)

    return make


KEY = jax.random.key(0)


def linen_step(state: Any, x: Any, y: Any, key: Any) -> Any:
    def loss(p: Any) -> Any:
        variables = {"params": p, "batch_stats": state.batch_stats}
        out, new = state.apply_fn(variables, x, True, mutable=["batch_stats"], rngs={"dropout": key})
        return jnp.mean((out - y) ** 2), new

    (value, new), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=new["batch_stats"]), {"loss": value}


def test_step_with_dropout_and_statistics_is_proved() -> None:
    report = check_steps(linen_step, linen_state(), native_step, target(), X, Y, keys=[KEY])
    assert report.verdict is Verdict.PROVED, report
    assert "1 random keys matched" in report["step"].detail


@pytest.mark.parametrize("change", ["gradients scaled", "update dropped", "metric"])
def test_changed_steps_are_rejected(change: str) -> None:
    def step(*args: Any) -> Any:
        return native_step(*args, change=change)

    report = check_steps(linen_step, linen_state(), step, target(), X, Y, keys=[KEY])
    assert report["step"].verdict is Verdict.DIFFERENT, report


def test_another_optimizer_is_rejected() -> None:
    other = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2, b2=0.99))
    report = check_steps(linen_step, linen_state(), native_step, target(other), X, Y, keys=[KEY])
    assert report["step"].verdict is Verdict.DIFFERENT
    fewer = check_steps(linen_step, linen_state(), native_step, target(optax.sgd(0.1)), X, Y, keys=[KEY])
    assert "missing in NNX: opt_state/1/0/mu/params/Dense_0/bias" in fewer["keys"].detail


def test_several_steps_run_to_the_same_bits() -> None:
    def linen_eval(state: Any, x: Any, y: Any) -> Any:
        def loss(p: Any) -> Any:
            return jnp.mean((state.apply_fn({"params": p, "batch_stats": state.batch_stats}, x, False) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=grads), value

    def native_eval(model: Any, optimizer: Any, x: Any, y: Any) -> Any:
        value, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x, False) - y) ** 2))(model)
        optimizer.update(model, grads)
        return value

    left, right = step_programs(linen_eval, linen_state(), native_eval, target(), (X, Y))
    losses: dict[str, list[float]] = {}
    assert compare_steps(left, right, 5, losses=losses).verdict is Verdict.BITWISE
    assert losses["linen"] == losses["nnx"] and len(set(losses["nnx"])) == 5

    def slower(model: Any, optimizer: Any, x: Any, y: Any) -> Any:
        value, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x, False) - y) ** 2))(model)
        optimizer.update(model, jax.tree.map(lambda g: g * 0.5 + 1e-3, grads))
        return value

    _, other = step_programs(linen_eval, linen_state(), slower, target(), (X, Y))
    found = compare_steps(left, other, 5)
    assert found.verdict is Verdict.DIFFERENT and found.differences
