"""Fields of the project's own states that hold trees like params and statistics: averages, targets, what applies them."""

from __future__ import annotations

import pytest

from . import printing_sides

HEAD = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state

ones = nn.initializers.constant(0.3)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Dense(4, kernel_init=ones)(x)
        STATISTICS
        return nn.Dense(2, kernel_init=ones)(jnp.tanh(x))


class State(train_state.TrainState):
    batch_stats: dict
    ema_params: dict
    ema_stats: dict
    count: int = 0


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
variables = net.init(jax.random.key(0), x)
params, batch_stats = variables["params"], variables["batch_stats"]
"""
WITH_STATISTICS = HEAD.replace("STATISTICS", "x = nn.BatchNorm(use_running_average=not train)(x)")
CREATE = """state = State.create(
    apply_fn=net.apply,
    params=params,
    batch_stats=batch_stats,
    ema_params=params,
    ema_stats=batch_stats,
    tx=optax.sgd(0.1),
)
"""
STEP = """

@jax.jit
def step(state, x):
    def loss_fn(p):
        out, new = state.apply_fn({"params": p, "batch_stats": state.batch_stats}, x, mutable=["batch_stats"])
        return ((out - 1) ** 2).mean(), new
    (loss, new), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=new["batch_stats"])
    average = optax.incremental_update(state.params, state.ema_params, 0.3)
    stats = jax.tree.map(lambda e, s: 0.5 * e + 0.5 * s, state.ema_stats, state.batch_stats)
    return state.replace(ema_params=average, ema_stats=stats, count=state.count + 1), loss


def evaluate(params, batch_stats):
    return state.apply_fn({"params": params, "batch_stats": batch_stats}, x, train=False).sum()


"""
LOOP = """for _ in range(3):
    state, loss = step(state, x)
    print(float(loss), float(evaluate(state.params, state.batch_stats)), int(state.count))
"""
EVALUATED = LOOP + "    print(float(evaluate(state.ema_params, state.ema_stats)))\n"
WHOLE = WITH_STATISTICS + CREATE + STEP
SPLIT, KEPT = ["NNX602"], ["NNX603"]
PROGRAMS = {
    "averages beside the params": (WHOLE + EVALUATED, SPLIT),
    "the one or the other": (
        WHOLE + LOOP + "    best = state.ema_params if loss < 1 else state.params\n"
        "    print(float(evaluate(best, state.batch_stats)))\n",
        SPLIT,
    ),
    "a target that is applied and updated": (
        WHOLE.replace(
            "    def loss_fn(p):\n",
            '    aim, kept = state.apply_fn({"params": state.ema_params, "batch_stats": state.ema_stats}, 2 * x, '
            'mutable=["batch_stats"])\n    def loss_fn(p):\n',
        )
        .replace("(out - 1)", "(out - aim - 1)")
        .replace("ema_stats=stats", 'ema_stats=kept["batch_stats"]')
        + EVALUATED,
        SPLIT,
    ),
    "sums of either tree": (
        WHOLE
        + "def total(tree):\n    return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(tree))\n\n\n"
        + EVALUATED
        + "    print(float(total(state.params)), float(total(state.ema_stats)), float(total(state.batch_stats)))\n",
        SPLIT,
    ),
    "an average that starts at nothing": (
        WHOLE.replace("ema_params=params,", "ema_params=jax.tree.map(jnp.zeros_like, params),") + EVALUATED,
        SPLIT,
    ),
    "an average that something else has made": (
        WHOLE.replace("ema_params=params,", "ema_params={name: dict(layer) for name, layer in params.items()},") + EVALUATED,
        KEPT,
    ),
    "statistics in the place of params": (
        WHOLE.replace("(state.ema_stats", "(state.params") + LOOP + "print(isinstance(evaluate, object))\n"
        "state = state.replace(ema_params=state.batch_stats)\n"
        "try:\n    evaluate(state.ema_params, state.batch_stats)\nexcept Exception as error:\n    print('refused')\n",
        KEPT,
    ),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_fields_of_states(name: str, jit: str) -> None:
    text, forms = PROGRAMS[name]
    assert printing_sides.check("fields", text, jit)[0] == forms
