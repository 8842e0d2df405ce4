"""Trees of an optimizer's state by the names of parameters: on split state these are others, and hold Params of NNX."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET, STEP

LOOP = "for _ in range(3):\n    state, loss = step(state, x)\n    print(loss)\n"
BY_HAND = f"""{NET}params = net.init(jax.random.key(0), x)["params"]
tx = optax.sgd(0.1, momentum=0.9)
opt_state = tx.init(params)


@jax.jit
def step(params, opt_state, x):
    loss, grads = jax.value_and_grad(lambda p: ((net.apply({{"params": p}}, x) - 1) ** 2).mean())(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


for _ in range(3):
    params, opt_state, loss = step(params, opt_state, x)
    print(loss)
"""
ITEM = '["Dense_0"]["bias"]'
NAMED = {
    "an_item": f"print(SLOTS[0].trace{ITEM})",
    "a_name": f"slots = SLOTS[0]\nprint(slots.trace{ITEM})",
    "a_tree": f"trace = SLOTS[0].trace\nprint(trace{ITEM})",
    "mapped": f"print(jax.tree.map(jnp.sum, SLOTS[0].trace){ITEM})",
    "mapped_as_a_whole": f"print(jax.tree.map(jnp.sum, SLOTS)[0].trace{ITEM})",
    "mapped_under_a_name": f"sums = jax.tree.map(jnp.sum, SLOTS[0].trace)\nprint(sums{ITEM})",
    "a_function": f"def show(slots):\n    print(slots[0].trace{ITEM})\n\n\nshow(SLOTS)",
    "a_function_of_a_tree": f"def show(trace):\n    print(trace{ITEM})\n\n\nshow(SLOTS[0].trace)",
}
NUMBERS = {
    "a_norm": "print(optax.global_norm(SLOTS[0].trace))",
    "a_sum": "print(sum(leaf.sum() for leaf in jax.tree.leaves(SLOTS[0].trace)))",
}


def _program(slots: str, read: str) -> str:
    start = STEP + LOOP if slots == "state.opt_state" else BY_HAND
    return f"{start}{read.replace('SLOTS', slots)}\n"


@pytest.mark.parametrize("slots", ["state.opt_state", "opt_state"])
@pytest.mark.parametrize("name", NAMED)
def test_by_their_names(name: str, slots: str) -> None:
    for jit in ("nnx", "functional"):
        taken, _ = printing_sides.check(f"slots_{name}_{jit}_{slots[:3]}", _program(slots, NAMED[name]), jit)
        assert taken == ["NNX603"]


@pytest.mark.parametrize("slots", ["state.opt_state", "opt_state"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_them(name: str, slots: str) -> None:
    taken, _ = printing_sides.check(f"slots_{name}_{slots[:3]}", _program(slots, NUMBERS[name]), "functional")
    assert taken == ["NNX602"]
