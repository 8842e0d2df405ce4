"""Linen under jax.pmap, and the form that NNX608 describes: jax.shard_map over split state. Prints what both give, as JSON.

A script of its own: the number of devices is set before jax starts.
"""

from __future__ import annotations

import json
import os
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import jax_utils, nnx
from flax import linen as nn
from flax.training import common_utils, train_state
from jax.sharding import Mesh, NamedSharding, PartitionSpec

P = PartitionSpec
x = np.sin(np.arange(16 * 6.0, dtype=np.float32)).reshape(16, 6)
y = np.cos(np.arange(16 * 3.0, dtype=np.float32)).reshape(16, 3)
key = jax.random.key(0)
keys = common_utils.shard_prng_key(key)
mesh = Mesh(np.array(jax.devices()), ("batch",))


def ramp(key: Any, shape: Any, dtype: Any = jnp.float32) -> Any:
    return 0.3 * jnp.sin(1.0 + jnp.arange(np.prod(shape), dtype=dtype)).reshape(shape)


class TrainState(train_state.TrainState):
    batch_stats: Any


class Linen(nn.Module):
    norm: bool

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        x = nn.Dense(8, kernel_init=ramp)(x)
        if self.norm:
            x = nn.BatchNorm(use_running_average=not train, momentum=0.5)(x)
        return nn.Dense(3, kernel_init=ramp)(nn.relu(x))


class Native(nnx.Module):
    def __init__(self, norm: bool, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.Dense_0 = nnx.Linear(in_features, 8, kernel_init=ramp, rngs=rngs)
        self.BatchNorm_0 = nnx.data(nnx.BatchNorm(8, momentum=0.5, rngs=rngs) if norm else None)
        self.Dense_1 = nnx.Linear(8, 3, kernel_init=ramp, rngs=rngs)

    def __call__(self, x: Any, train: bool) -> Any:
        x = self.Dense_0(x)
        if self.BatchNorm_0 is not None:
            x = self.BatchNorm_0(x, use_running_average=not train)
        return self.Dense_1(nnx.relu(x))


def noisy(x: Any, key: Any, step: Any) -> Any:
    """What stands for a dropout: random numbers that both sides draw alike, from the device's own key."""
    return x + 0.1 * jax.random.normal(jax.random.fold_in(key, step), x.shape)


def before(norm: bool) -> dict[str, Any]:
    model = Linen(norm)
    variables = model.init(key, x, False)
    made = TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        batch_stats=variables.get("batch_stats", {}),
        tx=optax.sgd(0.1, momentum=0.9),
    )
    state = jax_utils.replicate(made)

    def step(state: Any, x: Any, y: Any, key: Any) -> Any:
        x = noisy(x, key, state.step)

        def loss_fn(params: Any) -> Any:
            variables = {"params": params, "batch_stats": state.batch_stats}
            out, updates = state.apply_fn(variables, x, True, mutable=["batch_stats"])
            return jnp.mean((out - y) ** 2), updates

        (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
        grads, loss = jax.lax.pmean((grads, loss), "batch")
        return state.apply_gradients(grads=grads, batch_stats=updates.get("batch_stats", {})), loss

    p_step = jax.pmap(step, "batch")
    losses = []
    for _ in range(10):
        state, loss = p_step(state, common_utils.shard(x), common_utils.shard(y), keys)
        losses.append(float(loss[0]))
    return {"losses": losses, "stats": [np.asarray(v).tolist() for v in jax.tree.leaves(state.batch_stats)]}


def after(norm: bool, *, check_vma: bool) -> dict[str, Any]:
    graphdef, params, stats = nnx.split(Native(norm, in_features=6, rngs=nnx.Rngs(0)), nnx.Param, nnx.BatchStat)
    state = nnx.TrainState.create(graphdef, params=params, tx=optax.sgd(0.1, momentum=0.9))
    stats = jax.tree.map(lambda v: jnp.stack([v] * mesh.size), stats)

    def step(state: Any, stats: Any, x: Any, y: Any, key: Any) -> Any:
        stats, key = jax.tree.map(lambda v: v[0], (stats, key))
        x = noisy(x, key, state.step)

        def loss_fn(params: Any) -> Any:
            model = nnx.merge(state.graphdef, params, stats, copy=True)
            return jnp.mean((model(x, True) - y) ** 2), nnx.state(model, nnx.BatchStat)

        (loss, updated), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
        grads, loss = jax.lax.pmean((grads, loss), "batch")
        return state.apply_gradients(grads=grads), jax.tree.map(lambda v: v[None], updated), loss

    own = P("batch")
    specs = {"in_specs": (P(), own, own, own, own), "out_specs": (P(), own, P())}
    jitted = jax.jit(jax.shard_map(step, mesh=mesh, check_vma=check_vma, **specs))
    losses = []
    batch = [jax.make_array_from_process_local_data(NamedSharding(mesh, own), v) for v in (x, y)]
    for _ in range(10):
        state, stats, loss = jitted(state, stats, *batch, keys)
        losses.append(float(loss))
    return {"losses": losses, "stats": [np.asarray(v).tolist() for v in jax.tree.leaves(nnx.as_pure(stats))]}


if __name__ == "__main__":
    found = {
        name: [before(norm), after(norm, check_vma=False), after(norm, check_vma=True)]
        for name, norm in {"params": False, "statistics": True}.items()
    }
    print("RESULT" + json.dumps(found))
