"""Programs that keep their own loop run over a `Functional`, with Linen's numbers and Linen's keys."""

from __future__ import annotations

import jax
import numpy as np
import pytest

LOOP = """
class TrainState(train_state.TrainState):
  batch_stats: Any

model = Normed(8)
x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
y = jnp.array([0, 1, 2, 0])
variables = model.init({'params': jax.random.key(0), 'dropout': jax.random.key(1)}, x, train=False)
batch_stats, params = flax.core.pop(variables, 'params')
state = TrainState.create(apply_fn=model.apply, params=params, batch_stats=variables['batch_stats'], tx=optax.adam(0.1))
replicated = flax.jax_utils.replicate(state)
history = []

@functools.partial(jax.pmap, axis_name='batch')
def step(state, x, y):
  def loss_fn(params):
    logits, updates = state.apply_fn(
      {'params': params, 'batch_stats': state.batch_stats}, x, mutable=['batch_stats'],
      rngs={'dropout': jax.random.fold_in(jax.random.key(2), state.step)})
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), updates
  (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
  grads = jax.lax.pmean(grads, 'batch')
  return state.apply_gradients(grads=grads, batch_stats=updates['batch_stats']), loss

for _ in range(3):
  replicated, loss = step(replicated, *(jnp.stack([a] * jax.local_device_count()) for a in (x, y)))
  history.append(float(loss[0]))
final = flax.jax_utils.unreplicate(replicated)
saved = flax.serialization.to_bytes(final)
held = vars(final)  # which keeps the loop
evaluated = model.apply({'params': final.params, 'batch_stats': final.batch_stats}, x, train=False)
"""


def same(a: object, b: object) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for left, right in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(left, right, rtol=2e-5, atol=2e-6)


def test_pmap_loop(kit) -> None:
    done = kit.migrate(LOOP.replace("flax.core.pop(variables, 'params')", "(0, variables['params'])"), kit.NORMED)
    assert "linen_parity.Functional(Normed, 8, sizes=lambda x, *_, **__: {'in_features': x.shape[-1]})" in done.after
    before, after = done.both()
    assert before["history"] != [before["history"][0]] * 3
    np.testing.assert_allclose(before["history"], after["history"], rtol=1e-5)
    same(before["final"].params, after["final"].params)
    same(before["final"].batch_stats, after["final"].batch_stats)
    same(before["evaluated"], after["evaluated"])
    # An old checkpoint's bytes restore into the migrated program's state.
    from flax import serialization

    restored = serialization.from_bytes(after["final"], before["saved"])
    same(restored.params, before["final"].params)


FORMS = """
model = Normed(features=8, rate=0.5,)
x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
shapes = jax.eval_shape(model.init, jax.random.key(0), x)
y0, variables = model.init_with_output(jax.random.key(0), x, train=False)
y1 = model.apply(variables, x, False)
lazy = model.lazy_init(jax.random.key(0), jax.ShapeDtypeStruct((4, 5), jnp.float32))
_, seen = model.apply(variables, x, train=False, capture_intermediates=True, mutable=['intermediates'])
y2 = model.bind(variables)(x, train=False)
hyper = model.features, model.rate, model.clone(rate=0.0).rate, hash(model) == hash(Normed(8, 0.5))
dropped = model.apply(variables, x, rngs={'dropout': jax.random.key(3)}, mutable=['batch_stats'])[0]
again = model.apply(variables, x, rngs={'dropout': jax.random.key(3)}, mutable=['batch_stats'])[0]
other = model.apply(variables, x, rngs={'dropout': jax.random.key(4)}, mutable=['batch_stats'])[0]
"""


def test_forms_of_init_and_apply(kit) -> None:
    done = kit.migrate(FORMS, kit.NORMED)
    before, after = done.both()
    for name in ("y0", "variables", "y1", "y2"):
        same(before[name], after[name])
    assert before["shapes"] == after["shapes"]
    assert jax.tree.map(np.shape, before["lazy"]) == jax.tree.map(np.shape, after["lazy"])
    assert jax.tree.structure(before["seen"]) == jax.tree.structure(after["seen"])
    assert before["hyper"] == after["hyper"]
    assert (after["dropped"] == after["again"]).all() and (after["dropped"] != after["other"]).any()


def test_missing_and_misshapen_params_are_named(kit) -> None:
    model = kit.migrate("model = MLP(4)\nother = [model]\n", kit.MLP)
    names = model.run(model.after)
    x = np.ones((2, 5), np.float32)
    good = names["model"].init(jax.random.key(0), x)
    with pytest.raises(KeyError, match="params/Dense_1/bias"):
        names["model"].apply({"params": {"Dense_0": good["params"]["Dense_0"]}}, x)
    with pytest.raises(ValueError, match="Dense_0/kernel has shape \\(5, 4\\)"):
        names["model"].apply(good, np.ones((2, 6), np.float32))


CHOSEN = """
def small(features):
  return MLP(features)

classes = [0]
def create(cls, **fields):
  return cls(**fields)

one = create(MLP, features=4)
two = create(Normed, features=4)
x = jnp.ones((2, 5))
ys = []
for model in (one, two):
  v = model.init(jax.random.key(0), x)
  ys.append(model.apply(v, x, mutable=True)[0])
"""


def test_a_class_that_is_chosen_at_run_time(kit) -> None:
    mlp = kit.Model("MLP", kit.MLP.linen, kit.MLP.nnx.replace("in_features", "width"), sizes={"width": "x.shape[-1]"})
    done = kit.migrate(CHOSEN, mlp, kit.NORMED)
    assert "sizes={'MLP': lambda x, *_, **__: {'width': x.shape[-1]}, 'Normed': lambda x" in done.after
    before, after = done.both()
    same(before["ys"], after["ys"])


LIFTED = """
x = jnp.ones((2, 5))
params = MLP(4).init(jax.random.key(0), x)['params']
def look(mlp, scale):
  return scale * mlp(x)
y = nn.apply(look, MLP(4))({'params': params}, 2.0)
z = nn.apply(lambda mlp, scale: scale + mlp(x), MLP(4))({'params': params}, 2.0)
"""


def test_functions_of_a_bound_module(kit) -> None:
    done = kit.migrate(LIFTED, kit.MLP)
    before, after = done.both()
    same(before["y"], after["y"])
    same(before["z"], after["z"])
    assert "nn.apply" not in done.after
