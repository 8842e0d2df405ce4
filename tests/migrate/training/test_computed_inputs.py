"""`head.init(key, body.apply(params, x))`: the size of an input that another model computes is read off what it gives."""

from __future__ import annotations

import pytest

from . import printing_sides

MODELS = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Body(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.tanh(nn.Dense(4, kernel_init=ones)(x))


class Head(nn.Module):
    @nn.compact
    def __call__(self, h, t=None):
        h = nn.Dense(1, kernel_init=ones)(h)
        return h if t is None else h + nn.Dense(1, kernel_init=ones)(t)


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
body, head = Body(), Head()
k1, k2 = jax.random.split(jax.random.key(0))
body_params = body.init(k1, x)["params"]
"""
TRAIN = f"""{MODELS}INIT
body_state = TrainState.create(apply_fn=body.apply, params=body_params, tx=optax.sgd(0.1))
STATE


@jax.jit
def step(body_state, state, x):
    def loss_of(params):
        h = body_state.apply_fn({{"params": body_state.params}}, x)
        return ((state.apply_fn({{"params": params}}, h) - 1) ** 2).mean()

    loss, grads = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(3):
    state, loss = step(body_state, state, x)
    print(loss)
"""
APPLIED = 'body.apply({"params": body_params}, x[:1])'
STATE = "state = TrainState.create(apply_fn=head.apply, params=PARAMS, tx=optax.adam(0.1))"
ALIKE = {
    "assigned": (f'params = head.init(k2, {APPLIED})["params"]', STATE.replace("PARAMS", "params")),
    "in_create": ("", STATE.replace("PARAMS", f'head.init(k2, {APPLIED})["params"]')),
    "within_a_call": (f'params = head.init(k2, jnp.abs({APPLIED}))["params"]', STATE.replace("PARAMS", "params")),
    "by_keyword": (f'params = head.init(k2, h={APPLIED})["params"]', STATE.replace("PARAMS", "params")),
}


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_has_a_name_before_init(name: str, jit: str) -> None:
    first, second = ALIKE[name]
    taken, after = printing_sides.check(f"computed_{name}_{jit}", TRAIN.replace("INIT", first).replace("STATE", second), jit)
    assert "NNX603" not in taken and "in_features=head_input.shape[-1]" in after


SHOW = 'print(head.apply({"params": params}, body.apply({"params": body_params}, x)).sum())\n'
OTHERS = {
    "drawn": (
        "batches = iter([x, x[:2], x[:1]])\n"
        'params = head.init(k2, body.apply({"params": body_params}, next(batches)))["params"]\n'
        "print(next(batches).shape)"
    ),
    "the_name_is_taken": f'head_input = 3\nparams = head.init(k2, {APPLIED})["params"]\nprint(head_input)',
    "in_a_lambda": f'make = lambda key: head.init(key, {APPLIED})["params"]\nparams = make(k2)',
    "under_a_condition": f'params = head.init(k2, {APPLIED})["params"] if x.ndim == 2 else None',
    "two_inputs": f'params = head.init(k2, {APPLIED}, {APPLIED})["params"]',
    "of_two_widths": (
        f'other = head.init(k2, {APPLIED}[:, :2])["params"]\nparams = head.init(k2, {APPLIED})["params"]\n'
        'print(other["Dense_0"]["kernel"].shape)'
    ),
    "in_a_loop": f'for i in range(2):\n    params = head.init(jax.random.fold_in(k2, i), {APPLIED})["params"]',
    "its_own": (
        'first = head.init(k2, x)["params"]\nwide = head.init(k2, head.apply({"params": first}, x))["params"]\n'
        f'params = head.init(k2, {APPLIED})["params"]\nprint(head.apply({{"params": wide}}, x[:, :1]).sum())'
    ),
    "an_imported_name": (
        f'import jax.numpy as head_input\nparams = head.init(k2, {APPLIED})["params"]\nprint(head_input.ones(2))'
    ),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_others_are_the_same_program(name: str, jit: str) -> None:
    printing_sides.check(f"computed_{name}_{jit}", f"{MODELS}{OTHERS[name]}\n{SHOW}", jit)
