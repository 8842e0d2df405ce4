"""Functions that keep a state beyond an update, and those that jax traces around a model which changes in them."""

from __future__ import annotations

import dataclasses
import types

import numpy as np
import pytest

START = """
x, y = jnp.sin(jnp.arange(20.0)).reshape(4, 5), jnp.ones((4, 3))
@jax.jit
def step(state, x):
  def loss_fn(params):
    return jnp.mean((state.apply_fn({'params': params}, x) - y) ** 2)
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), loss
def create():
  model = MLP(8)
  params = model.init(jax.random.key(0), x)['params']
  return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
"""
BODY = """
def main():
  state = create()
  predict = make_predict(state)
  found = []
  for i in range(3):
    state, loss = step(state, x)
    found.append(float(loss))
  return [*found, float(predict(x).mean())]
out = main()
"""
# Name → program. In each a function has an old state, where the idiom would show it the new one.
KEPT = {
    "a function is returned": START
    + "def make_predict(state):\n  def predict(x):\n    return state.apply_fn({'params': state.params}, x)\n"
    + "  return predict\n"
    + BODY,
    "a jitted lambda is returned": START
    + "def make_predict(state):\n  return jax.jit(lambda x: state.apply_fn({'params': state.params}, x))\n"
    + BODY,
    "a lambda in a dictionary is returned": START
    + "def make_predict(state):\n  return {'it': lambda x: state.apply_fn({'params': state.params}, x)}\n"
    + BODY.replace("predict(x)", "predict['it'](x)"),
    "a lambda is put into a list": START
    + "kept = []\ndef make_predict(state):\n  kept.append(lambda x: state.apply_fn({'params': state.params}, x))\n"
    + BODY.replace("predict = make", "make").replace("predict(x)", "kept[0](x)"),
    "a lambda is given to an object": START
    + "class Predictor:\n  def __init__(self, call):\n    self.call = call\n"
    + "def make_predict(state):\n  return Predictor(lambda x: state.apply_fn({'params': state.params}, x))\n"
    + BODY.replace("predict(x)", "predict.call(x)"),
    "what makes the state returns a function of it, too": START
    + "def build():\n  state = create()\n  def predict(x):\n    return state.apply_fn({'params': state.params}, x)\n"
    + "  return state, predict\n"
    + BODY.replace("state = create()", "state, predict = build()").replace("  predict = make_predict(state)\n", ""),
    "a generator goes on after updates": START
    + "def predictions(state):\n  for i in range(4):\n    yield state.apply_fn({'params': state.params}, x).mean()\n"
    + BODY.replace("make_predict", "predictions").replace("predict(x).mean()", "next(predict)"),
}
TAKEN = {
    "a function is made where it is called": START
    + "def make_predict(state):\n  return lambda x: state.apply_fn({'params': state.params}, x)\n"
    + BODY.replace("  predict = make_predict(state)\n", "").replace("predict(x)", "make_predict(state)(x)"),
    "a function is made after each update": START
    + "def make_predict(state):\n  return jax.jit(lambda x: state.apply_fn({'params': state.params}, x))\n"
    + BODY.replace("  predict = make_predict(state)\n", "")
    .replace("    found", "    predict = make_predict(state)\n    found.append(float(predict(x).mean()))\n    found")
    .replace("float(predict(x).mean())]", "float(loss)]"),
    "what trains a state returns a function of it": START
    + "def fit(n):\n  state = create()\n  for i in range(n):\n    state, loss = step(state, x)\n"
    + "  return lambda x: state.apply_fn({'params': state.params}, x)\n"
    + "first, second = fit(1), fit(3)\nout = [float(first(x).mean()), float(second(x).mean()), float(first(x).sum())]",
    "a generator is used up": START
    + "def predictions(state):\n  for i in range(2):\n    yield state.apply_fn({'params': state.params}, x).mean()\n"
    + BODY.replace("  predict = make_predict(state)\n", "")
    .replace("    found", "    found += [float(p) for p in predictions(state)]\n    found")
    .replace("predict(x).mean()", "sum(predictions(state))"),
    "lambdas of a function's own are called later": START
    + "def make_predict(state):\n  return None\n"
    + BODY.replace("make_predict(state)", "map(lambda x: state.apply_fn({'params': state.params}, x), [x])").replace(
        "predict(x)", "next(predict)"
    ),
}
DRAW = "    drawn = state.apply_fn({'params': state.params}, x, rngs={'dropout': key})\n    return drawn\n"
DRAWN = """
x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
keys = jax.random.split(jax.random.key(1), 3)
model = Dropped()
params = model.init(jax.random.key(0), x, train=False)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
@jax.jit
def sample(state, x):
  def one(key):
    drawn = state.apply_fn({'params': state.params}, x, rngs={'dropout': key})
    return drawn
  return jax.vmap(one)(keys)
out = [float(jnp.all(sample(state, x) == sample(state, x))), len(set(sample(state, x)[:, 0, 0].tolist()))]
"""
# Programs whose model draws in a function that jax traces, which the idiom cannot: it is of the trace around.
TRACED = {
    "mapped over keys": DRAWN,
    "in a scan": DRAWN.replace("jax.vmap(one)(keys)", "jax.lax.scan(lambda c, key: (c, one(key)), 0, keys)[1]"),
    "in a loop": DRAWN.replace(
        "jax.vmap(one)(keys)", "jax.lax.fori_loop(0, 3, lambda i, s: s.at[i].set(one(keys[i])), jnp.zeros((3, 4, 3)))"
    ),
    "through a partial": DRAWN.replace("one(key)", "one(scale, key)")
    .replace("return drawn", "return drawn * scale")
    .replace("vmap(one)", "vmap(functools.partial(one, 2.0))"),
    "through a function of the file": DRAWN.replace(DRAW, "    return draw(state, key)\n").replace(
        "@jax.jit\n", f"def draw(state, key):\n{DRAW}@jax.jit\n"
    ),
    "by its input": DRAWN.replace("def one(key):", "def one(x, key):")
    .replace("return drawn", "return drawn.sum()")
    .replace("jax.vmap(one)(keys)", "jnp.stack([jax.grad(one)(x, keys[i]) for i in range(3)])"),
    "jitted around the state": DRAWN.replace("sample(state, x)", "sample(x)"),
}


@pytest.fixture
def dropped(kit: types.SimpleNamespace):
    """Params alone, and a stream."""
    model = dataclasses.replace(kit.NORMED, name="Dropped", fields=("rate",), collections=frozenset({"params"}))
    model.linen = """
class Dropped(nn.Module):
  rate: float = 0.5
  @nn.compact
  def __call__(self, x, train: bool = True):
    x = nn.Dropout(self.rate, deterministic=not train)(nn.Dense(6, kernel_init=ramp)(x))
    return nn.Dense(3, kernel_init=ramp)(x)
"""
    model.nnx = """
class Dropped(nnx.Module):
  def __init__(self, rate: float = 0.5, *, in_features: int, rngs: nnx.Rngs):
    self.Dense_0 = nnx.Linear(in_features, 6, kernel_init=ramp, rngs=rngs)
    self.Dropout_0 = nnx.Dropout(rate, rngs=rngs)
    self.Dense_1 = nnx.Linear(6, 3, kernel_init=ramp, rngs=rngs)
  def __call__(self, x, train: bool = True):
    x = self.Dropout_0(self.Dense_0(x), deterministic=not train)
    return self.Dense_1(x)
"""
    return model


@pytest.mark.parametrize("name", [*KEPT, *TAKEN])
def test_a_function_sees_the_state_that_it_was_made_for(kit, name: str) -> None:
    done = kit.migrate({**KEPT, **TAKEN}[name], kit.MLP)
    assert done.codes in ([["NNX602"], ["NNX603"]] if name in KEPT else [["NNX601"]])
    before, after = done.both()
    np.testing.assert_allclose(after["out"], before["out"], rtol=1e-4)


@pytest.mark.parametrize("name", TRACED)
def test_a_model_does_not_draw_in_a_trace_that_is_not_its_own(kit, dropped, name: str) -> None:
    done = kit.migrate(TRACED[name], dropped)
    assert done.codes in (["NNX602"], ["NNX603"])
    before, after = done.both()
    assert after["out"] == before["out"] == [1.0, 3]


def test_a_model_that_is_given_to_what_is_traced_takes_the_idiom(kit, dropped) -> None:
    text = DRAWN.replace("jax.vmap(one)(keys)", "jnp.stack([one(keys[i]) for i in range(3)])")
    done = kit.migrate(text, dropped)
    assert done.codes == ["NNX601"]
    before, after = done.both()
    assert after["out"] == before["out"]
