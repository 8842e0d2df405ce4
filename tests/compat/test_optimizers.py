"""Every optax transformation that people used with TrainState, there and back, and the step after."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn
from flax import nnx, serialization
from flax.training import train_state
from nnx_migrate import compat
from nnx_migrate.compat.boxes import flatten


class LinenNet(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for i in range(2):
            x = nn.relu(nn.Dense(16, name=f"layer_{i}")(x))
        return nn.Dense(4, name="out")(x)


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layer = nnx.List([nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 16, rngs=rngs)])
        self.out = nnx.Linear(16, 4, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.layer:
            x = jax.nn.relu(layer(x))
        return self.out(x)


def matrices(params: Any) -> Any:
    return jax.tree.map(lambda p: p.ndim > 1, params)


def labels(params: Any) -> Any:
    return jax.tree.map(lambda p: "matrix" if p.ndim > 1 else "vector", params)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: optax.adam(1e-2),
    "adamw": lambda: optax.adamw(optax.cosine_decay_schedule(1e-2, 10)),
    "sgd": lambda: optax.sgd(1e-2),
    "momentum": lambda: optax.sgd(1e-2, momentum=0.9),
    "lion": lambda: optax.lion(1e-2),
    "adafactor": lambda: optax.adafactor(1e-2, min_dim_size_to_factor=8),
    "chain": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale(-1e-2)),
    "masked": lambda: optax.chain(optax.masked(optax.add_decayed_weights(1e-2), matrices), optax.adam(1e-2)),
    "multi_transform": lambda: optax.multi_transform(
        {"matrix": optax.adam(1e-2), "vector": optax.sgd(1e-2, momentum=0.9)}, labels
    ),
    "multi_steps": lambda: optax.MultiSteps(optax.adam(1e-2), every_k_schedule=2),
    "inject_hyperparams": lambda: optax.inject_hyperparams(optax.adam)(
        learning_rate=optax.linear_schedule(1e-2, 0.0, 10), b1=0.8
    ),
    "ema": lambda: optax.chain(optax.adam(1e-2), optax.ema(0.9)),
    "apply_if_finite": lambda: optax.apply_if_finite(optax.adam(1e-2), 3),
    "muon": lambda: optax.contrib.muon(1e-2),
    "sm3": lambda: optax.sm3(1e-2),  # its slots hold tuples of arrays
    "adan": lambda: optax.adan(1e-2),
    "rprop": lambda: optax.rprop(1e-2),
    "madgrad": lambda: optax.contrib.madgrad(1e-2),
    "ademamix": lambda: optax.contrib.ademamix(1e-2),
    "prodigy": lambda: optax.contrib.prodigy(),
    "galore": lambda: optax.contrib.galore(1e-2),
    "schedule_free": lambda: optax.contrib.schedule_free(optax.sgd(1e-2), 1e-2),
    "mechanize": lambda: optax.contrib.mechanize(optax.adam(1e-2)),
    "sam": lambda: optax.contrib.sam(optax.sgd(1e-2), optax.sgd(1e-2), sync_period=2),
    "conditionally": lambda: optax.conditionally_transform(optax.scale_by_adam(), lambda step: step < 2),
    "stateful_hyperparams": lambda: optax.inject_stateful_hyperparams(optax.sgd)(
        learning_rate=optax.WrappedSchedule(optax.linear_schedule(1e-2, 0.0, 9))
    ),
    "bf16_moments": lambda: optax.chain(optax.zero_nans(), optax.adam(1e-2, mu_dtype="bfloat16")),
}

X = jnp.asarray(np.random.RandomState(0).randn(4, 8), jnp.float32)


def linen_state(tx: Any, steps: int = 3) -> Any:
    model = LinenNet()
    state = train_state.TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(0), X)["params"], tx=tx)
    for _ in range(steps):
        state = linen_step(state)
    return state


@jax.jit
def linen_step(state: Any) -> Any:
    grads = jax.grad(lambda p: (state.apply_fn({"params": p}, X) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads)


@nnx.jit
def nnx_step(model: Any, optimizer: Any) -> None:
    optimizer.update(model, nnx.grad(lambda m: (m(X) ** 2).mean())(model))


def create(tx: Any) -> Callable[[], tuple[Net, nnx.Optimizer]]:
    def make() -> tuple[Net, nnx.Optimizer]:
        model = Net(nnx.Rngs(1))
        return model, nnx.Optimizer(model, tx, wrt=nnx.Param)

    return make


def flat(tree: Any) -> dict[str, np.ndarray]:
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(serialization.to_state_dict(tree)).items()}


def assert_same(have: dict[str, np.ndarray], want: dict[str, np.ndarray], atol: float = 0.0) -> None:
    assert have.keys() == want.keys()
    for key, value in want.items():
        np.testing.assert_allclose(have[key], value, rtol=0, atol=atol, err_msg=key)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_there_and_back_and_on(name: str, tmp_path: Path) -> None:
    tx = OPTIMIZERS[name]()
    state = linen_state(tx)
    want = flat(state)
    target = create(tx)()
    compat.from_linen(state, target)
    # Linen → NNX → Linen, value for value; the state dict is what flax itself reads back.
    back = compat.to_linen(target)
    assert_same(flat(back), want)
    again = serialization.from_state_dict(linen_state(tx, 0), _with_empties(back, serialization.to_state_dict(state)))
    assert_same(flat(again), want)
    # The same from disk.
    file = tmp_path / "state.msgpack"
    file.write_bytes(serialization.to_bytes(state))
    restored = compat.restore(file, create(tx))
    assert_same(flat(compat.to_linen(restored)), want)
    # NNX → Linen → NNX.
    other = create(tx)()
    compat.from_linen(back, other)
    assert_same(flat(compat.to_linen(other)), want)
    # And the next step is Linen's.
    nnx_step(*restored)
    assert_same(flat(compat.to_linen(restored)), flat(linen_step(state)), atol=1e-6)


def _with_empties(have: Any, like: Any) -> Any:
    """flax wants empty dicts where a state has no leaves; NNX keeps nothing there."""
    if not isinstance(like, dict):
        return have
    return {k: _with_empties(have.get(k, {}) if isinstance(have, dict) else {}, v) for k, v in like.items()}


def test_factored_slots_of_an_annotated_parameter(make_mesh: Any, tmp_path: Path) -> None:
    """adafactor's rows and columns inherit the annotation of a matrix; they are sharded along what they keep."""

    class Wide(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.w = nnx.Param(jnp.ones((16, 32)), out_sharding=("data", "model"))

        def __call__(self, x: jax.Array) -> jax.Array:
            return x @ self.w[...]

    tx = optax.adafactor(1e-2, min_dim_size_to_factor=8)
    params = {"w": jnp.asarray(np.random.RandomState(0).randn(16, 32), jnp.float32)}
    state = train_state.TrainState.create(apply_fn=None, params=params, tx=tx)
    state = state.apply_gradients(grads=jax.tree.map(lambda p: p * 0.1, params))
    (tmp_path / "s.msgpack").write_bytes(serialization.to_bytes(state))

    def make() -> tuple[Wide, nnx.Optimizer]:
        model = Wide(nnx.Rngs(0))
        return model, nnx.Optimizer(model, tx, wrt=nnx.Param)

    mesh = make_mesh((2, 4))
    model, optimizer = compat.restore(tmp_path / "s.msgpack", make, mesh=mesh)
    slots = optimizer.opt_state[0]
    assert tuple(model.w.get_value().sharding.spec) == ("data", "model")
    assert tuple(slots.v_row["w"].get_value().sharding.spec) == ("data",)
    assert tuple(slots.v_col["w"].get_value().sharding.spec) == ("model",)
    assert_same(flat(compat.to_linen((model, optimizer))), flat(state))
    grads = {"w": state.params["w"] * 0.1}
    with jax.set_mesh(mesh):
        optimizer.update(model, nnx.State({"w": nnx.Param(grads["w"])}))
    assert_same(flat(compat.to_linen((model, optimizer))), flat(state.apply_gradients(grads=grads)), atol=1e-6)


def test_schedule_counts_of_older_optax(tmp_path: Path) -> None:
    """inject_hyperparams once kept one count; now every scheduled hyperparameter has its own."""
    tx = OPTIMIZERS["inject_hyperparams"]()
    tree = serialization.to_state_dict(linen_state(tx))
    del tree["opt_state"]["hyperparams_states"]
    (tmp_path / "old.msgpack").write_bytes(serialization.msgpack_serialize(tree))
    _, optimizer = compat.restore(tmp_path / "old.msgpack", create(tx))
    assert optimizer.opt_state.hyperparams_states["learning_rate"].count[...] == 3


def test_a_wrong_optimizer_is_refused() -> None:
    state = linen_state(OPTIMIZERS["adam"]())
    target = create(OPTIMIZERS["momentum"]())()
    before = flat(compat.to_linen(target))
    with pytest.raises(compat.MismatchError) as caught:
        compat.from_linen(state, target)
    assert "opt_state/0/trace/layer_0/kernel" in str(caught.value)
    assert any("opt_state/0/mu" in line for line in caught.value.extra)
    assert_same(flat(compat.to_linen(target)), before)
