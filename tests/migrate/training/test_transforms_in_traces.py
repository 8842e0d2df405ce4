"""Models whose layers are called under transforms of NNX, which functions that jax traces close over: both sides print the
same. Such transforms take no variables of another trace ("Cannot extract graph node from different trace level").
"""

from __future__ import annotations

import pytest

from .printing_sides import STEP, check

HEAD = """
import functools
import jax, jax.numpy as jnp, optax
from flax import linen as nn
from flax.training.train_state import TrainState

half = nn.initializers.constant(0.3)


class Layer(nn.Module):
    @nn.compact
    def __call__(self, h, _=None):
        return jnp.tanh(nn.Dense(3, kernel_init=half)(h)), None


class Scanned(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = nn.scan(Layer, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)
        return layers()(x)[0]


class Rematerialized(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = nn.remat(Layer)()(x)[0]
        return x


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x):
        cell = nn.SimpleCell(3, kernel_init=half, recurrent_kernel_init=half)
        return nn.RNN(cell)(x[None])[0]


class Mapped(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = nn.vmap(Layer, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, axis_size=2)
        return layers()(x)[0].mean(0)


class Chosen(nn.Module):
    @nn.compact
    def __call__(self, x):
        layer = Layer()
        return nn.cond(x.sum() > -9, lambda m, x: m(x)[0], lambda m, x: m(-x)[0], layer, x)


class Outer(nn.Module):
    kind: type = Scanned

    @nn.compact
    def __call__(self, x):
        return self.kind()(x)


x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
xs = jnp.stack([x, x * 2, x - 1])
net = KIND
params = net.init(jax.random.key(0), x)["params"]
"""
HEAD += STEP
# Uses of the state, as an expression of what is printed.
USES = {
    "mapped": "def use(state):\n    return jax.vmap(lambda a: state.apply_fn({'params': state.params}, a))(xs)\n",
    "scanned": """@jax.jit
def use(state):
    def body(total, a):
        y = state.apply_fn({"params": state.params}, a)
        return total + y, y
    return jax.lax.scan(body, jnp.zeros_like(x), xs)[1]
""",
    "derived by the input": "def use(state):\n"
    "    return jax.grad(lambda a: state.apply_fn({'params': state.params}, a).sum())(x)\n",
    "jitted": "def use(state):\n    return jax.jit(lambda a: state.apply_fn({'params': state.params}, a))(x)\n",
    "called": "@jax.jit\ndef use(state):\n    return state.apply_fn({'params': state.params}, x)\n",
}
END = """
for i in range(3):
    state, loss = step(state, x)
    print(float(loss), float(use(state).sum()))
"""
KINDS = ("Scanned()", "Rematerialized()", "Recurrent()", "Mapped()", "Chosen()", "Outer()")


@pytest.mark.parametrize("kind, use", [*((k, "scanned") for k in KINDS), *(("Outer(Rematerialized)", u) for u in USES)])
def test_a_trace_around_the_call(kind: str, use: str) -> None:
    stem = f"traced_{use.replace(' ', '_')}_{kind.replace('(', '_').replace(')', '')}"
    codes, after = check(stem, HEAD.replace("KIND", kind) + USES[use] + END, "nnx")
    assert codes == (["NNX601"] if use == "called" else ["NNX602"]), after


# The derivative of one model's loss goes through another one that the loss closes over.
CRITIC = """
class Actor(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, kernel_init=half)(x)


actor = Actor()
actor_state = TrainState.create(apply_fn=actor.apply, params=actor.init(jax.random.key(1), x)["params"], tx=optax.sgd(0.1))


@jax.jit
def improve(actor_state, state, x):
    def loss_fn(p):
        return -state.apply_fn({"params": state.params}, actor_state.apply_fn({"params": p}, x)).mean()
    loss, grads = jax.value_and_grad(loss_fn)(actor_state.params)
    return actor_state.apply_gradients(grads=grads), loss


for i in range(3):
    state, loss = step(state, x)
    actor_state, value = improve(actor_state, state, x)
    print(float(loss), float(value))
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("kind", ["Scanned()", "Rematerialized()", "Recurrent()"])
def test_a_loss_through_another_model(kind: str, jit: str) -> None:
    check(f"through_{kind[:-2]}_{jit}", HEAD.replace("KIND", kind) + CRITIC, jit)
