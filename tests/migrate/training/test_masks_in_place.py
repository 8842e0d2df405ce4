"""Trees of masks that are made where the optimizer is: `optax.adamw(1e-3, mask=jax.tree.map(f, params))`."""

from __future__ import annotations

import pytest

from . import printing_sides

HEAD = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        for i in range(11):
            x = jnp.tanh(nn.Dense(3, name=f"Block_{i}", kernel_init=nn.initializers.constant(0.1 * (i + 1)))(x))
        NORM
        return nn.Dense(1, kernel_init=nn.initializers.constant(0.3))(x)


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
variables = net.init(jax.random.key(0), x)
"""
PLAIN = HEAD.replace("        NORM\n", "") + (
    """params = variables["params"]
TX
state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=tx)


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(3):
    state, loss = step(state, x)
    print(loss, optax.global_norm(state.params))
"""
)
STATISTICS = HEAD.replace("NORM", "x = nn.BatchNorm(use_running_average=not train)(x)") + (
    """

class State(train_state.TrainState):
    batch_stats: dict


TX
state = State.create(apply_fn=net.apply, params=variables["params"], batch_stats=variables["batch_stats"], tx=tx)


@jax.jit
def step(state, x):
    def loss_fn(p):
        out, new = state.apply_fn({"params": p, "batch_stats": state.batch_stats}, x, mutable=["batch_stats"])
        return ((out - 1) ** 2).mean(), new

    (loss, new), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=new["batch_stats"]), loss


for _ in range(3):
    state, loss = step(state, x)
    print(loss, optax.global_norm(state.params))
"""
)
ADAMW = "tx = optax.adamw(0.1, weight_decay=0.5, mask=MASK)"
BY_SIZE = "jax.tree.map(lambda p: p.ndim > 1, params)"
BY_PATH = 'jax.tree_util.tree_map_with_path(lambda path, p: path[0].key == "Block_10", params)'
MADE = {
    "by_size": ADAMW.replace("MASK", BY_SIZE),
    "by_path": ADAMW.replace("MASK", BY_PATH),
    "of_variables": ADAMW.replace("MASK", BY_SIZE.replace("params)", 'variables["params"])')),
    "two": f"tx = optax.chain(optax.masked(optax.adam(0.1), {BY_SIZE}), optax.masked(optax.set_to_zero(), {BY_PATH}))",
    "labels": (
        'tx = optax.multi_transform({"a": optax.adam(0.1), "b": optax.sgd(0.1)}, '
        'jax.tree.map(lambda p: "a" if p.size > 3 else "b", params))'
    ),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", MADE)
def test_is_the_same_program(name: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"mask_in_place_{name}_{jit}", PLAIN.replace("TX", MADE[name]), jit)
    assert taken == ["NNX601" if jit == "nnx" else "NNX602"]


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("named", [False, True])
def test_beside_statistics(jit: str, *, named: bool) -> None:
    mask = BY_SIZE.replace("params)", 'variables["params"])')
    made = f"mask = {mask}\n{ADAMW.replace('MASK', 'mask')}" if named else ADAMW.replace("MASK", mask)
    taken, _ = printing_sides.check(f"mask_of_variables_{named}_{jit}", STATISTICS.replace("TX", made), jit)
    assert taken == ["NNX601" if jit == "nnx" else "NNX602"]


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_of_all_that_init_returned(jit: str) -> None:
    """A state whose params are `{"params": ...}`."""
    text = PLAIN.replace('params = variables["params"]', "params = variables").replace('{"params": p}', "p")
    taken, _ = printing_sides.check(f"mask_of_all_{jit}", text.replace("TX", MADE["by_size"]), jit)
    assert taken == ["NNX602"]


OTHERS = {
    "counted": "left = [1]\ntx = optax.masked(optax.adam(0.1), jax.tree.map(lambda p: bool(left and left.pop()), params))",
    "of_two": "tx = optax.masked(optax.adam(0.1), jax.tree.map(lambda p, q: p.ndim == q.ndim, params, params))",
    "put_together": f'tx = optax.masked(optax.adam(0.1), {{**{BY_SIZE}, "Block_1": False}})',
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", OTHERS)
def test_others_keep_their_loops(name: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"mask_kept_{name}_{jit}", PLAIN.replace("TX", OTHERS[name]), jit)
    assert taken == ["NNX601" if name == "put_together" and jit == "nnx" else "NNX603"]
