"""A repository of several programs: what one of them does to its objects says nothing of another's."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODELS = """
from flax import linen as nn

class MLP(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(1)(nn.relu(nn.Dense(self.width)(x)))

def make(width):
  return MLP(width=width)
"""
TRAIN = """
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state
from mlp import models

@jax.jit
def train_step(state, x, y):
  def loss_fn(params):
    return ((state.apply_fn({'params': params}, x) - y) ** 2).mean()
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), loss

def evaluate(params, x, width):
  return models.make(width).apply({'params': params}, x)

def main(config):
  params = models.make(config.width).init(jax.random.key(0), jnp.ones((1, 3)))['params']
  state = train_state.TrainState.create(
      apply_fn=models.make(config.width).apply, params=params, tx=optax.sgd(0.1))
  x, y = jnp.ones((4, 3)), jnp.zeros((4, 1))
  for _ in range(3):
    state, loss = train_step(state, x, y)
    print(loss, evaluate(state.params, x, config.width).sum())
"""
OTHER = """from flax import linen as nn
class Config:
  def merge(self, **changes):
    for name, value in changes.items():
      setattr(self, name, value)
"""
MASKED = """
import optax
from flax import linen as nn
from flax import traverse_util

class Head(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(8, kernel_init=nn.with_partitioning(nn.initializers.lecun_normal(), (None, 'model')))(x)

def decays(params):
  return traverse_util.path_aware_map(lambda path, _: path[-1] == 'kernel', params)

tx = optax.adamw(0.1, mask=decays)
"""
STACKED = """
from flax import linen as nn

class Ensemble(nn.Module):
  @nn.compact
  def __call__(self, x):
    stack = nn.vmap(nn.Dense, in_axes=None, variable_axes={'params': 0}, split_rngs={'params': True}, axis_size=2)
    return stack(8)(x)
"""
KEPT = """
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state

class Net(nn.Module):
  @nn.compact
  def __call__(self, x, train):
    return nn.Dense(1)(nn.Dropout(0.5, deterministic=not train)(nn.Dense(8)(x)))

def main(x, y):
  net = Net()
  params = net.init(jax.random.key(0), jnp.ones((1, 3)), False)['params']
  state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
  best = state
  for step in range(3):
    def loss_fn(params):
      key = jax.random.key(step)
      return ((net.apply({'params': params}, x, True, rngs={'dropout': key}) - y) ** 2).mean()
    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    new_state = state.apply_gradients(grads=grads)
    best = state if loss < 1 else best
    state = new_state
  return best.params
"""


def _codes(**extra: str) -> set[str]:
    texts = {"mlp.models": MODELS, "mlp.train": TRAIN, "other.config": OTHER, **extra}
    files = [SourceFile.parse(Path(*name.split(".")).with_suffix(".py"), name, text) for name, text in texts.items()]
    return {found.code for file in migrate_project(files).files for found in file.diagnostics}


def test_attributes_set_by_computed_names_in_another_program() -> None:
    assert "NNX601" in _codes()


@pytest.mark.parametrize(
    "name, text",
    [
        ("run", "from mlp import train\nfrom other import config\n"),
        ("run", "import importlib\nimportlib.import_module('mlp.train').main(None)\n"),
        ("mlp.extra", "import other.config\nimport mlp.models\n"),
    ],
)
def test_attributes_set_by_computed_names_in_the_same_program(name: str, text: str) -> None:
    codes = _codes(**{name: text})
    assert "NNX601" not in codes and codes & {"NNX602", "NNX603"}


def test_masks_of_another_programs_optimizer() -> None:
    assert "NNX601" in _codes(**{"other.masked": MASKED})


@pytest.mark.parametrize(
    "name, text",
    [
        ("run", "from mlp import train\nfrom other import masked\n"),
        ("mlp.extra", "from mlp.models import make\nfrom other.masked import tx\n"),
        ("other.tools", "import importlib\nimport mlp.train\ntx = importlib.import_module('other.masked').tx\n"),
        ("tools", "exec('import other.masked')\n"),
    ],
)
def test_masks_of_an_optimizer_in_the_same_program(name: str, text: str) -> None:
    codes = _codes(**{"other.masked": MASKED, name: text})
    assert "NNX601" not in codes and "NNX603" in codes


def test_stacks_beside_a_model_that_draws() -> None:
    assert "NNX603" not in _codes(**{"kept": KEPT, "stacked": STACKED})
    assert "NNX603" not in _codes(**{"kept": KEPT, "stacked": STACKED, "run": "import kept, stacked\n"})


def test_programs_are_what_imports_join() -> None:
    texts = {
        "a.model": "x = 1", "a.train": "from a import model", "a": '"""A package without code."""',
        "b.model": "x = 1", "b.train": "import b.model as m", "b.tool": "import importlib\nimportlib.import_module(m)",
        "c": "import numpy",
    }  # fmt: skip
    files = [SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()]
    programs = Project(files).programs
    assert programs["a.model"] == programs["a.train"] != programs["b.model"] == programs["b.train"] == programs["b.tool"]
    assert programs["c"] not in (programs["a.model"], programs["b.model"])
    assert programs["a"] not in (programs["a.model"], programs["b.model"])


def test_notebooks_are_not_imported_by_computed_names() -> None:
    names = {"a": "py", "b": "ipynb", "tool": "py"}
    texts = {"a": "x = 1", "b": "y = 1", "tool": "import importlib\nimportlib.import_module(name)"}
    programs = Project([SourceFile.parse(Path(f"{name}.{end}"), name, texts[name]) for name, end in names.items()]).programs
    assert programs["a"] == programs["tool"] != programs["b"]
