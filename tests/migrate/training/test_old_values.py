"""In the idiom all names of a state are one object: programs that look at old values keep another form."""

from __future__ import annotations

import numpy as np
import pytest

START = """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
model = MLP(8)
params = model.init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
"""
STEP = """
@jax.jit
def step(state, x):
  def loss_fn(params):
    return jnp.mean((state.apply_fn({'params': params}, x) - y) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), loss
"""
LOOP = """
losses = []
for i in range(4):
  state, loss = step(state, x)
  losses.append(float(loss))
"""
WHOLE = START + STEP + LOOP
# Name → program. The idiom would run each of them without an error, and give other losses.
KEPT = {
    "the params of init are read at the end": WHOLE + "losses.append(float(jnp.mean(model.apply({'params': params}, x))))",
    "the variables of init are read at the end": WHOLE.replace(
        "params = model.init(jax.random.key(0), x)['params']", "variables = model.init(jax.random.key(0), x)"
    ).replace("params=params", "params=variables['params']")
    + "losses.append(float(jnp.mean(model.apply(variables, x))))",
    "the params of init are read by a function": WHOLE.replace(
        "losses = []", "def first():\n  return float(jnp.mean(model.apply({'params': params}, x)))\nlosses = []"
    )
    + "losses.append(first())",
    "the old state is read beside the update": WHOLE.replace("(grads=grads), loss", "(grads=grads), loss_fn(state.params)"),
    "a function reads the old state": WHOLE.replace(
        "  return state.apply_gradients(grads=grads), loss",
        "  def old():\n    return loss_fn(state.params)\n  new_state = state.apply_gradients(grads=grads)\n"
        "  return new_state, old()",
    ),
    "params are given beside the state": WHOLE.replace("def step(state, x)", "def step(state, before, x)")
    .replace(
        "  return state.apply_gradients(grads=grads), loss",
        "  state = state.apply_gradients(grads=grads)\n  return state, loss_fn(before)",
    )
    .replace("step(state, x)", "step(state, state.params, x)"),
    "the new state is thrown away": WHOLE.replace("state, loss = step", "_, loss = step"),
    "a first step is thrown away": WHOLE.replace("losses = []", "losses = []\nstep(state, x)"),
    "a function trains a state that is used again": START
    + STEP
    + """
def train(state):
  found = []
  for i in range(3):
    state, loss = step(state, x)
    found.append(float(loss))
  return found
losses = train(state) + train(state)[:1]
""",
    "two states of the same params": START
    + "other = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))\n"
    + STEP
    + LOOP.replace("  losses", "  other, loss = step(other, x)\n  losses"),
    "a new state in every turn of a loop": START.replace("state = ", "def new():\n  return ").replace(
        "\nmodel", "\nlosses = []\nmodel"
    )
    + STEP
    + "for turn in range(2):\n"
    + "  state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))\n"
    + "  for i in range(2):\n    state, loss = step(state, x)\n    losses.append(float(loss))\n",
    "gradients of what a jitted function closes over": START.replace("\nmodel", "\ndef train():\n  model")
    .replace("\nparams", "\n  params")
    .replace("\nstate", "\n  state")
    + """
  @jax.jit
  def gradients(x):
    return jax.value_and_grad(lambda params: jnp.mean((model.apply({'params': params}, x) - y) ** 2))(state.params)
  found = []
  for i in range(3):
    loss, grads = gradients(x)
    state = state.apply_gradients(grads=grads)
    found.append(float(loss))
  return found
losses = train()
""",
    "another class's method of that name": WHOLE.replace(
        "MLP(8)\n", "MLP(8)\nclass Other:\n  @staticmethod\n  def __call__(module, x):\n    return 2 * module(x)\n"
    ).replace("{'params': params}, x)", "{'params': params}, x, method=Other.__call__)"),
    "params as a keyword of something else": WHOLE.replace(
        "losses = []",
        "def size(**trees):\n  return float(sum(jnp.sum(v) for v in jax.tree.leaves(trees)))\n"
        "losses = [size(params=params)]",
    ),
    "a state that an inner function assigns": WHOLE.replace(LOOP, "")
    + """
def train(state):
  def turn():
    nonlocal state
    state, loss = step(state, x)
    return float(loss)
  return [turn() for _ in range(3)]
losses = train(state) + train(state)
""",
    "a random key for each leaf": WHOLE.replace(
        "  return state",
        "  leaves, made = jax.tree.flatten(grads)\n  keys = jax.random.split(jax.random.key(1), len(leaves))\n"
        "  grads = made.unflatten([g + jax.random.normal(k, g.shape) for g, k in zip(leaves, keys)])\n  return state",
    ),
    "an optimizer that draws noise": WHOLE.replace("optax.adam(0.1)", "optax.noisy_sgd(0.1, key=jax.random.key(1))"),
}
TAKEN = {
    "leaves by position": WHOLE + "losses.append(float(jnp.sum(jax.tree.leaves(state.params)[1])))",
    "a new name for the new state": WHOLE.replace(
        "  return state.apply_gradients(grads=grads), loss",
        "  new_state = state.apply_gradients(grads=grads)\n  return new_state, loss_fn(new_state.params)",
    ),
    "params are read before the first step": WHOLE.replace(
        "losses = []", "losses = [float(jnp.mean(model.apply({'params': params}, x)))]"
    ),
    "a state in both branches": WHOLE.replace("state = train_state", "if len(x) > 100:\n  state = train_state").replace(
        "tx=optax.adam(0.1))\n",
        "tx=optax.adam(0.1))\nelse:\n"
        "  state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))\n",
    ),
    "donation by name": WHOLE.replace("@jax.jit", "@functools.partial(jax.jit, donate_argnames='state')"),
    "an early return": WHOLE.replace("@jax.jit\n", "").replace(
        "  return state.app", "  if x.sum() > 1e9:\n    return state, loss\n  return state.app"
    ),
    "two states of their own": """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
def create(rate):
  model = MLP(8)
  params = model.init(jax.random.key(0), x)['params']
  return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(rate))
state, other = create(0.1), create(0.2)
""".replace("state, other = create(0.1), create(0.2)", "state = create(0.1)\nother = create(0.2)")
    + STEP
    + LOOP.replace("  losses", "  other, loss = step(other, x)\n  losses"),
    "leaves that are summed": WHOLE.replace(
        "{'params': params}, x) - y) ** 2)",
        "{'params': params}, x) - y) ** 2) + sum(jnp.sum(v ** 2) for v in jax.tree.leaves(params) if v.ndim > 1)",
    ),
}


@pytest.mark.parametrize("name", [*KEPT, *TAKEN])
def test_the_losses_stay(kit, name: str) -> None:
    done = kit.migrate({**KEPT, **TAKEN}[name], kit.MLP)
    assert done.codes in ([["NNX602"], ["NNX603"]] if name in KEPT else [["NNX601"]])
    before, after = done.both()
    assert len(set(before["losses"])) > 1 or "thrown" in name or "jitted" in name
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4)
