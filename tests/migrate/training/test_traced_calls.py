"""Jitted functions that are called where jax traces, with a state from around it: `nnx.jit` cannot write that back there."""

from __future__ import annotations

import numpy as np
import pytest

START = """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
def create():
  model = MLP(8)
  params = model.init(jax.random.key(0), x)['params']
  return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
@jax.jit
def step(state, x):
  def loss_fn(params):
    return jnp.mean((state.apply_fn({'params': params}, x) - y) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), loss
"""
SCORE = """
@jax.jit
def score(state, x, power=2):
  return jnp.mean(jnp.abs(state.apply_fn({'params': state.params}, x) - y) ** power)
"""
OF_PARAMS = """
@jax.jit
def score(params, x):
  return jnp.mean(jnp.abs(model.apply({'params': params}, x) - y))
"""
TRAIN = """
def train():
  state = create()
  losses = []
  for i in range(3):
    state, loss = step(state, x)
    losses.append(float(loss))
  return [*losses, *np.asarray(RESULT).ravel().tolist()]
losses = train()
"""
ONE_MODEL = START.replace("def create():\n  model = MLP(8)\n", "model = MLP(8)\ndef create():\n")


def closed_over(result: str, score: str = SCORE, start: str = START) -> str:
    return start + score + TRAIN.replace("RESULT", result)


STATIC = SCORE.replace("@jax.jit", "@functools.partial(jax.jit, static_argnames='power')")
RENAMED = SCORE.replace("@jax.jit\n", "").replace("score", "_score") + "score = jax.jit(_score)\n"
BOUND = SCORE.replace("@jax.jit\n", "").replace("score", "_score") + "score = jax.jit(functools.partial(_score, power=3))\n"
PAIR = "jnp.stack([x, -x])"
BY_A_FUNCTION = "def each(state, xs):\n  return jax.vmap(lambda a: score(state, a))(xs)\n"
# Name → program: the idiom would fail in each of them.
KEPT = {
    "mapped": closed_over(f"jax.vmap(lambda a: score(state, a))({PAIR})"),
    "mapped by keyword": closed_over(f"jax.vmap(lambda a: score(x=a, state=state))({PAIR})"),
    "mapped with a static argument": closed_over(f"jax.vmap(lambda a: score(state, a, power=3))({PAIR})", STATIC),
    "mapped under another name": closed_over(f"jax.vmap(lambda a: score(state, a))({PAIR})", RENAMED),
    "mapped of a partial": closed_over(f"jax.vmap(lambda a: score(state, a))({PAIR})", BOUND),
    "mapped of params": closed_over(f"jax.vmap(lambda a: score(state.params, a))({PAIR})", OF_PARAMS, ONE_MODEL),
    "derived by the input": closed_over("jax.grad(lambda a: score(state, a))(x)"),
    "in a loop": closed_over("jax.lax.fori_loop(0, 2, lambda i, total: total + score(state, i * x), 0.0)"),
    "in a scan": closed_over(f"jax.lax.scan(lambda n, a: (n + 1, score(state, a)), 0, {PAIR})[1]"),
    "jitted again": closed_over("jax.jit(lambda a: score(state, a))(x)"),
    "for its shape": closed_over("jax.eval_shape(lambda a: score(state, a), x).shape + (1,)"),
    "in a function of the state": closed_over(f"each(state, {PAIR})", SCORE + BY_A_FUNCTION),
    "in a jitted function of the state": closed_over(f"each(state, {PAIR})", SCORE + "@jax.jit\n" + BY_A_FUNCTION),
    "by a function that calls it": closed_over(
        f"jax.vmap(lambda a: twice(state, a))({PAIR})", SCORE + "def twice(state, x):\n  return 2 * score(state, x)\n"
    ),
}
# Nothing is written back here, or into what the trace itself was given.
TAKEN = {
    "not jitted": closed_over(f"jax.vmap(lambda a: score(state, a))({PAIR})", SCORE.replace("@jax.jit\n", "")),
    "over a tree": closed_over("list(jax.tree.map(lambda a: score(state, a), {'a': x, 'b': -x}).values())"),
    "in a list": closed_over("[score(state, a) for a in (x, -x)]"),
    "in a jitted function that is given the state": closed_over(
        "twice(state, x)", SCORE + "@jax.jit\ndef twice(state, x):\n  return 2 * score(state, x)\n"
    ),
    "apply that is jitted, where it is traced": closed_over(
        f"jax.vmap(lambda a: predict({{'params': state.params}}, a))({PAIR})", "predict = jax.jit(model.apply)\n", ONE_MODEL
    ),
    "apply that is jitted, on both sides of a trace": closed_over(
        f"jax.vmap(lambda a: predict(variables, a))({PAIR}) + predict(variables, x)".replace(
            "variables", "{'params': state.params}"
        ),
        "predict = jax.jit(model.apply)\n",
        ONE_MODEL,
    ),
}


@pytest.mark.parametrize("name", [*KEPT, *TAKEN])
def test_jitted_functions_under_a_trace(kit, name: str) -> None:
    done = kit.migrate({**KEPT, **TAKEN}[name], kit.MLP)
    assert done.codes in ([["NNX602"], ["NNX603"]] if name in KEPT else [["NNX601"]])
    before, after = done.both()
    assert len(set(before["losses"])) > 3
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-4)
