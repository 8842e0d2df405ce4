"""Methods of the project's own classes that take and return states: on objects, on classes, and where nobody sees them."""

from __future__ import annotations

import numpy as np
import pytest

PROGRAM = """
x = jnp.ones((2, 5))

class Trainer:
  rate = 0.1

  def __init__(self, scale):
    self.scale = scale

  def create(self, key):
    model = MLP(4)
    params = model.init(key, x)
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(self.rate))

  def step(self, state, batch):
    def loss_fn(params):
      return self.scale * jnp.mean((state.apply_fn(params, batch) - 1.0) ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss

  @classmethod
  def predict(cls, state, batch):
    return cls.forward(state, batch)

  @staticmethod
  def forward(state, batch):
    return state.apply_fn(state.params, batch)

trainer = Trainer(0.5)
state = trainer.create(jax.random.key(0))
losses = []
for i in range(4):
  before = state
  state, loss = trainer.step(state, x + i)
  losses += [float(loss), float(trainer.predict(before, x).sum() + Trainer.forward(state, x).sum())]
"""
EDGE = "trainer = Trainer(0.5)"
# What is replaced, and the forms: only methods that every call is seen of are followed.
FOLLOWED = {
    "as it is": ("x = jnp", "x = jnp"),
    "jitted under a name": ("losses = []", "losses = []\nstep = jax.jit(trainer.step)\nstate, _ = step(state, x)"),
    "jitted on self": ("self.scale = scale", "self.scale = scale\n    self.step = jax.jit(self.step)"),
    "called on the class": ("trainer.step(state, x + i)", "Trainer.step(trainer, state, x + i)"),
    "by keyword": ("trainer.step(state, x + i)", "trainer.step(batch=x + i, state=state)"),
    "of another class": (EDGE, "class Other:\n  def forward(self, a):\n    return a\nOther().forward(x)\n" + EDGE),
    "an object of a function": (EDGE, "def make():\n  return Trainer(0.5)\ntrainer = make()"),
    "under decorators": ("  def step(self", "  @functools.partial(jax.jit, static_argnums=0)\n  def step(self"),
}
LEFT = {
    "replaced on the object": (EDGE, EDGE + "\nown = trainer.step\ntrainer.step = lambda s, b: own(own(s, b)[0], b)"),
    "replaced by name": (EDGE, EDGE + "\nown = trainer.step\nsetattr(trainer, 'step', lambda s, b: own(s, 2 * b))"),
    "replaced on the class": (EDGE, "own = Trainer.step\nTrainer.step = lambda t, s, b: own(t, s, 2 * b)\n" + EDGE),
    "overridden": (EDGE, "class More(Trainer):\n  def forward(state, batch):\n    return batch\n\n" + EDGE),
    "inherited": (EDGE, "class More(Trainer):\n  pass\n\ntrainer = More(0.5)"),
    "one of two": (EDGE, "class Other(Trainer):\n  pass\ntrainer = Trainer(0.5) if x.sum() > 0 else Other(0.5)"),
    "in a list": (EDGE, "trainer = [Trainer(0.5)][0]\ntrainers = [trainer]\nfor trainer in trainers:\n  pass"),
    "a lookup of its own": (
        "  rate = 0.1",
        "  rate = 0.1\n  def __getattribute__(self, name):\n    return object.__getattribute__(self, name)",
    ),
    "a decorator of the class": ("class Trainer", "@(lambda c: c)\nclass Trainer"),
    "a decorator of the method": ("  def step(self", "  @(lambda f: lambda *a: f(*a))\n  def step(self"),
    "a property": ("  def step(self", "  @property\n  def step(self):\n    return self.inner\n\n  def inner(self"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*FOLLOWED, *LEFT])
def test_methods(kit, name: str) -> None:
    old, new = {**FOLLOWED, **LEFT}[name]
    done = kit.migrate(PROGRAM.replace(old, new, 1), kit.MLP)
    assert done.codes == [["NNX602"], ["NNX603"]][name in LEFT], done.after
    before, after = done.both()
    assert len(set(before["losses"])) > 6
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=2e-5, atol=1e-6)


HELD = """
x = jnp.ones((2, 5))

class Trainer:
  def __init__(self, rate):
    model = MLP(4)
    self.params = model.init(jax.random.key(0), x)
    self.tx = optax.adam(rate)
    self.opt_state = self.tx.init(self.params)
    def loss_fn(params, batch):
      return jnp.mean((model.apply(params, batch) - 1.0) ** 2)
    self.grad = jax.jit(jax.value_and_grad(loss_fn))

  def step(self, batch):
    loss, grads = self.grad(self.params, batch)
    updates, self.opt_state = self.tx.update(grads, self.opt_state)
    self.params = optax.apply_updates(self.params, updates)
    return loss

trainer = Trainer(0.1)
losses = [float(trainer.step(x + i)) for i in range(4)]
"""


@pytest.mark.parametrize(
    "old, new, code",
    [
        ("losses =", "losses =", "NNX602"),
        ("losses =", "bias = trainer.params['params']['Dense_0']['bias']\nlosses =", "NNX603"),
        ("losses =", "bias = getattr(trainer, 'params')['params']['Dense_0']['bias']\nlosses =", "NNX603"),
        ("losses =", "def bias(t):\n  return t.params['params']['Dense_0']['bias']\nbias(trainer)\nlosses =", "NNX603"),
        ("trainer =", "class More(Trainer):\n  def bias(self):\n    return self.params['params']\n\ntrainer =", "NNX603"),
    ],
)
def test_params_in_attributes(kit, old: str, new: str, code: str) -> None:
    done = kit.migrate(HELD.replace(old, new, 1), kit.MLP)
    assert done.codes == [code], done.after
    before, after = done.both()
    assert len(set(before["losses"])) > 3
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=2e-5, atol=1e-6)
