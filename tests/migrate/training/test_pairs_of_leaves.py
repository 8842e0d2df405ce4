"""Leaves of like trees side by side, `zip(jax.tree.leaves(a), jax.tree.leaves(b))`: what is added up or compared of the
pairs is the same in any order of leaves that both have.
"""

from __future__ import annotations

import pytest

from . import printing_sides

PROGRAM = """import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

leaves = jax.tree.leaves


class Deep(nn.Module):
    @nn.compact
    def __call__(self, x):
        for i in range(11):
            x = jnp.tanh(nn.Dense(3, name=f"Block_{i}", kernel_init=nn.initializers.constant(0.1 * (i + 1)))(x))
        return nn.Dense(1, kernel_init=nn.initializers.constant(0.3))(x)


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Deep()
state = TrainState.create(apply_fn=net.apply, params=net.init(jax.random.key(0), x)["params"], tx=optax.adam(0.1))
loss_fn = lambda p: ((net.apply({"params": p}, x) - 1) ** 2).mean()
numbered = [np.asarray(leaf) * i for i, leaf in enumerate(leaves(state.params))]
grads = jax.grad(loss_fn)(state.params)
old = jax.tree.leaves(state.params)
KEPT
state = state.apply_gradients(grads=grads)
SHOWN
print(loss_fn(state.params))
"""
CASES = {
    "compared": ("", "print(any((a != b).any() for a, b in zip(old, leaves(state.params), strict=True)))", "both"),
    "gradients": ("", "print(sum(jnp.vdot(a, b) for a, b in zip(leaves(grads), leaves(state.params))))", "both"),
    "mapped": ("", "print(sum(map(jnp.vdot, leaves(grads), leaves(state.params))))", "both"),
    "twice": (
        "",
        "new = leaves(state.params)\nprint(sum(jnp.vdot(a, b) for a, b in zip(old, new)), len(old))\n"
        "print(max(float(jnp.abs(a - b).max()) for a, b in zip(new, old)))",
        "both",
    ),
    "three": (
        "",
        "print(sum((a * b * c).sum() for a, b, c in zip(old, leaves(grads), leaves(state.params))))",
        "both",
    ),
    "numbered": ("", "print(sum(i * a.sum() for i, (a, b) in enumerate(zip(old, leaves(grads)))))", ""),
    "listed": ("", "print([float(a.sum() + b.sum()) for a, b in zip(old, leaves(state.params))])", "nnx"),
    "one_in_linens_order": (
        "",
        "new = leaves(state.params)\nprint(sum(jnp.vdot(a, b) for a, b in zip(old, new)))\n"
        "print(sum(jnp.vdot(a, b) for a, b in zip(new, numbered)))",
        "nnx",
    ),
    "one_under_a_second_name": (
        "other = old",
        "print(sum(jnp.vdot(a, b) for a, b in zip(old, leaves(state.params))), [float(a.sum()) for a in other])",
        "nnx",
    ),
    "others": ("", "print(sum(jnp.vdot(a, b) for a, b in zip(numbered, leaves(state.params))))", "nnx"),
    "of_the_optimizer": ("", "print(sum(jnp.vdot(a, b) for a, b in zip(leaves(state.opt_state[0].mu), leaves(grads))))", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_pairs(name: str) -> None:
    kept, shown, native = CASES[name]
    text = PROGRAM.replace("KEPT\n", f"{kept}\n").replace("SHOWN", shown)
    if native != "nnx":  # what needs Linen's order has it in the idiom alone
        text = text.replace("numbered = [np.asarray(leaf) * i for i, leaf in enumerate(leaves(state.params))]\n", "")
    taken = [printing_sides.check(f"pairs_{name}_{jit}", text, jit)[0] for jit in ("nnx", "functional")]
    forms = {"both": [["NNX601"], ["NNX602"]], "nnx": [["NNX601"], ["NNX603"]], "": [["NNX603"], ["NNX603"]]}
    assert taken == forms[native]
