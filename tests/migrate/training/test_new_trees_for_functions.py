"""New trees that functions of the program are given: in the NNX idiom their parameter is the model."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import STEP

LOOP = """for _ in range(3):
    state, loss = step(state, x)
    print(loss)
    USE
"""
OF_PARAMS = """

def loss_of(params, scale=1.0):
    return scale * ((net.apply({"params": params}, x) - 1) ** 2).mean()


"""
USES = {
    "called": "print(loss_of(jax.tree.map(lambda p: p * 0.5, state.params)), loss_of(state.params))",
    "by_keyword": "print(loss_of(params=jax.tree.map(jnp.ones_like, state.params)))",
    "gradient": "print(optax.global_norm(jax.grad(loss_of)(jax.tree.map(lambda p: p * 0.5, state.params))))",
    "jitted": "print(jax.jit(loss_of)(jax.tree.map(lambda p: p * 0.5, state.params)))",
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", USES)
def test_they_are_no_model(name: str, jit: str) -> None:
    text = STEP + OF_PARAMS + LOOP.replace("USE", USES[name])
    taken, _ = printing_sides.check(f"new_trees_for_functions_{name}_{jit}", text, jit)
    assert taken == ["NNX602"]


def test_the_params_themselves_are() -> None:
    text = STEP + OF_PARAMS + LOOP.replace("USE", "print(loss_of(state.params))")
    taken, _ = printing_sides.check("new_trees_for_functions_own", text, "nnx")
    assert taken == ["NNX601"]
