"""Transformations of the program's own that give each leaf something by its place: they are given Linen's dictionaries."""

from __future__ import annotations

import pytest

from . import printing_sides
from .test_leaf_functions import DEEP

NOISE = """from typing import NamedTuple


class NoiseState(NamedTuple):
    key: jax.Array


def noise_like(key, tree):
    leaves, treedef = jax.tree.flatten(tree)
    keys = jax.random.split(key, len(leaves))
    return jax.tree.unflatten(treedef, [0.1 * jax.random.normal(k, leaf.shape) for leaf, k in zip(leaves, keys)])


def langevin(seed):
    def update_fn(updates, state, params=None):
        key, noise = jax.random.split(state.key)
        return jax.tree.map(jnp.add, updates, noise_like(noise, updates)), NoiseState(key)

    return optax.GradientTransformation(lambda params: NoiseState(jax.random.PRNGKey(seed)), update_fn)


tx = optax.chain(langevin(3), optax.sgd(0.1))
"""
STATELESS = """rng = np.random.default_rng(0)
noise = optax.stateless(lambda updates, params: jax.tree.map(lambda u: u + 0.1 * rng.standard_normal(u.shape), updates))
tx = optax.chain(noise, optax.sgd(0.1))
"""
MAPPED = """rng = np.random.default_rng(0)
noise = optax.stateless_with_tree_map(lambda g, p: g + 0.1 * rng.standard_normal(g.shape))
tx = optax.chain(noise, optax.sgd(0.1))
"""
NORMALIZED = """def normalized():
    def update_fn(updates, state, params=None):
        norm = jnp.sqrt(sum(jnp.sum(u**2) for u in jax.tree.leaves(updates)))
        return jax.tree.map(lambda u: u / norm, updates), state

    return optax.GradientTransformation(lambda params: optax.EmptyState(), update_fn)


tx = optax.chain(normalized(), optax.sgd(0.1))
"""
LOOP = """state = TrainState.create(apply_fn=deep.apply, params=state.params, tx=tx)
for _ in range(4):
    loss, grads = jax.value_and_grad(lambda p: (state.apply_fn({"params": p}, x) ** 2).mean())(state.params)
    state = state.apply_gradients(grads=grads)
    print(loss)
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", ["NOISE", "STATELESS", "MAPPED"])
def test_they_are_given_linen_s_dictionaries(name: str, jit: str) -> None:
    head = DEEP[: DEEP.index("state = TrainState")]
    loop = LOOP.replace("state.params", 'deep.init(jax.random.key(0), x)["params"]', 1)
    _, after = printing_sides.check(f"by_order_{name}_{jit}", f"{head}{globals()[name]}{loop}", jit)
    assert "by_linen_" in after or "linen_parity.Functional" in after


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_sums_have_no_order(jit: str) -> None:
    head = DEEP[: DEEP.index("state = TrainState")]
    loop = LOOP.replace("state.params", 'deep.init(jax.random.key(0), x)["params"]', 1)
    taken, after = printing_sides.check(f"by_order_sums_{jit}", f"{head}{NORMALIZED}{loop}", jit)
    assert ("NNX601" if jit == "nnx" else "NNX602") in taken and "by_linen_" not in after
