"""What is said of a loop that is kept, where `init` is not called once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """\
import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


x = jnp.ones((2, 4))
"""
GIVEN = """
def predict(params, x):
    return Net().apply({"params": params}, x)
"""
TWICE = """
net = Net()
first = net.init(jax.random.key(0), x)
second = net.init(jax.random.key(1), x)
print(net.apply(first, x) + net.apply(second, x))
"""


@pytest.mark.parametrize(
    "program, reason, line",
    [(GIVEN, "init is not called here", 15), (TWICE, "init is called in several places", 16)],
)
def test_where_init_is_called(program: str, reason: str, line: int) -> None:
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", HEAD + program)])
    said = [d.help or "" for d in result.files[0].diagnostics if d.code in ("NNX602", "NNX603")]
    assert any(re.search(rf"{reason} \(line {line}\) \(to change that: ", text) for text in said), said


PART = """
class Whole(nn.Module):
    encoder: nn.Module
    inner: nn.Module

    @nn.compact
    def __call__(self, x):
        return self.inner(self.encoder(x))


def create(encoder, x):
    inner = Net()
    whole = Whole(encoder=encoder, inner=inner)
    return whole, whole.init(jax.random.key(0), x)
"""
HANDED = """
import tools

agent = tools.Agent.create(Net(), x)
"""


@pytest.mark.parametrize(
    "program, reason",
    [
        (PART, "it is a part of Whole"),
        (HANDED, "the model goes to `tools.Agent.create`, which is not followed"),
    ],
)
def test_where_a_model_goes_that_is_not_initialized(program: str, reason: str) -> None:
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", HEAD + program)])
    said = [d.help or "" for d in result.files[0].diagnostics if d.code in ("NNX602", "NNX603")]
    assert any(f"init is not called here: {reason}" in text for text in said), said


SHARED = """
import optax
from flax.training import train_state


class State(train_state.TrainState):
    calls: int = 0


first, second = Net(), Other()
one = State.create(apply_fn=first.apply, params=first.init(jax.random.key(0), x)["params"], tx=optax.sgd(0.1))
two = State.create(apply_fn=second.apply, params=second.init(jax.random.key(0), x)["params"], tx=optax.sgd(0.1))
print(two.params.items())
"""


def test_models_whose_class_of_states_another_one_keeps() -> None:
    text = HEAD.replace("x = jnp", "class Other(Net):\n    pass\n\n\nx = jnp") + SHARED
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)], Options(jit="functional"))
    said = [d.help or "" for d in result.files[0].diagnostics if d.code == "NNX603"]
    assert len(said) == 2 and "State also has states that cannot change: the attribute items" in " ".join(said), said
