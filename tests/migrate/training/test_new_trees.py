"""Trees that are made of params leaf by leaf: what looks at them by name gets Linen's dictionaries."""

from __future__ import annotations

import numpy as np
import pytest

START = """
import json, pickle
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
@jax.jit
def step(state, x):
  def loss_fn(params):
    return jnp.mean((state.apply_fn({'params': params}, x) - y) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), loss
model = MLP(8)
params = model.init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
state, loss = step(state, x)
"""
TAKEN = {
    "flattened": "found = flax.traverse_util.flatten_dict(jax.tree.map(jnp.mean, state.params), sep='/')\n"
    "names, out = sorted(found), [float(found[name]) for name in sorted(found)]",
    "pickled": "found = pickle.loads(pickle.dumps(jax.tree.map(np.asarray, state.params)))\n"
    "names = [type(found).__name__, type(found['Dense_0']['kernel']).__name__]\n"
    "out = [float(found['Dense_0']['kernel'].sum())]",
    "as JSON": "found = json.loads(json.dumps(jax.tree.map(lambda p: float(p.sum()), state.params)))\n"
    "names, out = sorted(found), [found['Dense_0']['kernel'], found['Dense_1']['bias']]",
    "in a log": "rows = []\nrows.append({'means': jax.tree.map(jnp.mean, state.params), 'loss': loss})\n"
    "names, out = sorted(rows[0]['means']), [float(rows[0]['means']['Dense_0']['kernel'])]",
    "mapped twice": "found = pickle.loads(pickle.dumps(jax.tree.map(np.asarray, jax.tree.map(jnp.abs, state.params))))\n"
    "names, out = [type(found).__name__], [float(found['Dense_0']['kernel'].sum())]",
}
KEPT = {
    "beside a dictionary": "other = {name: {'kernel': 1.0, 'bias': 2.0} for name in ('Dense_0', 'Dense_1')}\n"
    "out = [float(jnp.sum(v)) for v in jax.tree.leaves(jax.tree.map(lambda p, q: p * q, state.params, other))]",
    "gradients beside a dictionary": "weights = {name: {'kernel': 0.0, 'bias': 2.0} for name in ('Dense_0', 'Dense_1')}\n"
    + START[START.index("@jax.jit") : START.index("model =")]
    .replace("def step", "def weighted")
    .replace("  return state.apply", "  grads = jax.tree.map(lambda g, w: g * w, grads, weights)\n  return state.apply")
    + "state, loss = weighted(state, x)\nstate, loss = weighted(state, x)\nout = [float(loss)]",
    "an update that starts from it": "kernels = flax.traverse_util.ModelParamTraversal(lambda path, _: 'kernel' in path)\n"
    "found = kernels.update(lambda v: v + 1, jax.tree.map(jnp.mean, state.params))\n"
    "out = [float(found['Dense_0']['kernel']), float(found['Dense_0']['bias'])]",
}


@pytest.mark.parametrize("name", [*TAKEN, *KEPT])
def test_new_trees(kit, name: str) -> None:
    done = kit.migrate(f"{START}names = []\n{ {**TAKEN, **KEPT}[name]}\n", kit.MLP)
    assert done.codes in ([["NNX601"]] if name in TAKEN else [["NNX602"], ["NNX603"]])
    before, after = done.both()
    np.testing.assert_allclose(after["out"], before["out"], rtol=1e-4)
    assert after["names"] == before["names"]
