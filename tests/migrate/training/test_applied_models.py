"""Methods that apply or initialize their own module, called on a model without variables: both sides give the same."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """import functools
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

X = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
ONES = nn.initializers.constant(0.3)

"""
BASE = """
class Base(nn.Module):
  def init_train_state(self, key, x):
    variables = self.init(key, x)
    return TrainState.create(apply_fn=self.apply, params=variables['params'], tx=optax.sgd(0.1))

  def value_fn(self, params):
    return lambda x: self.apply({'params': params}, x)

  def gradient_fn(self, params):
    return jax.vmap(jax.grad(lambda x: self.value_fn(params)(x[None]).sum()))

  def loss(self, params, x, y):
    return ((self.value_fn(params)(x) - y) ** 2).mean()

  def hidden(self, params, x):
    return self.apply({'params': params}, x, method=self.encode)

  @functools.partial(jax.jit, static_argnums=0)
  def step(self, state, x, y):
    return state.apply_gradients(grads=jax.grad(self.loss)(state.params, x, y))


"""
MODEL = """class Model(Base):
  width: int = 5

  def setup(self):
    self.inner = nn.Dense(4, kernel_init=ONES)
    self.outer = nn.Dense(self.width, kernel_init=ONES)

  def encode(self, x):
    return nn.relu(self.inner(x))

  def __call__(self, x):
    return self.outer(self.encode(x))

  def scaled(self, by=2):
    return by * self.width

  @staticmethod
  def twice(x):
    return 2 * x

  @property
  def doubled(self):
    return self.twice(self.width)


"""
RUN = """def run():
  model = Model(6)
  state = model.init_train_state(jax.random.key(0), X)
  for _ in range(3):
    state = model.step(state, X, jnp.ones((2, 6)))
  params = state.params
  given = [model.value_fn(params)(X), model.gradient_fn(params)(X), model.hidden(params, X), model.scaled(3), model.scaled()]
  given += [model.twice(2), model.doubled, model.apply({'params': params}, X), state.apply_fn({'params': params}, X), params]
  given.append(model.apply({'params': params}, X, method=model.encode))
  return [*given, model.apply({'params': params}, X, method='encode')]
"""
# A method whose default could stand in for the model: what it is called on must not.
LIBRARY = """class Sampler(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width, kernel_init=ONES)(x)

  def generate(self, params, x, steps: int = 2):
    @jax.jit
    def step(x):
      return jnp.tanh(self.apply(params, x))

    for _ in range(steps):
      x = step(x)
    return x

  def table(self, x):
    return jax.tree.map(jnp.shape, self.init_with_output(jax.random.key(0), x)[1])


class Holder:
  def __init__(self, width):
    self.model = Sampler(width)

  def run(self):
    params = self.model.init(jax.random.key(0), X)
    return [self.model.generate(params, X), self.model.generate(params, X, steps=1), self.model.table(X)]


def run():
  return Holder(3).run()
"""
REFUSED = {
    "a part that another module applies": """class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    model = Model(4)
    y = model(x)
    return y + model.loss(model.variables['params'], x, y)
""",
    "a method that is applied": """def run():
  model = Model(4)
  variables = model.init(jax.random.key(0), X)
  return model.apply(variables, variables['params'], X, 1.0, method=Model.loss)
""",
    "a method that its own call asks for": """class Second(Base):
  @nn.compact
  def __call__(self, x):
    self.param('w', nn.initializers.ones, ())
    return self.hidden(self.variables['params'], x)
""",
}


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("program.py"), "program", text)])


def _module(name: str, text: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(text, module.__dict__)
    return module


@pytest.mark.parametrize("body", [BASE + MODEL + RUN, LIBRARY], ids=["train", "sample"])
def test_both_sides_are_equal(body: str) -> None:
    result = _migrated(HEAD + body)
    assert {c.outcome for c in result.classes} == {"native"}, [c.reason for c in result.classes]
    for path, content in result.created.items():
        _module(path.stem, content)
    before, after = _module("applied_before", HEAD + body), _module("applied_after", result.files[0].after or "")
    expected, got = before.run(), after.run()
    assert jax.tree.structure(expected) == jax.tree.structure(got)
    for left, right in zip(jax.tree.leaves(expected), jax.tree.leaves(got), strict=True):
        np.testing.assert_array_equal(left, right)


def test_the_loop_says_what_keeps_it() -> None:
    found = _migrated(HEAD + LIBRARY).files[0].diagnostics
    kept = [d for d in found if d.code == "NNX603"]
    assert kept and all("`generate` of Sampler applies it" in (d.help or "") for d in kept), [d.help for d in kept]


@pytest.mark.parametrize("name", REFUSED)
def test_it_stays_linen(name: str) -> None:
    plans = {c.qualname.rpartition(".")[2]: c for c in _migrated(HEAD + BASE + MODEL + REFUSED[name]).classes}
    linen = plans.get("Second", plans["Model"])
    assert (linen.outcome, linen.code) == ("bridged", "NNX149"), linen.reason
