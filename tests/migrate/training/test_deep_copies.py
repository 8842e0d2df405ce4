"""`copy.deepcopy` of params: a target network's, the best ones so far."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

HEAD = f"""{NET}import copy
from typing import Any, NamedTuple

params = net.init(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))


def loss_of(params, target, x):
    following = net.apply({{"params": target}}, x * 0.5)
    return ((net.apply({{"params": params}}, x) - 1 - 0.1 * following) ** 2).mean()


@jax.jit
def step(state, target, x):
    loss, grads = jax.value_and_grad(loss_of)(state.params, target, x)
    state = state.apply_gradients(grads=grads)
    return state, optax.incremental_update(state.params, target, 0.1), loss


"""
LOOP = """for _ in range(4):
    state, target, loss = step(state, target, x)
    print(loss)
"""


@pytest.mark.parametrize(
    ("stem", "program"),
    [
        ("of_params", f"target = copy.deepcopy(params)\n{LOOP}"),
        ("of_a_state", f"target = copy.deepcopy(state.params)\n{LOOP}"),
        (
            "in_a_dictionary",
            LOOP.replace("state, target, x", "state, trees['b'], x").replace(
                "for", "trees = copy.deepcopy({'a': params, 'b': params})\nfor", 1
            ),
        ),
        (
            "the_best",
            "best, low = None, 1e9\ntarget = params\n"
            f"{LOOP}    if loss < low:\n        best, low = copy.deepcopy(state.params), loss\n"
            "print(loss_of(best, best, x))\n",
        ),
        (
            "under_jit",
            "@jax.jit\ndef frozen_step(state, x):\n    frozen = copy.deepcopy(state.params)\n"
            "    loss, grads = jax.value_and_grad(loss_of)(state.params, frozen, x)\n"
            "    return state.apply_gradients(grads=grads), loss\n\n\n"
            "for _ in range(4):\n    state, loss = frozen_step(state, x)\n    print(loss)\n",
        ),
        (
            "in_a_record",
            "class Both(NamedTuple):\n    online: Any\n    target: Any\n\n\n"
            "both = Both(params, copy.deepcopy(params))\n"
            "for _ in range(4):\n    state, target, loss = step(state, both.target, x)\n"
            "    both = Both(state.params, target)\n    print(loss)\n",
        ),
        (
            "in_an_object",
            "class Agent:\n    def __init__(self, params):\n"
            "        self.state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.1))\n"
            "        self.target = copy.deepcopy(params)\n\n"
            "    def update(self, x):\n        self.state, self.target, loss = step(self.state, self.target, x)\n"
            "        return loss\n\n\n"
            "agent = Agent(params)\nfor _ in range(4):\n    print(agent.update(x))\n",
        ),
    ],
)
def test_are_copied_leaf_by_leaf(stem: str, program: str) -> None:
    taken, after = printing_sides.check(f"deep_copies_{stem}", HEAD + program, "functional")
    assert taken == ["NNX602"] and "deepcopy(" not in after
    printing_sides.check(f"deep_copies_{stem}_native", HEAD + program, "nnx")


@pytest.mark.parametrize(
    ("stem", "program"),
    [
        (
            "changed",
            "target = copy.deepcopy(params)\n"
            f'target["Dense_0"]["bias"] = target["Dense_0"]["bias"] + 1\n{LOOP}print(params["Dense_0"]["bias"].sum())\n',
        ),
        (
            "of_the_state",
            f"first = copy.deepcopy(state)\ntarget = params\n{LOOP}print(loss_of(first.params, first.params, x))\n",
        ),
    ],
)
def test_what_stays_as_it_was(stem: str, program: str) -> None:
    for jit in ("nnx", "functional"):
        assert printing_sides.check(f"deep_copies_{stem}_{jit}", HEAD + program, jit)[0] == ["NNX603"]
