"""`jax.device_put_replicated`, which JAX dropped, copies states as `flax.jax_utils.replicate` does."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from . import printing_sides

HEAD = """from functools import partial

import flax.jax_utils
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=nn.initializers.constant(0.3))(jnp.sin(x))


x = jnp.sin(jnp.arange(48.0)).reshape(16, 3)
xs = x.reshape(jax.local_device_count(), -1, 3)
"""
PROGRAMS = {
    "of_a_state": """
net = Net()
params = net.init(jax.random.key(0), x)["params"]


def loss_of(params, x):
    return ((net.apply({"params": params}, x) - 1) ** 2).mean()


state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))
copies = jax.device_put_replicated(state, jax.local_devices())


@partial(jax.pmap, axis_name="i")
def step(state, x):
    loss, grads = jax.value_and_grad(loss_of)(state.params, x)
    return state.apply_gradients(grads=jax.lax.pmean(grads, "i")), loss


for _ in range(2):
    copies, loss = step(copies, xs)
    print(loss, copies.step, loss_of(flax.jax_utils.unreplicate(copies).params, x), loss_of(state.params, x))
""",
    "of_a_tuple": """
net = Net()
params = net.init(jax.random.key(0), x)["params"]


def loss_of(params, x):
    return ((net.apply({"params": params}, x) - 1) ** 2).mean()


tx = optax.adam(0.1)
params, opt_state = jax.device_put_replicated((params, tx.init(params)), jax.local_devices())


@partial(jax.pmap, axis_name="i")
def step(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_of)(params, x)
    updates, opt_state = tx.update(jax.lax.pmean(grads, "i"), opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for _ in range(2):
    params, opt_state, loss = step(params, opt_state, xs)
    print(loss)
""",
    "held_by_a_trainer": """
class Trainer:
    def __init__(self, net, shape):
        self.net = net
        self.step = jax.pmap(Trainer.step, axis_name="i")
        self.state = self.create(shape)

    def create(self, shape):
        params = self.net.init(jax.random.key(0), jnp.ones(shape))["params"]
        state = TrainState.create(apply_fn=self.net.apply, params=params, tx=optax.adam(0.1))
        return jax.device_put_replicated(state, jax.local_devices())

    @staticmethod
    def step(state, x):
        loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)
        return state.apply_gradients(grads=jax.lax.pmean(grads, "i")), loss

    def train(self, xs):
        self.state, loss = self.step(self.state, xs)
        return loss


trainer = Trainer(Net(), (1, 3))
print(trainer.train(xs), trainer.train(xs))
""",
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_copies(name: str, jit: Literal["nnx", "functional"]) -> None:
    text = HEAD + PROGRAMS[name]
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(jit=jit))
    codes = {d.code for d in result.files[0].diagnostics}
    assert "NNX602" in codes and "NNX603" not in codes
    today = text.replace("jax.device_put_replicated(", "flax.jax_utils.replicate(")
    assert printing_sides.printed(f"copies_{jit}", result.files[0].after or "") == printing_sides.printed(
        f"copies_{name}", today
    )
