"""Gradients, params and slots are states of nnx: a program that takes them by their paths keeps another form."""

from __future__ import annotations

import numpy as np
import pytest

PROGRAM = """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
model = MLP(8)
params = model.init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
{before}
@jax.jit
def step(state, x):
  def loss_fn(params):
    return jnp.mean((state.apply_fn({{'params': params}}, x) - y) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  {change}
  return state.apply_gradients(grads=grads), loss

losses = []
for i in range(4):
  state, loss = step(state, x)
  losses.append(float(loss))
"""
# What is done to the gradients, and what is defined for it. The idiom would run most of these, to other losses.
BY_PATH = {
    "by keys": (
        "grads = jax.tree_util.tree_map_with_path("
        "lambda p, g: g * (3.0 if getattr(p[-1], 'key', '') == 'bias' else 0.5), grads)",
        "",
    ),
    "by the end of a path": (
        "grads = jax.tree.map_with_path(lambda p, g: g * 0 if jax.tree_util.keystr(p).endswith(\"'bias']\") else g, grads)",
        "",
    ),
    "by the length of a path in a function": (
        "grads = frozen(grads)",
        "def frozen(t):\n"
        "  return jax.tree_util.tree_map_with_path(lambda p, g: g * 0 if len(p) == 2 and p[0].key == 'Dense_0' else g, t)\n",
    ),
    "as a flat list with paths": (
        "grads = frozen(grads)",
        "def frozen(tree):\n  flat, made = jax.tree_util.tree_flatten_with_path(tree)\n"
        "  return made.unflatten([g * 0 if '/'.join(str(k.key) for k in p if hasattr(k, 'key')) == 'Dense_0/bias'"
        " and len(p) == 2 else g for p, g in flat])\n",
    ),
    "as a flat dictionary": (
        "flat = flax.traverse_util.flatten_dict(grads, sep='/')\n  flat['Dense_0/bias'] *= 0\n"
        "  grads = flax.traverse_util.unflatten_dict(flat, sep='/')",
        "",
    ),
    "what is made of them, under another name": (
        "grads = jax.tree.map(lambda g: g * 2, grads)\n  half = optax.tree_utils.tree_scale(0.5, grads)\n"
        "  grads = jax.tree.map_with_path(lambda p, g: g * 0 if getattr(p[-1], 'key', '') == 'bias' else g, half)",
        "",
    ),
    "in an annotated statement": (
        "grads: Any = jax.tree.map_with_path(lambda p, g: g * 0 if len(p) == 2 and p[1].key == 'bias' else g, grads)",
        "",
    ),
    "what a function makes of them": (
        "grads = jax.tree.map_with_path(lambda p, g: g * 0 if len(p) == 2 and p[1].key == 'bias' else g, doubled(grads))",
        "def doubled(tree):\n  return optax.tree_utils.tree_scale(2.0, tree)\n",
    ),
}
# The same of other trees, which split state has as states of nnx.
BIASES = "lambda p, g: g * 0 if getattr(p[-1], 'key', '') == 'bias' else g"
TREES = {
    "gradients without a name": f"grads = jax.tree.map_with_path({BIASES}, optax.tree_utils.tree_scale(0.5, grads))",
    "gradients that are copied": f"kept = copy.deepcopy(grads)\n  grads = jax.tree.map_with_path({BIASES}, kept)",
    "params": "state = state.apply_gradients(grads=grads)\n"
    "  less = optax.tree_utils.tree_scale(0.9, state.params)\n"
    f"  return state.replace(params=jax.tree.map_with_path({BIASES}, less)), loss",
    "slots": "state = state.apply_gradients(grads=grads)\n"
    "  slots = optax.tree_utils.tree_scale(0.9, state.opt_state)\n"
    f"  return state.replace(opt_state=jax.tree.map_with_path({BIASES}, slots)), loss",
    "what the optimizer makes of gradients": "updates, opt_state = state.tx.update(grads, state.opt_state, state.params)\n"
    "  half = optax.tree_utils.tree_scale(0.5, updates)\n"
    f"  masked = jax.tree.map_with_path({BIASES}, half)\n"
    "  return state.replace(params=optax.apply_updates(state.params, masked), opt_state=opt_state), loss",
}
LEAF_BY_LEAF = {
    "clipped and scaled": (
        "norm = optax.global_norm(grads)\n  grads = jax.tree.map(lambda g: g / jnp.maximum(norm, 1.0), grads)\n"
        "  grads = optax.tree_utils.tree_scale(0.5, grads)",
        "",
    ),
    "with their norm, as a pair": (
        "loss, grads = jax.tree.map(lambda v: v * 0.5, (loss, grads))",
        "",
    ),
    "summed": ("loss = loss + 0 * sum(jnp.sum(g ** 2) for g in jax.tree.leaves(grads))", ""),
}


@pytest.mark.parametrize("name", [*BY_PATH, *LEAF_BY_LEAF])
def test_the_losses_stay(kit, name: str) -> None:
    change, before = {**BY_PATH, **LEAF_BY_LEAF}[name]
    done = kit.migrate(PROGRAM.format(change=change, before=before), kit.MLP)
    assert done.codes in ([["NNX602"], ["NNX603"]] if name in BY_PATH else [["NNX601"]])
    linen, now = done.both()
    assert len(set(linen["losses"])) > 1
    np.testing.assert_allclose(now["losses"], linen["losses"], rtol=1e-4)


@pytest.mark.parametrize("kept", ["", "first = state"])
@pytest.mark.parametrize("name", TREES)
def test_trees_under_linens_paths(kit, name: str, kept: str) -> None:
    program = PROGRAM.format(before=f"import copy\n{kept}", change=TREES[name]).replace("optax.sgd(0.1)", "optax.adam(0.1)")
    program += "first_loss = float(step(first, x)[1])\n" if kept else ""
    before, after = kit.migrate(program, kit.MLP).both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4)
