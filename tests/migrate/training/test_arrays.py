"""Models that are made with arrays, or whose `setup` makes some: they stand in the structure of split state, as in Linen."""

from __future__ import annotations

import pytest

from . import printing_sides

HEAD = """from typing import Any, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state

x = np.sin(np.arange(12.0, dtype=np.float32)).reshape(4, 3)


def dense(width):
    return nn.Dense(width, kernel_init=nn.initializers.constant(0.3))


"""
NET = """class Net(nn.Module):
    low: {said}
    width: int = 2

    @nn.compact
    def __call__(self, x):
        return dense(1)(nn.tanh(dense(self.width)(x - jnp.asarray(self.low))))


"""
TRAIN = """params = net.init(jax.random.key(0), x)["params"]
state = first = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))


@jax.jit
def step(state, x):
    def loss_fn(params):
        return ((state.apply_fn({"params": params}, x) - 1) ** 2).mean()
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(3):
    state, loss = step(state, x)
    print(loss)
print(first.apply_fn({"params": first.params}, x).sum())
"""
BUILD = """def moments(x):
    return x.mean(0), x.std(0)


def build(low, width):
    return Net(low, width)


"""
SETUP = """class Net(nn.Module):
    low: np.ndarray

    def setup(self):
        self.waves = 2.0 ** jnp.arange(3)
        self.steps = [jnp.ones((3,)), np.arange(3.0)]
        self.gain = self.param("gain", nn.initializers.ones, (3,))
        self.norm = nn.BatchNorm(momentum=0.5)
        self.drop = nn.Dropout(0.0)
        self.last = dense(1)

    def __call__(self, x, train):
        y = self.features(x) * self.gain + self.steps[1] * self.steps[0]
        return self.last(self.drop(self.norm(y, use_running_average=not train), deterministic=not train))

    def features(self, x):
        return jnp.sin((x - self.low) * self.waves)


class State(train_state.TrainState):
    batch_stats: Any
    average: Any


def create(key):
    net = Net(x.min(0))
    variables = net.init({"params": key, "dropout": key}, x, False)
    return State.create(
        apply_fn=net.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        average=variables["params"],
        tx=optax.adam(0.1),
    )


@jax.jit
def step(state, x, key):
    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        out, new = state.apply_fn(variables, x, True, rngs={"dropout": key}, mutable=["batch_stats"])
        return ((out - 1) ** 2).mean(), new["batch_stats"]
    (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=stats)
    return state.replace(average=optax.incremental_update(state.params, state.average, 0.5)), loss


"""
LOOP = """first = state
for i in range(3):
    state, loss = step(state, x, jax.random.key(i))
    print(loss)
print(first.apply_fn({"params": first.average, "batch_stats": first.batch_stats}, x, False).sum())
print(state.apply_fn({"params": state.average, "batch_stats": state.batch_stats}, x, False).sum())
print(state.apply_fn({"params": state.params, "batch_stats": state.batch_stats}, x, method=Net.features).sum())
"""
SCAN = """class Net(nn.Module):
    low: np.ndarray

    @nn.compact
    def __call__(self, x):
        return dense(1)(x - self.low)


def train(key, xs):
    net = Net(np.ones(3, np.float32))
    state = train_state.TrainState.create(apply_fn=net.apply, params=net.init(key, xs[0]), tx=optax.adam(0.1))

    def body(state, x):
        loss, grads = jax.value_and_grad(lambda params: (state.apply_fn(params, x) ** 2).mean())(state.params)
        return state.apply_gradients(grads=grads), loss
    return jax.lax.scan(body, state, xs)


xs = jnp.stack([x, x + 1])
state, losses = jax.jit(train)(jax.random.key(0), xs)
print(losses, state.step, state.apply_fn(state.params, x).sum())
print(jax.vmap(train, (0, None))(jax.random.split(jax.random.key(0), 2), xs)[1])
"""
# Name → program, the form of split state that it takes.
PROGRAMS = {
    "annotated as an array": (HEAD + NET.format(said="jnp.ndarray") + "net = Net(x.mean(0))\n" + TRAIN, "NNX602"),
    "of a function's result": (
        HEAD + NET.format(said="Any") + BUILD + "net = build(moments(x)[0], 2)\n" + TRAIN,
        "NNX602",
    ),
    "said to be numbers": (
        HEAD + NET.format(said="Sequence[float]") + BUILD + "net = build(moments(x)[0], width=2)\n" + TRAIN,
        "NNX602",
    ),
    "a tuple": (HEAD + NET.format(said="Sequence[float]") + BUILD + "net = build((1.0, 2.0, 3.0), 2)\n" + TRAIN, "NNX602"),
    "several in a tuple": (
        HEAD
        + NET.format(said="tuple[jax.Array, jax.Array]").replace("jnp.asarray(self.low)", "self.low[0] * self.low[1]")
        + "net = Net((jnp.asarray(x.mean(0)), jnp.asarray(x.std(0))))\n"
        + TRAIN,
        "NNX602",
    ),
    "under keys": (
        HEAD
        + NET.format(said="dict[str, jax.Array]").replace("jnp.asarray(self.low)", "self.low['mean']")
        + "net = Net({'mean': x.mean(0)})\n"
        + TRAIN,
        "NNX602",
    ),
    "kept by setup": (HEAD + SETUP + "state = create(jax.random.key(0))\n" + LOOP, "NNX602"),
    "kept by setup, traced": (HEAD + SETUP + "state = jax.jit(create)(jax.random.key(0))\n" + LOOP, "NNX603"),
    "in a scan of a jitted function": (HEAD + SCAN, "NNX602"),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_arrays(name: str, jit: str) -> None:
    text, form = PROGRAMS[name]
    taken, after = printing_sides.check(f"arrays_{list(PROGRAMS).index(name)}_{jit}", text, jit)
    assert taken in ([form], ["NNX601"] if jit == "nnx" else [])
    assert ("unfixed(" in after) == (taken == ["NNX602"] and name != "a tuple")


PARAMETER = """class Net(nn.Module):
    def setup(self):
        self.gain = self.param("gain", nn.initializers.ones, (3,))
        self.last = dense(1)

    def __call__(self, x):
        return self.last(x * self.gain)


net = Net()
"""


def test_a_parameter_of_setup_is_no_array_beside_the_variables() -> None:
    taken, after = printing_sides.check("arrays_parameter", HEAD + PARAMETER + TRAIN, "functional")
    assert taken == ["NNX602"] and "fixed(" not in after
