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


RETURNED = """
x = jnp.ones((2, 5))

def create(width, seed=0):
  model = MLP(width)
  params = model.init(jax.random.key(seed), x)
  return model, params

def loss_of(model, params):
  return jnp.mean((model.apply(params, x) - 1.0) ** 2)

def train(width):
  net, params = create(width)
  other, apart = create(width + 1, seed=1)
  first = params
  said = []
  for _ in range(3):
    loss, grads = jax.value_and_grad(loss_of, argnums=1)(net, params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    said += [float(loss), float(loss_of(net, first)), float(loss_of(other, apart))]
  return said

losses = train(4) + train(7)
"""


def test_models_that_a_function_returns(kit) -> None:
    done = kit.migrate(RETURNED, kit.MLP)
    assert done.codes == ["NNX602"]
    assert "  return graphdef, params\n" in done.after and "other_graphdef, apart = create(width + 1, seed=1)" in done.after
    assert "def loss_of(graphdef, params):" in done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


@pytest.mark.parametrize(
    "old, new, code",
    [
        ("return model, params", "return params, model", "NNX602"),
        (
            "  params = model.init(jax.random.key(seed), x)\n  return model, params",
            "  return model, model.init(jax.random.key(seed), x)",
            "NNX602",
        ),
        ("  return model, params", "  if seed > 5:\n    return model, params\n  return model, params", "NNX602"),
        ("  return model, params", "  if seed > 5:\n    return [model, params]\n  return model, params", "NNX603"),
        ("  net, params = create(width)", "  made = create(width)\n  net, params = made", "NNX603"),
        ("  net, params = create(width)", "  net, params = create(width)\n  if width > 9:\n    net = MLP(9)", "NNX603"),
        ("  first = params", "  first = net.init(jax.random.key(2), x)", "NNX603"),
        ("  first = params", "  first = params\n  print(net)", "NNX603"),
    ],
)
def test_what_is_returned(kit, old: str, new: str, code: str) -> None:
    assert old in RETURNED
    program = RETURNED.replace(old, new, 1)
    if new == "return params, model":
        program = program.replace("net, params = create", "params, net = create").replace("other, apart =", "apart, other =")
    done = kit.migrate(program, kit.MLP)
    assert set(done.codes) == {code}, done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


INPUT_OF_A_MODEL = """
x = jnp.ones((2, 5))
body, head = MLP(4), MLP(6)
params = body.init(jax.random.key(0), x)
others = head.init(jax.random.key(1), body.apply(params, x))
losses = [float(head.apply(others, body.apply(params, x)).sum())]
"""


def test_an_input_of_init_that_another_model_gives(kit) -> None:
    """Its sizes would be those of a call that the program has no more."""
    done = kit.migrate(INPUT_OF_A_MODEL, kit.MLP)
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


MADE_IN_RETURN = """
x = jnp.ones((2, 5))
model = MLP(4)

def init(key):
  return RETURNED

def loss_of(params):
  return jnp.mean((model.apply(params, x) - 1.0) ** 2)

made = CALL
losses = [float(loss) for loss in np.ravel(LOSSES)]
"""


@pytest.mark.parametrize(
    "returned, call, losses, code",
    [
        ("model.init(key, x)", "init(jax.random.key(0))", "loss_of(made)", "NNX601"),
        ("model.init(key, x)", "jax.jit(init)(jax.random.key(0))", "jax.jit(loss_of)(made)", "NNX601"),
        (
            "model.init(key, x)",
            "jax.vmap(init)(jax.random.split(jax.random.key(0), 3))",
            "jax.vmap(loss_of)(made)",
            "NNX602",
        ),
        ("model.init(key, x), 1", "init(jax.random.key(0))", "loss_of(made[0])", "NNX602"),
        ("print(3), model.init(key, x)", "init(jax.random.key(0))", "loss_of(made[1])", "NNX603"),
        ("model.init(key, x) if len(x) else None", "init(jax.random.key(0))", "loss_of(made)", "NNX603"),
    ],
)
def test_variables_that_are_made_in_an_expression(kit, returned: str, call: str, losses: str, code: str) -> None:
    program = MADE_IN_RETURN.replace("RETURNED", returned).replace("CALL", call).replace("LOSSES", losses)
    done = kit.migrate(program, kit.MLP)
    assert set(done.codes) == {code}, done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)


GIVEN = OBJECT.replace("def __init__(self, width, rate=0.1):", "def __init__(self, model, rate=0.1):").replace(
    "self.model = MLP(width)", "self.model = model"
)
GIVEN = GIVEN.replace("Trainer(4).fit(3) + Trainer(8, ", "Trainer(MLP(4)).fit(3) + Trainer(model=MLP(8), ")


@pytest.mark.parametrize(
    "old, new, code",
    [
        ("", "", "NNX602"),
        ("    params = self.model.init", "    made = self.model\n    params = made.init", "NNX603"),
        (
            "    self.make_steps()\n    self.start(jax.random.key(0))",
            "    self.make_steps()\n    self.start(jax.random.key(0), model)",
            "NNX603",
        ),
        ("self.model = model", "self.model = model or MLP(2)", "NNX603"),
        ("self.model = model", "if rate > 1:\n      model = MLP(2)\n    self.model = model", "NNX602"),
        ("Trainer(MLP(4)).fit(3)", "Trainer(*[MLP(4)]).fit(3)", "NNX603"),
        ("\nlosses = ", "\nclass Other(Trainer):\n  pass\n\nlosses = Other(MLP(3)).fit(1) + ", "NNX603"),
        ("fit(2)", "fit(2) + [float(Trainer(MLP(4)).model.apply(Trainer(MLP(4)).first, x).sum())]", "NNX603"),
    ],
)
def test_objects_that_are_given_their_model(kit, old: str, new: str, code: str) -> None:
    assert old in GIVEN
    program = GIVEN.replace(old, new, 1)
    if "(key(0), model)" in new.replace("jax.random.", ""):
        program = program.replace(
            "def start(self, key):\n    params = self.model.init", "def start(self, key, net):\n    params = net.init"
        )
    done = kit.migrate(program, kit.MLP)
    assert set(done.codes) == {code}, done.after
    before, after = done.both()
    np.testing.assert_allclose(after["losses"], before["losses"], rtol=1e-5)
