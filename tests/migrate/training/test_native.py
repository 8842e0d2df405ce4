"""Loops that are understood end to end become modules, nnx.Optimizer and nnx.jit, with Linen's losses."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest

DATA = """
def batches():
  for i in range(4):
    yield {'x': jnp.sin(i + jnp.arange(20.0)).reshape(4, 5), 'y': jnp.array([0, 1, 2, i % 3])}
"""

SCRIPT = (
    DATA
    + """
model = MLP(8)
params = model.init(jax.random.key(0), jnp.ones([1, 5]))['params']
tx = optax.adam(0.1)
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)

@jax.jit
def train_step(state, batch):
  # The loss of one batch.
  def loss_fn(params):
    logits = state.apply_fn({'params': params}, batch['x'])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, batch['y']).mean()
    return loss, logits
  grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
  (loss, logits), grads = grad_fn(state.params)
  state = state.apply_gradients(grads=grads)
  return state, loss  # and no more

@jax.jit
def eval_step(state, batch):
  return state.apply_fn({'params': state.params}, batch['x']).argmax(-1)

losses = []
for batch in batches():
  state, loss = train_step(state, batch)
  losses.append(float(loss))
answer = eval_step(state, batch)
steps = int(state.step)
"""
)

FUNCTIONS = (
    DATA
    + """
def create_train_state(rng, learning_rate):
  mlp = MLP(features=8)
  variables = mlp.init(rng, jnp.ones([1, 5]))
  params = variables['params']
  tx = optax.sgd(learning_rate, 0.9)
  return train_state.TrainState.create(apply_fn=mlp.apply, params=params, tx=tx)

@jax.jit
def apply_model(state, images, labels):
  def loss_fn(params):
    logits = state.apply_fn({'params': params}, images)
    l2 = sum(jnp.sum(p ** 2) for p in jax.tree_util.tree_leaves(params))
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean() + 0.01 * l2, logits
  (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
  return grads, loss, jnp.mean(jnp.argmax(logits, -1) == labels)

@jax.jit
def update_model(state, grads):
  return state.apply_gradients(grads=grads)

def train_epoch(state, losses):
  for batch in batches():
    grads, loss, accuracy = apply_model(state, batch['x'], batch['y'])
    state = update_model(state, grads)
    losses.append(float(loss))
  return state, losses

def train_and_evaluate() -> train_state.TrainState:
  state = create_train_state(jax.random.key(0), 0.1)
  losses = []
  for epoch in range(2):
    state, losses = train_epoch(state, losses)
    _, test_loss, _ = apply_model(state, jnp.ones((2, 5)), jnp.array([0, 1]))
  return state, losses, test_loss

state, losses, test_loss = train_and_evaluate()
"""
)

NORMED = (
    DATA
    + """
class TrainState(train_state.TrainState):
  batch_stats: Any

def create(key):
  model = Normed(8)
  variables = model.init({'params': key, 'dropout': jax.random.key(1)}, jnp.ones((1, 5)), train=False)
  params, batch_stats = variables['params'], variables['batch_stats']
  return TrainState.create(apply_fn=model.apply, params=params, batch_stats=batch_stats, tx=optax.adam(0.1))

@functools.partial(jax.jit, static_argnums=(2,), donate_argnums=0)
def train_step(state: TrainState, batch, train, key):
  key = jax.random.fold_in(key, state.step)
  def loss_fn(params):
    logits, updates = state.apply_fn(
        {'params': params, 'batch_stats': state.batch_stats}, batch['x'], train=train,
        mutable=['batch_stats'], rngs={'dropout': key})
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, batch['y']).mean()
    return loss, (logits, updates)
  (loss, (logits, updates)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
  new_state = state.apply_gradients(grads=grads, batch_stats=updates['batch_stats'])
  return new_state, loss, logits.mean()

@jax.jit
def predict(state, x):
  variables = {'params': state.params, 'batch_stats': state.batch_stats}
  return state.apply_fn(variables, x, train=False, mutable=False)

state = create(jax.random.key(0))
losses = []
for batch in batches():
  state, loss, _ = train_step(state, batch, True, jax.random.key(3))
  losses.append(float(loss))
answer = predict(state, batch['x'])
"""
)


def compare(done, *names: str) -> None:
    before, after = done.both()
    for name in names:
        for a, b in zip(jax.tree.leaves(before[name]), jax.tree.leaves(after[name]), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6, err_msg=name)
    assert len(set(before["losses"])) > 1


def test_a_script(kit) -> None:
    done = kit.migrate(SCRIPT, kit.MLP)
    assert done.codes == ["NNX601"] and not done.created
    assert "model = MLP(8, in_features=5, rngs=nnx.Rngs(jax.random.key(0)))" in done.after
    assert "optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)" in done.after
    assert "@nnx.jit\ndef train_step(model, optimizer, batch):" in done.after
    assert "@nnx.jit\ndef eval_step(model, batch):\n  return model(batch['x']).argmax(-1)" in done.after
    assert "return loss  # and no more" in done.after
    assert "  loss = train_step(model, optimizer, batch)" in done.after
    compare(done, "losses", "answer", "steps")


def test_functions_that_make_and_pass_the_state(kit) -> None:
    done = kit.migrate(FUNCTIONS, kit.MLP)
    assert done.codes == ["NNX601"] and not done.created
    assert "return mlp, nnx.Optimizer(mlp, tx, wrt=nnx.Param)" in done.after
    assert "update_model(model, optimizer, grads)" in done.after
    assert "jax.tree_util.tree_leaves(nnx.state(model, nnx.Param))" in done.after
    compare(done, "losses", "test_loss")


def test_batch_statistics_and_dropout(kit) -> None:
    done = kit.migrate(NORMED, kit.NORMED)
    assert done.codes == ["NNX601"] and not done.created
    assert "nnx.reseed(model, dropout=key)" in done.after
    assert "static_argnums=(3,), donate_argnums=(0, 1)" in done.after
    compare(done, "losses", "answer")


CHANGES = {
    "an old state is kept in a list": ("losses = []", "losses = []\nbest = [state]"),
    "old params are kept": ("losses = []", "losses = []\nold = state.params"),
    "an old state is used later": ("  state, loss = train_step", "  old, (state, loss) = state, train_step"),
    "pmap": ("@jax.jit\ndef train_step", "@functools.partial(jax.pmap, axis_name='b')\ndef train_step"),
    "vmap over params": ("losses = []", "losses = []\nmany = jax.vmap(eval_step, (None, 0))"),
    "another init": ("losses = []", "losses = []\nother = model.init(jax.random.key(1), jnp.ones([1, 5]))"),
    "an f-string of f-strings": ("losses = []", "losses = []\nprint(f\"{f'{state.step}'}\")"),
    "names that are taken": ("losses = []", "losses = []\noptimizer = opt = nnx_optimizer = state_optimizer = None"),
}


def test_a_step_that_is_replaced(kit) -> None:
    done = kit.migrate(SCRIPT.replace("losses = []", "losses = []\nstate = state.replace(step=3)"), kit.MLP)
    assert done.codes == ["NNX601"]
    before, after = done.both()
    assert before["steps"] == after["steps"] == 7
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4)


@pytest.mark.parametrize("name", CHANGES)
def test_anything_else_takes_the_other_form(kit, name: str) -> None:
    done = kit.migrate(SCRIPT.replace(*CHANGES[name]), kit.MLP)
    assert done.codes == ["NNX602"] + ["NNX608"] * (name == "pmap")
    assert "@nnx.jit" not in done.after and "apply_gradients" in done.after
    if name != "pmap":
        compare(done, "losses")


MASKS = {
    "names in a callable mask": "lambda p: jax.tree_util.tree_map_with_path(lambda path, v: path[-1].key == 'kernel', p)",
    "a function that flattens": "decay",
    "a function that calls one that flattens": "lambda p: decay(p)",
    "keys of the dictionary": "lambda p: {k: k == 'Dense_0' for k in p}",
    "a tree": "{'Dense_0': True, 'Dense_1': False}",
}
DECAY = """
def decay(params):
  flat = flax.traverse_util.flatten_dict(params)
  return flax.traverse_util.unflatten_dict({k: k[-1] == 'kernel' for k in flat})
"""


@pytest.mark.parametrize("name", MASKS)
def test_masks_by_name(kit, name: str) -> None:
    program = DECAY + SCRIPT.replace("tx = optax.adam(0.1)", f"tx = optax.adamw(0.1, weight_decay=0.5, mask={MASKS[name]})")
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX601"]
    assert "by_linen_names(model, " in done.after
    compare(done, "losses")


HIDDEN = """
def but(word):
  def mask(params):
    said = jax.tree_util.keystr
    return jax.tree_util.tree_map_with_path(lambda path, _: not said(path).endswith(f"['{word}']"), params)
  return mask
OPTIONS = dict(weight_decay=0.5, mask=but('bias'))
"""
MASKED = {
    "by position": "optax.chain(optax.add_decayed_weights(0.5, but('bias')), optax.adam(0.1))",
    "by position, far back": "optax.adamw(0.1, 0.9, 0.999, 1e-8, 0.0, None, 0.5, but('bias'))",
    "hyperparameters in the state": "optax.inject_hyperparams(optax.adamw)(0.1, weight_decay=0.5, mask=but('bias'))",
    "a partial": "functools.partial(optax.adamw, weight_decay=0.5, mask=but('bias'))(0.1)",
    "a name at run time": "getattr(optax, 'adamw')(0.1, weight_decay=0.5, mask=but('bias'))",
    "options that are not seen": "optax.adamw(0.1, **OPTIONS)",
}


@pytest.mark.parametrize("name", MASKED)
def test_masks_by_name_given_in_other_ways(kit, name: str) -> None:
    done = kit.migrate("import functools\n" + HIDDEN + SCRIPT.replace("optax.adam(0.1)", MASKED[name]), kit.MLP)
    assert done.codes == ["NNX601"]
    assert "by_linen_names(model, " in done.after
    compare(done, "losses")


def test_masks_by_shape_do_not(kit) -> None:
    mask = "lambda p: jax.tree_util.tree_map(lambda v: v.ndim > 1, p)"
    done = kit.migrate(SCRIPT.replace("optax.adam(0.1)", f"optax.adamw(0.1, weight_decay=0.5, mask={mask})"), kit.MLP)
    assert done.codes == ["NNX601"]
    compare(done, "losses")


def test_the_functional_form_on_demand(kit) -> None:
    done = kit.migrate(SCRIPT, kit.MLP, options=kit.Options(jit="functional"))
    assert done.codes == ["NNX602"] and not done.created
    compare(done, "losses", "answer", "steps")


INLINE = """
x = jnp.ones((2, 5))
params = MLP(4).init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=MLP(4).apply, params=params, tx=optax.sgd(0.1))
@jax.jit
def step(state, x):
  def loss(params):
    return MLP(4).apply({'params': params}, x).sum()
  l, grads = jax.value_and_grad(loss)(state.params)
  return state.apply_gradients(grads=grads), l
losses = []
for _ in range(3):
  state, l = step(state, x)
  losses.append(float(l))
"""


def test_a_model_that_is_constructed_at_every_use(kit) -> None:
    done = kit.migrate(INLINE, kit.MLP)
    assert done.codes == ["NNX601"]
    assert "    return model(x).sum()" in done.after
    compare(done, "losses")


def test_a_number_under_a_name_that_is_given_once(kit) -> None:
    done = kit.migrate("n = 4\n" + INLINE.replace("return MLP(4).apply", "return MLP(n).apply"), kit.MLP)
    assert done.codes == ["NNX601"]
    compare(done, "losses")


@pytest.mark.parametrize(
    "old, new",
    [
        ("return MLP(4).apply", "return MLP(n).apply"),  # another model, for all that the text tells
        ("losses = []", "losses = []\ny = MLP(4).apply({'params': jax.tree.map(jnp.zeros_like, state.params)}, x)"),
        ("state = train_state", "restore = dict().get\nstate = train_state"),
    ],
)
def test_models_that_may_differ_stay_functional(kit, old: str, new: str) -> None:
    program = "n = 4\nfor n in (4,):\n  pass\n" + INLINE.replace(old, new)
    if "restore" in new:
        program = program.replace("losses = []", "state = restore('state', state)\nlosses = []")
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX603"]
    if "restore" not in new:
        compare(done, "losses")


def test_streams_that_init_was_not_given(kit) -> None:
    program = NORMED.replace("{'params': key, 'dropout': jax.random.key(1)}", "{'params': key}")
    program = program.replace("mutable=['batch_stats'], rngs={'dropout': key})", "mutable=['batch_stats'])")
    done = kit.migrate(program.replace("batch['x'], train=train", "batch['x'], train"), kit.NORMED)
    assert done.codes == ["NNX601"] and "nnx.Rngs(params=key, dropout=0)" in done.after
    after = done.run(done.after)
    assert len(set(after["losses"])) > 1


@pytest.mark.parametrize(
    ("read", "signed"),
    [
        ("jax.random.fold_in(jax.random.key(0), state.step)", False),
        ("state.step % 10 == 0", False),
        ("(state.step + 1) % 10 == 0", False),
        ("state.step * 0.5 - 9.0", False),
        ("count == 3", False),
        ("count - 3", True),
        ("state.step - 9", True),
        ("-state.step", True),
        ("state.step % 10 - 9", True),
        ("7 % state.step", True),
        ("state.step * -1", True),
        ("state.step < limit", True),
        ("optax.linear_schedule(1.0, 0.0, 4, 2)(state.step)", True),
        ("jnp.subtract(state.step, 9)", True),
        ("[state.step]", True),
    ],
)
def test_a_step_that_may_be_negative_has_a_sign(kit, read: str, signed: bool) -> None:
    step = f"  limit = -1\n  count = state.step\n  looked = {read}\n  def loss_fn(params):"
    done = kit.migrate(SCRIPT.replace("  def loss_fn(params):", step), kit.MLP)
    assert done.codes == ["NNX601"]
    assert (".step[...].astype(int)" in done.after) is signed
    compare(done, "losses", "steps")


LAID_OUT = """
class TrainState(train_state.TrainState):
  target_params: flax.core.FrozenDict
  counts: jnp.ndarray
model = MLP(4)
key = jax.random.key(0)
x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
params = model.init(key, jnp.ones([1, 5]))['params']
state = TrainState.create(
    apply_fn=model.apply, params=params, tx=optax.adam(0.1), target_params=params, counts=jnp.zeros((2,)))
@jax.jit
def update(state, x, scale):
  target = model.apply({'params': state.target_params}, x)
  def loss_fn(params):
    return jnp.mean((model.apply({'params': params}, x) * scale - target - 1) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  state = state.apply_gradients(grads=grads)
  state = state.replace(counts=state.counts + 1)
  return state, loss
losses = []
for _ in range(10):
  state, loss = update(
    state,
    x,
    2.0,
  )
  losses.append(float(loss))
"""


def test_arguments_and_fields_stand_on_lines_of_their_own(kit) -> None:
    done = kit.migrate(LAID_OUT, kit.MLP)
    assert done.codes == ["NNX601"], done.after
    assert "  loss = update(\n    model,\n    optimizer,\n    x,\n    2.0,\n  )\n" in done.after
    assert "      *,\n      target_params: flax.core.FrozenDict,\n      counts: jnp.ndarray,\n  ):\n" in done.after
    before, after = done.both()
    assert len(set(before["losses"])) == 10
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


def test_the_whole_shape_of_an_input_of_ones(kit) -> None:
    whole = dataclasses.replace(
        kit.MLP,
        sizes={"in_shape": "x.shape"},
        nnx=kit.MLP.nnx.replace("in_features: int", "in_shape").replace("in_features", "in_shape[-1]"),
    )
    done = kit.migrate(SCRIPT, whole)
    assert done.codes == ["NNX601"] and "in_shape=(1, 5)" in done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


def test_a_model_under_two_names_keeps_the_one_that_is_left(kit) -> None:
    program = """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
@functools.partial(jax.jit, static_argnums=1)
def step(state, model, x):
  loss, grads = jax.value_and_grad(lambda p: jnp.mean((model.apply({'params': p}, x) - y) ** 2))(state.params)
  return state.apply_gradients(grads=grads), loss
def main():
  net = MLP(8)
  model = net
  params = model.init(jax.random.key(0), x)['params']
  state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
  found = []
  for i in range(3):
    state, loss = step(state, net, x)
    found.append(float(loss))
  return found
losses = main()
"""
    done = kit.migrate(program, kit.MLP)
    assert done.codes == ["NNX601"]
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4)
