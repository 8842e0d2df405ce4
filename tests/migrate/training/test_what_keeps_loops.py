"""What is said of a loop that is kept, where `init` is not called once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .printing_sides import check

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


OWN_STATES = """
import optax
from flax import struct
from typing import Any


class Base:
    @classmethod
    def create(cls, model_def, inputs, tx=None):
        params = model_def.init(*inputs)["params"]
        return cls(model_def.apply, params, tx, tx.init(params) if tx is not None else None)


@struct.dataclass
class Model(Base):
    apply_fn: Any = struct.field(pytree_node=False)
    params: Any
    tx: Any = struct.field(pytree_node=False)
    opt_state: Any = None

    def __call__(self, *args):
        return self.apply_fn({"params": self.params}, *args)

    def apply_gradient(self, loss_fn):
        grads, info = jax.grad(loss_fn, has_aux=True)(self.params)
        updates, opt_state = self.tx.update(grads, self.opt_state, self.params)
        return self.replace(params=optax.apply_updates(self.params, updates), opt_state=opt_state), info


@jax.jit
def update(model, target, x):
    def loss_fn(params):
        loss = ((model.apply_fn({"params": params}, x) - target(x) - 1) ** 2).mean()
        return loss, {"loss": loss}

    model, info = model.apply_gradient(loss_fn)
    params = jax.tree_util.tree_map(lambda p, t: 0.1 * p + 0.9 * t, model.params, target.params)
    return model, target.replace(params=params), info


net = Net()
model = Model.create(GIVEN, tx=optax.adam(0.1))
target = Model.create(net, inputs=[jax.random.key(0), x])
target = target.replace(params=jax.tree_util.tree_map(lambda p: p * 0 + 0.3, target.params))
model = model.replace(params=target.params)
for _ in range(3):
    model, target, info = update(model, target, x)
    print(float(info["loss"]), float(model(x).sum()), float(target(x).sum()))
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("given", ["net, [jax.random.key(0), x]", "model_def=net, inputs=[jax.random.key(0), x]"])
def test_states_of_a_class_of_the_projects_own(given: str, jit: str) -> None:
    text = HEAD + OWN_STATES.replace("GIVEN", given)
    codes, after = check(f"own_states_{jit}", text, jit)
    assert codes == ["NNX603"] and "linen_parity.Functional(Net" in after
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)], Options(jit=jit))  # type: ignore[arg-type]
    (said,) = [d.help or "" for d in result.files[0].diagnostics if d.code == "NNX603"]
    assert "init is called by `Model.create`, of a class of states of the project's own" in said
    assert "TrainState.create(apply_fn=model.apply, params=model.init(key, x)['params'], tx=tx)" in said
