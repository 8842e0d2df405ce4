"""`mutable=['batch_stats'] if train else []`: a pair either way, whose second is empty where nothing is updated."""

from __future__ import annotations

import pytest

from . import printing_sides

PROGRAM = """from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train, momentum=0.5)(x)
        return nn.Dense(1, kernel_init=nn.initializers.constant(0.3))(x)


class State(train_state.TrainState):
    batch_stats: Any


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
variables = net.init(jax.random.key(0), x, False)
state = first = State.create(
    apply_fn=net.apply, params=variables["params"], batch_stats=variables["batch_stats"], tx=optax.adam(0.1)
)


def run(state, params, x, train):
    return state.apply_fn({"params": params, "batch_stats": state.batch_stats}, x, train, mutable=MUTABLE)


@jax.jit
def step(state, x):
    def loss_fn(params):
        out, new = run(state, params, x, True)
        return ((out - 1) ** 2).mean(), new
    (loss, new), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=new["batch_stats"]), loss


for _ in range(3):
    state, loss = step(state, x)
    out, _ = run(state, state.params, x, False)
    print(loss, out.sum())
out, _ = run(first, first.params, x, False)
print(out.sum())
"""


@pytest.mark.parametrize(
    ("mutable", "said"),
    [
        ("['batch_stats'] if train else []", "if train else {}"),
        ("[] if not train else ['batch_stats']", "if not (not train) else {}"),
        ("('batch_stats',) if train is True else ()", "if train is True else {}"),
    ],
)
def test_updates_by_a_flag(mutable: str, said: str) -> None:
    taken, after = printing_sides.check("updates_by_flags", PROGRAM.replace("MUTABLE", mutable), "functional")
    assert taken == ["NNX602"] and said in after
