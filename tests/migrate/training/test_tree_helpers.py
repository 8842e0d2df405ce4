"""Functions that only map or add up the one tree that they are given: each call gives what becomes of its own."""

from __future__ import annotations

import pytest

from . import printing_sides

PROGRAM = """from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = jnp.tanh(nn.Dense(2, kernel_init=nn.initializers.constant(0.2))(x) * jnp.arange(1.0, 3.0))
        return nn.Dense(1, kernel_init=nn.initializers.constant(0.3))(x)


class Other(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, kernel_init=nn.initializers.constant(0.3))(x)


def half(tree):
    \"\"\"Of arrays and batches, too.\"\"\"
    return jax.tree.map(lambda a: a * 0.5, tree)


def size(tree):
    return sum(float(jnp.abs(leaf).sum()) for leaf in jax.tree.leaves(tree))


snap = lambda tree: jax.tree.map(jnp.copy, tree)
norm = lambda tree: optax.global_norm(tree)
x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
print(size(x), norm(x), half(x).sum(), snap({"x": x})["x"].sum())
net = Net()
state = TrainState.create(apply_fn=net.apply, params=net.init(jax.random.key(0), x)["params"], tx=optax.adam(0.1))


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=GRADS), loss


BEFORE
for i in range(3):
    state, loss = step(state, x)
    print(loss, LOOKED)
AFTER
"""
OTHER = """other = Other()
second = TrainState.create(apply_fn=other.apply, params=other.init(jax.random.key(1), x)["params"], tx=optax.sgd(0.1))


@jax.jit
def step_second(state, x):
    loss, grads = jax.value_and_grad(lambda p: (state.apply_fn({"params": p}, x) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss
"""
# What stands before the loop, what it prints, what stands behind it, and whether the idiom has it.
CASES = {
    "params": ("", "size(state.params)", "", True),
    "several": ("", "size(state.params), size(state.opt_state), norm(state)", "", False),
    "kept": (
        "old = snap(state.params)",
        "size(old)",
        "print(net.apply({'params': old}, x).sum(), size(state.params))",
        False,
    ),
    "another_start": (
        "start = snap(state)",
        "start.step, size(start.params)",
        "state = start\nstate, loss = step(state, x)\nprint(loss, state.step, size(state.params))",
        False,
    ),
    "replaced": (
        "",
        "size(half(state.params))",
        "state = state.replace(params=half(state.params))\nprint(step(state, x)[1])",
        False,
    ),
    "applied": ("", "net.apply({'params': half(state.params)}, x).sum(), size(state.params)", "", False),
    "two_models": (
        OTHER,
        "size(state.params), size(second.params)",
        "second, loss = step_second(second, x)\nprint(loss)",
        True,
    ),
}
# Functions that are followed by their parameter, as others are.
OTHERS = {
    "draws": "rng = np.random.RandomState(0)\nnoisy = lambda t: jax.tree.map(lambda a: a + rng.normal(size=a.shape), t)\n",
    "remembers": "seen = []\nnoisy = lambda tree: jax.tree.map(lambda a: seen.append(a) or a, tree)\n",
    "writes": "noisy = lambda tree: jax.tree.map(lambda a: np.save('/dev/null', a) or a, tree)\n",
    "reads_a_state": "noisy = lambda tree: jax.tree.map(lambda a: a * state.params['Dense_0']['bias'].sum(), tree)\n",
    "in_order": "noisy = lambda tree: [float(a.sum()) for a in jax.tree.leaves(tree)]\n",
}


def _program(before: str, looked: str, after: str, grads: str = "grads") -> str:
    return PROGRAM.replace("BEFORE", before).replace("LOOKED", looked).replace("AFTER", after).replace("GRADS", grads)


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", CASES)
def test_of_several_kinds(name: str, jit: str) -> None:
    before, looked, after, native = CASES[name]
    codes, _ = printing_sides.check(f"helpers_{name}_{jit}", _program(before, looked, after), jit)
    assert codes == (["NNX601"] if native and jit == "nnx" else ["NNX602"])


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_of_gradients(jit: str) -> None:
    codes, _ = printing_sides.check(f"helpers_grads_{jit}", _program("", "size(state.params)", "", "half(grads)"), jit)
    assert codes == ["NNX601" if jit == "nnx" else "NNX602"]


@pytest.mark.parametrize("name", OTHERS)
def test_of_what_has_an_order(name: str) -> None:
    text = _program(OTHERS[name] + "print(len(noisy({'x': x})))", "size(state.params)", "print(noisy(state.params))")
    assert printing_sides.check(f"helpers_{name}", text, "functional")[0] == ["NNX603"]
