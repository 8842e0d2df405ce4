"""`type(model)` where a `Functional` stands for the model: its class is what `__class__` says."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module

HEAD = """
class Holder:
  def __init__(self):
    self.net = MLP(3)
  def name(self):
    return type(self.net).__name__
def describe(model):
  return '%s of %d' % (type(model).__name__, model.features)
model = MLP(4)
x = jnp.ones((2, 5))
params = model.init(jax.random.key(0), x)['params']
out = float(model.apply({'params': params}, x).sum())
"""
# Expression → whether it is rewritten; else it is marked.
SAID = {
    "type(model).__name__": True,
    "type(model) is MLP, type(model) == MLP, type(model) in (MLP, int)": True,
    "issubclass(type(model), MLP)": True,
    "describe(model)": True,
    "Holder().name()": True,
    "type(MLP(2)).__qualname__": True,
    "type(3).__name__, type(params).__name__": True,
    "f'{type(model).__name__}'": False,
    "f'{x.ndim:{len(type(model).__name__)}}'": False,
    "type(model)(5).features": False,
}


@pytest.mark.parametrize("said", SAID)
def test_the_class_of_a_model(kit, said: str) -> None:
    done = kit.migrate(HEAD + f"said = {said}\nkept = model.features, isinstance(model, MLP)\n", kit.MLP)
    assert "NNX603" in done.codes and "Functional(MLP" in done.after
    marked = "is `Functional` here" in done.after
    assert marked is not SAID[said]
    before = done.run(done.before)
    if SAID[said]:
        after = done.run(done.after)
        assert (after["said"], after["kept"]) == (before["said"], before["kept"])


def test_another_function_of_that_name(kit) -> None:
    done = kit.migrate(HEAD + "type = lambda model: 'mine'\nsaid = type(model)\nkept = model.features\n", kit.MLP)
    assert done.run(done.after)["said"] == "mine"


SPLIT = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


model = Net()
x = jnp.ones((2, 5))
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(0), x)["params"], tx=optax.sgd(0.1))


@jax.jit
def step(state, x):
    grads = jax.grad(lambda p: state.apply_fn({"params": p}, x).sum())(state.params)
    return state.apply_gradients(grads=grads)


state = step(state, x)
said = SAID
"""


@pytest.mark.parametrize("said", ["type(model).__name__", 'str(type(model)).endswith("Net\'>")', "id(model) == id(Net)"])
def test_it_is_no_class_where_the_loop_is_split(said: str) -> None:
    def migrated(text: str) -> str:
        result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(jit="functional"))
        for path, content in result.created.items():
            module(path.stem, content)
        return result.files[0].after or text

    assert "\nmodel = Net\n" in migrated(SPLIT.replace("SAID", "0"))  # the class itself
    text = SPLIT.replace("SAID", said)
    assert module("types_after", migrated(text)).said == module("types_before", text).said
