"""`init` of numbers of Python's, which have no shape of their own: times, coordinates, scales."""

from __future__ import annotations

import pytest

from . import printing_sides

PROGRAM = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Net(nn.Module):
    @nn.compact
    def __call__(self, t, x):
        h = jnp.concatenate([jnp.atleast_1d(t), jnp.atleast_1d(x)])
        return nn.Dense(1, kernel_init=ones)(jnp.tanh(nn.Dense(4, kernel_init=ones)(h)))[0]


net = Net()
times = jnp.linspace(0.0, 1.0, 5)
BEFORE
state = TrainState.create(apply_fn=net.apply, params=net.init(INIT)["params"], tx=optax.sgd(0.1))


@jax.jit
def step(state):
    def loss_fn(p):
        u = lambda t: net.apply({"params": p}, t, POINT)
        return ((jax.vmap(jax.grad(u))(times) - u(0.5)) ** 2).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(3):
    state, loss = step(state)
    print(loss, net.apply({"params": state.params}, 0.25, POINT))
"""
INPUTS = {
    "literals": ("", "jax.random.key(0), 0.0, 1", "0.5"),
    "below_zero": ("", "jax.random.key(0), -1.0, x=-2", "-0.5"),
    "a_name": ("start = 0.0", "jax.random.key(0), start, 1.0", "0.5"),
    "beside_an_array": ("point = jnp.arange(3.0)", "jax.random.key(0), 0.0, point", "point"),
    "names_of_both": (
        "start = -0.5\npoint = jnp.ones(2)",
        "jax.random.key(0), start, point",
        "point",
    ),
}


@pytest.mark.parametrize("name", INPUTS)
def test_is_the_same_program(name: str) -> None:
    before, init, point = INPUTS[name]
    text = PROGRAM.replace("BEFORE", before).replace("INIT", init).replace("POINT", point)
    for jit, form in (("nnx", "NNX601"), ("functional", "NNX602")):
        assert printing_sides.check(f"number_{name}_{jit}", text, jit)[0] == [form]
