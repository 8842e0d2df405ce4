"""Derivatives by inputs within a loss, by functions that close over its params: `jax.jvp`, `jax.vjp`, `jax.linearize`."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

LOSS = f"""{NET}
params = net.init(jax.random.key(0), x)
tx = optax.adam(0.1)
opt_state = tx.init(params)


def loss_of(params, x):
    u = lambda x: net.apply(params, x)
    value, slope = jax.jvp(u, (x,), (jnp.ones_like(x),))
    out, pull = jax.vjp(u, x)
    _, push = jax.linearize(u, x)
    return ((value - 1) ** 2).mean() + (slope**2).mean() + (pull(out)[0] ** 2).mean() + push(x).mean(), value.sum()


@jax.jit
def step(params, opt_state, x):
    (loss, aux), grads = jax.value_and_grad(loss_of, has_aux=True, allow_int=True)(params, x)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, aux


for _ in range(3):
    params, opt_state, loss, aux = step(params, opt_state, x)
    print(loss, aux)
"""
KEPT = """

def field(params):
    u = lambda x: net.apply(params, x)
    return jax.vjp(u, x)[1]


pull = field(params)
params, opt_state, loss, aux = step(params, opt_state, x)
print(pull(jnp.ones((4, 1)))[0].sum(), field(params)(jnp.ones((4, 1)))[0].sum())
"""
HELD = """

def field(params):
    u = lambda x: net.apply(params, x)
    return u, jax.jvp(u, (x,), (x,))[0].sum()


u, first = field(params)
params, opt_state, loss, aux = step(params, opt_state, x)
print(u(x).sum(), first, field(params)[1])
"""


@pytest.mark.parametrize("more", ["", KEPT])
def test_the_functions_have_the_numbers_of_their_call(more: str) -> None:
    assert printing_sides.check("inner_nnx", LOSS + more, "nnx")[0] == ["NNX601"]
    assert printing_sides.check("inner_split", LOSS + more, "functional")[0] == ["NNX602"]


def test_a_function_of_params_that_goes_on_keeps_the_loop() -> None:
    assert "NNX601" not in printing_sides.check("inner_held", LOSS + HELD, "nnx")[0]
    printing_sides.check_reason(LOSS + HELD, "a function keeps beyond an update")


STARRED = f"""{NET}

class Pair(nn.Module):
    @nn.compact
    def __call__(self, x, t):
        return Net()(x) + nn.Dense(1, kernel_init=ones)(t)


pair = Pair()
INPUTS
params = pair.init(jax.random.key(0), *inputs)["params"]
state = TrainState.create(apply_fn=pair.apply, params=params, tx=optax.sgd(0.1))


@jax.jit
def step(state, x, t):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({{"params": p}}, x, t) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(3):
    state, loss = step(state, x, x[:, :2])
    print(loss, *[i.shape for i in inputs[:1]])
"""
LISTS = {
    "list": ("inputs = [x, jnp.ones((1, 2))]", True),
    "tuple": ("inputs = x, jnp.ones((1, 2))", True),
    "grown": ("inputs = [x]\ninputs.append(jnp.ones((1, 2)))", False),
    "changed": ("inputs = [x, x]\ninputs[1] = jnp.ones((1, 2))", False),
    "cut": ("inputs = [x, x, jnp.ones((1, 2))]\ndel inputs[1]", False),
    "handed_on": ("inputs = [x, x]\n\n\ndef put(held):\n    held[1] = jnp.ones((1, 2))\n\n\nput(inputs)", False),
    "under_two_names": ("inputs = [x, x]\nothers = inputs\nothers[1] = jnp.ones((1, 2))", False),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_inputs_in_a_list(name: str, jit: str) -> None:
    inputs, plain = LISTS[name]
    taken, _ = printing_sides.check(
        f"starred_{name}_{jit}", STARRED.replace("INPUTS", inputs).replace("net = Net()\n", ""), jit
    )
    assert (taken == [{"nnx": "NNX601", "functional": "NNX602"}[jit]]) is plain
