"""What programs print of their states: uses within f-strings, and trees as Linen has them."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import STEP

LOOP = """for _ in range(3):
    state, loss = step(state, x)
"""
BATCH_NORM = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dense(1, kernel_init=nn.initializers.constant(0.3))(x)


class State(train_state.TrainState):
    batch_stats: dict


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
variables = net.init(jax.random.key(0), x, train=False)
print(jax.tree.map(jnp.shape, variables))
state = State.create(
    apply_fn=net.apply, params=variables["params"], batch_stats=variables["batch_stats"], tx=optax.sgd(0.1)
)


@jax.jit
def step(state, x):
    def loss_fn(p):
        variables = {"params": p, "batch_stats": state.batch_stats}
        out, new = state.apply_fn(variables, x, train=True, mutable=["batch_stats"])
        return ((out - 1) ** 2).mean(), new
    (loss, new), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=new["batch_stats"]), loss


"""
ALIKE = {"nnx": "NNX601", "functional": "NNX602"}
SPLIT = {"nnx": "NNX602", "functional": "NNX602"}
# Name → program, the form that it takes.
PROGRAMS = {
    "a count": (STEP + 'print(f"params: {sum(p.size for p in jax.tree.leaves(state.params)):,}")\n' + LOOP, ALIKE),
    "words that are also said beside them": (
        STEP + LOOP + 'print(f"state.step {state.step} state.step={state.step:03d} loss {loss:.4f}")\n',
        ALIKE,
    ),
    "f-strings side by side": (STEP + LOOP + 'print("step " f"{state.step}" ": " f"{ state.step + 1 :>4d}")\n', ALIKE),
    "a call of the model": (
        STEP + LOOP + """print(f'{jnp.sum(net.apply({"params": state.params}, x)):.4f} {state.step}')\n""",
        ALIKE,
    ),
    "a condition": (STEP + LOOP + 'print(f"{state.step}" if loss > 0.01 else f"done after {state.step}")\n', ALIKE),
    "an attribute of a trainer": (
        STEP
        + """class Trainer:
    def __init__(self):
        self.state = state

    def fit(self):
        for _ in range(3):
            self.state, loss = step(self.state, x)
            print(f"{self.state.step}: {loss:.4f} of {sum(p.size for p in jax.tree.leaves(self.state.params))}")


Trainer().fit()
""",
        None,
    ),
    "shapes in an f-string": (STEP + LOOP + 'print(f"shapes {jax.tree.map(jnp.shape, state.params)}")\n', ALIKE),
    "params in an f-string": (STEP + LOOP + 'print(f"{state.params}")\n', ALIKE),
    "several lines": (STEP + LOOP + 'print(f"""loss {loss:.4f}\n  step {state.step}\n""")\n', None),
    "a format that is computed": (STEP + LOOP + 'print(f"{loss:.{int(state.step)}f}")\n', SPLIT),
    "within another f-string": (STEP + LOOP + "print(f\"{f'{state.step}'}\")\n", SPLIT),
    "variables with statistics": (BATCH_NORM + LOOP, SPLIT),
    "statistics": (
        BATCH_NORM + LOOP + "print('statistics', jax.tree.map(lambda a: round(float(a.sum()), 3), state.batch_stats))\n",
        SPLIT,
    ),
    "gradients": (
        STEP
        + """def run():
    params = net.init(jax.random.key(0), x)["params"]
    grads = jax.grad(lambda p: (net.apply({"params": p}, x) ** 2).mean())(params)
    print(jax.tree.map(jnp.shape, grads))
    print({name: round(float(jnp.sum(value)), 3) for name, value in (("x", x),)})


run()
""",
        None,
    ),
    "variables of a split state": (
        STEP
        + """def twice(state, x):
    return jax.lax.scan(lambda s, _: step(s, x), state, None, 2)


variables = net.init(jax.random.key(0), x)
print(jax.tree.map(jnp.shape, variables))
print(f"{jax.tree.map(jnp.shape, variables)}")
state = TrainState.create(apply_fn=net.apply, params=variables["params"], tx=optax.sgd(0.1))
state, losses = twice(state, x)
print([round(float(loss), 4) for loss in losses])
""",
        None,
    ),
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_print_what_they_did(name: str, jit: str) -> None:
    text, form = PROGRAMS[name]
    found, _ = printing_sides.check("printed", text, jit)
    assert form is None or found == [form[jit]]
