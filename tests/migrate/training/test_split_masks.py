"""Optimizers that go by the names of params, in split state: they are given dictionaries as Linen has them."""

from __future__ import annotations

import pytest

from . import printing_sides

HEAD = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn, serialization, traverse_util
from flax.core import freeze
from flax.training.train_state import TrainState

ones = nn.initializers.constant(0.3)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.LayerNorm(name="norm")(jnp.tanh(nn.Dense(3, kernel_init=ones, name="fc")(x)) * x)


class Net(nn.Module):
    def setup(self):
        self.body = [Block() for _ in range(2)]
        self.head = nn.Dense(1, kernel_init=ones)

    def __call__(self, x):
        for block in self.body:
            x = block(x)
        return self.head(x)


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
net = Net()
params = net.init(jax.random.key(0), x)["params"]
"""
TRAIN = """state = first = TrainState.create(apply_fn=net.apply, params=params, tx=tx)


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


for _ in range(3):
    state, loss = step(state, x)
    print(loss, optax.global_norm(state.params))
print(first.apply_fn({"params": first.params}, x).sum())
"""
DECAYS = """
def decays(params):
    flat = traverse_util.flatten_dict(params)
    return traverse_util.unflatten_dict({k: k[-1] == "kernel" and "body_0" not in k for k in flat})


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.1, weight_decay=0.5, mask=decays))
"""
PATHS = 'traverse_util.path_aware_map(lambda path, _: "kept" if path[0].startswith("body") else "moved", params)'
KEYS = 'jax.tree_util.tree_map_with_path(lambda path, _: "kept" if path[0].key == "body_1" else "moved", params)'
SHAPES = 'jax.tree.map(lambda p: "kept" if p.ndim > 1 else "moved", params)'
LABELS = """labels = {labels}
tx = optax.multi_transform({{"moved": optax.adam(0.1), "kept": optax.sgd(0.01)}}, labels)
"""
WHOLE = (
    (HEAD + DECAYS + TRAIN)
    .replace('x)["params"]', "x)")
    .replace('{"params": p}', "p")
    .replace('{"params": first.params}', "first.params")
    .replace('"body_0" not in k', 'k[:2] != ("params", "body_0")')
)
SAVED = """data = serialization.to_bytes(state)
again, loss = step(serialization.from_bytes(first, data), x)
print(len(data), loss, again.step)
"""
FROZEN = HEAD.replace('["params"]\n', '["params"]\nparams = freeze(params)\n')
SPLIT, KEPT = ["NNX602"], ["NNX603"]
PROGRAMS = {
    "a mask by a function": (HEAD + DECAYS + TRAIN, SPLIT),
    "of all that init returns": (WHOLE, SPLIT),
    "labels by a lambda": (HEAD + LABELS.format(labels=f"lambda params: {PATHS}") + TRAIN, SPLIT),
    "labels by paths": (HEAD + LABELS.format(labels=PATHS) + TRAIN, SPLIT),
    "labels by keys": (HEAD + LABELS.format(labels=KEYS) + TRAIN, SPLIT),
    "labels by shapes": (HEAD + LABELS.format(labels=SHAPES) + TRAIN, SPLIT),
    "a state that is saved and read back": (HEAD + DECAYS + TRAIN + SAVED, SPLIT),
    "labels that are printed": (HEAD + LABELS.format(labels=PATHS) + "print(labels['head'])\n" + TRAIN, KEPT),
    "frozen labels": (FROZEN + LABELS.format(labels=f"freeze({PATHS})") + TRAIN, KEPT),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_split_masks(name: str) -> None:
    text, forms = PROGRAMS[name]
    taken, after = printing_sides.check(f"split_masks_{list(PROGRAMS).index(name)}", text, "functional")
    assert taken == forms
    assert forms == KEPT or "tx=linen_parity.by_linen_keys(graphdef, tx" in after
