"""Lists of leaves of which an array is made, and one number of that: in which order they come makes no difference."""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import STEP

PROGRAM = STEP.replace(
    "    return state.apply_gradients(grads=grads), loss",
    "    loss += LEAVES\n    return state.apply_gradients(grads=grads), loss",
)
LOOP = "for _ in range(3):\n    state, loss = step(state, x)\n    print(loss)\n"


@pytest.mark.parametrize(
    ("stem", "leaves"),
    [
        ("finite", "jnp.all(jnp.array([jnp.isfinite(g).all() for g in jax.tree.leaves(grads)]))"),
        ("largest", "jnp.max(jnp.stack([jnp.abs(g).max() for g in jax.tree.leaves(grads)]))"),
        ("listed", "jnp.sum(jnp.asarray([g.sum() for g in jax.tree_util.tree_leaves(state.params)]))"),
    ],
)
@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_one_number_of_all(stem: str, leaves: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"leaves_in_one_{stem}_{jit}", PROGRAM.replace("LEAVES", leaves) + LOOP, jit)
    assert taken == [{"nnx": "NNX601", "functional": "NNX602"}[jit]]


@pytest.mark.parametrize(
    ("stem", "leaves"),
    [
        ("the_first", "jnp.array([g.sum() for g in jax.tree.leaves(grads)])[0]"),
        ("along_an_axis", "jnp.cumsum(jnp.array([g.sum() for g in jax.tree.leaves(grads)]))[1]"),
        ("weighted", "jnp.sum(jnp.array([g.sum() for g in jax.tree.leaves(grads)]) * jnp.arange(4.0))"),
        ("with_an_axis", "jnp.sum(jnp.array([[g.sum(), 1.0] for g in jax.tree.leaves(grads)]), axis=1)[0]"),
        ("dotted", "jnp.dot(jnp.array([g.sum() for g in jax.tree.leaves(grads)]), jnp.arange(4.0))"),
    ],
)
def test_what_goes_by_their_places(stem: str, leaves: str) -> None:
    for jit in ("nnx", "functional"):
        taken, _ = printing_sides.check(f"leaves_in_one_{stem}_{jit}", PROGRAM.replace("LEAVES", leaves) + LOOP, jit)
        assert taken == ["NNX603"]
