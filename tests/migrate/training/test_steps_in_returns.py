"""`return update(state, grads), loss`: a step that calls another one for the state that it returns."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

LOOP = f"""{NET}

def update(state, grads):
    return state.apply_gradients(grads=grads)


def loss_of(state, x):
    return ((state.apply_fn({{"params": state.params}}, x) - 1) ** 2).mean()


params = net.init(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({{"params": p}}, x) - 1) ** 2).mean())(state.params)
    return RETURNED


for _ in range(3):
    TAKEN = step(state, x)
    print(loss, state.step)
print(loss_of(state, x))
"""
IDIOM = {
    "first": ("update(state, grads), loss", "state, loss"),
    "last": ("loss, update(state, grads)", "loss, state"),
    "by_keyword": ("loss * 2, update(grads=grads, state=state), 1", "loss, state, _"),
}
SPLIT = {
    "read_behind": ("update(state, grads), loss_of(state, x)", "state, loss"),
    "read_before": ("loss_of(state, x), update(state, grads)", "loss, state"),
    "twice": ("update(update(state, grads), grads), loss", "state, loss"),
    "chosen": ("(update(state, grads), loss) if x.ndim == 2 else (state, loss)", "state, loss"),
    "beside_the_old_one": ("update(state, grads), state.step, loss", "state, old, loss"),
    "both": ("update(state, grads), state, loss", "state, old, loss"),
}


def _text(returned: str, taken: str) -> str:
    return LOOP.replace("RETURNED", returned).replace("TAKEN", taken)


@pytest.mark.parametrize("name", [*IDIOM, *SPLIT])
def test_is_the_same_program(name: str) -> None:
    text = _text(*{**IDIOM, **SPLIT}[name])
    taken, after = printing_sides.check(f"returned_{name}", text, "nnx")
    assert taken == (["NNX601"] if name in IDIOM else ["NNX602"])
    assert name not in IDIOM or "\n    update(" in after
    assert printing_sides.check(f"returned_{name}_split", text, "functional")[0] == ["NNX602"]


ASKED = f"""{NET}
state = None
params = net.init(jax.random.key(0), x)["params"]


def create(state, rate):
    tx = state.tx if state else optax.sgd(rate)
    if not state:
        print("new")
    return TrainState.create(apply_fn=net.apply, params=state.params if state else params, tx=tx)


for rate in (0.1, 0.2):
    state = create(state, rate)
    grads = jax.grad(lambda p: ((state.apply_fn({{"params": p}}, x) - 1) ** 2).mean())(state.params)
    state = state.apply_gradients(grads=grads)
    print(((net.apply({{"params": state.params}}, x) - 1) ** 2).mean(), "yes" if state else "no")
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_states_that_are_asked_whether_they_are_there(jit: str) -> None:
    assert printing_sides.check(f"asked_{jit}", ASKED, jit)[0] == ["NNX602"]
