"""Models that have an `nn.RNN` in setup, which in NNX holds a random stream of its own: both sides print the same."""

from __future__ import annotations

import pytest

from .printing_sides import STEP, check

HEAD = """
import jax, jax.numpy as jnp, optax
from flax import linen as nn
from flax.training.train_state import TrainState

half = nn.initializers.constant(0.3)


def cell():
    return nn.CELL(3, kernel_init=half, recurrent_kernel_init=half)


class Net(nn.Module):
    def setup(self):
        self.forward = RNN
        self.head = nn.Dense(1, kernel_init=half)

    def encode(self, x):
        return self.forward(x)

    def __call__(self, x, train=False):
        return self.head(DROPPED)


class Whole(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        return jnp.tanh(Net()(x, train))


x = jnp.sin(jnp.arange(24.0)).reshape(2, 4, 3)
net = KIND()
params = net.init(jax.random.key(0), x)["params"]
"""
HEAD += STEP
PLAIN = """
for i in range(3):
    state, loss = step(state, x)
    print(float(loss), float(state.apply_fn({"params": state.params}, x).sum()))
"""
SCANNED = """
@jax.jit
def over(state, xs):
    return jax.lax.scan(lambda c, a: (c, state.apply_fn({"params": state.params}, a)), 0, xs)[1]


for i in range(3):
    state, loss = step(state, x)
    print(float(loss), float(over(state, jnp.stack([x, x * 2])).sum()))
"""
KEPT = PLAIN + "print(float(net.apply({'params': params}, x).sum()))\n"


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("cell, kind, use", [
    ("LSTMCell", "Net", PLAIN), ("LSTMCell", "Net", SCANNED), ("SimpleCell", "Whole", SCANNED), ("GRUCell", "Net", KEPT),
    ("OptimizedLSTMCell", "Whole", KEPT),
])  # fmt: skip
def test_an_rnn_of_setup(cell: str, kind: str, use: str, jit: str) -> None:
    text = HEAD.replace("RNN", "nn.RNN(cell())").replace("CELL", cell).replace("KIND", kind)
    text = text.replace("DROPPED", "self.encode(x)") + use
    codes, after = check(f"rnn_{cell}_{kind}_{len(use)}_{jit}", text, jit)
    assert codes == (["NNX601"] if use == PLAIN and jit == "nnx" else ["NNX603"]), after


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_both_directions_with_dropout(jit: str) -> None:
    text = HEAD.replace("RNN", "nn.Bidirectional(nn.RNN(cell()), nn.RNN(cell()))").replace("CELL", "LSTMCell")
    text = text.replace("DROPPED", "self.drop(self.encode(x), deterministic=not train)").replace("KIND", "Net")
    text = text.replace("self.head = ", "self.drop = nn.Dropout(0.5)\n        self.head = ")
    check(f"rnn_both_{jit}", text + KEPT, jit)
