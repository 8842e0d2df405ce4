"""Models applied in other functions than initialize them: where their structure is seen, and where it cannot be."""

from __future__ import annotations

import numpy as np
import pytest

FILE = """
model = MLP(4)
tx = optax.sgd(0.1)
x = jnp.ones((2, 5))

@jax.jit
def update(params, opt_state):
  loss, grads = jax.value_and_grad(lambda p: jnp.mean((model.apply(p, x) - 1.0) ** 2))(params)
  updates, opt_state = tx.update(grads, opt_state, params)
  return optax.apply_updates(params, updates), opt_state, loss

def value_of(params):
  return model.apply(params, x).sum()

def main(key):
  '''Trains.'''
  params = model.init(key, x)
  first = params
  opt_state = tx.init(params)
  losses = []
  for _ in range(3):
    params, opt_state, loss = update(params, opt_state)
    losses += [float(loss), float(value_of(first))]
  return losses

losses = main(jax.random.key(0))
"""
OBJECT = """
x = jnp.ones((2, 5))

class Trainer:
  def __init__(self, width, rate=0.1):
    self.rate = rate
    self.model = MLP(width)
    self.make_steps()
    self.start(jax.random.key(0))

  def make_steps(self):
    def loss_of(params, batch):
      return jnp.mean((self.model.apply(params, batch) - 1.0) ** 2)
    def step(state, batch):
      loss, grads = jax.value_and_grad(loss_of)(state.params, batch)
      return state.apply_gradients(grads=grads), loss
    self.step = jax.jit(step)

  def start(self, key):
    params = self.model.init(key, x)
    self.first = params
    self.state = train_state.TrainState.create(apply_fn=self.model.apply, params=params, tx=optax.sgd(self.rate))

  def fit(self, steps):
    said = []
    for _ in range(steps):
      self.state, loss = self.step(self.state, x)
      said += [float(loss), float(self.model.apply(self.first, x).sum())]
    return said

losses = Trainer(4).fit(3) + Trainer(8, rate=0.05).fit(2)
"""


def test_a_model_of_the_file(kit) -> None:
    done = kit.migrate(FILE, kit.MLP)
    assert done.codes == ["NNX602"]
    assert "  '''Trains.'''\n  global graphdef\n  graphdef, params = nnx.split(model(" in done.after
    assert "nnx.merge(graphdef, p)(x)" in done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


def test_a_model_of_every_object(kit) -> None:
    done = kit.migrate(OBJECT, kit.MLP)
    assert done.codes == ["NNX602"]
    assert "self.graphdef, params = nnx.split(self.model(" in done.after
    assert "nnx.merge(self.graphdef, params)(batch)" in done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


@pytest.mark.parametrize(
    "program, old, new, code",
    [
        (FILE, "tx = optax", "graphdef = 1\ntx = optax", "NNX602"),
        (
            FILE,
            "\nlosses = main(jax.random.key(0))",
            "\nlosses = main(jax.random.key(0)) + main(jax.random.key(1))",
            "NNX602",
        ),
        (
            FILE,
            "model.init(key, x)",
            "jax.jit(model.init)(key, x)",
            "NNX602",
        ),
        # An unlike model each time, or one that is given another object.
        (FILE, "\ndef main(", "\nif len(x) == 2:\n  model = MLP(3)\n\ndef main(", "NNX603"),
        (
            FILE.replace("init(key, x)", "init(key, x)").replace("main(key)", "main(key, x)"),
            "(jax.random.key(0))",
            "(jax.random.key(0), x)",
            "NNX602",
        ),
        (
            FILE.replace("main(key)", "main(key, x)"),
            "(jax.random.key(0))",
            "(jax.random.key(0), x) + main(jax.random.key(0), jnp.ones((1, 5)))",
            "NNX603",
        ),
        (FILE, "def main(key):", "def main(key, model=model):", "NNX603"),
        (OBJECT, "    self.start(", "    if rate:\n      self.start(", "NNX603"),
        (OBJECT, "    params = self", "    if not self.rate:\n      return\n    params = self", "NNX603"),
        (
            OBJECT,
            "    self.start(jax.random.key(0))",
            "    self.other(jax.random.key(0))\n  def other(self, key):\n    self.start(key)",
            "NNX602",
        ),
        (
            OBJECT.replace("    self.start(jax.random.key(0))\n", ""),
            "    said = []\n",
            "    said = []\n    self.start(jax.random.key(0))\n",
            "NNX603",
        ),
        (OBJECT, "\nlosses = ", "\nclass Other(Trainer):\n  pass\n\nlosses = ", "NNX603"),
        (OBJECT, "\nlosses = ", "\nother = Trainer(4)\nother.model = MLP(8)\nlosses = ", "NNX603"),
        (OBJECT, "    self.make_steps()", "    self.graphdef = 1\n    self.make_steps()", "NNX603"),
        (OBJECT, "    self.make_steps()", "    if rate > 1:\n      self.model = MLP(2)\n    self.make_steps()", "NNX603"),
    ],
)
def test_where_the_structure_is_seen(kit, program: str, old: str, new: str, code: str) -> None:
    assert old in program
    done = kit.migrate(program.replace(old, new, 1), kit.MLP)
    assert set(done.codes) == {code}, done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)
