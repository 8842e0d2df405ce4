"""Models and states in the bodies of classes: `state = state` reads what stands around, `Held.net` is read by the class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module
from .small_net import STEP

PROGRAMS = {
    "a state under its own name": """class Held:
    state = state

    @classmethod
    def run(cls):
        cls.state, loss = step(cls.state, x)
        return float(loss)

said = [Held.run() for _ in range(3)] + [int(Held.state.step), int(state.step)]
""",
    "params above the state": """class Held:
    first = float(optax.global_norm(state.params))
    state = state

    def run(self):
        self.state, loss = step(self.state, x)
        return float(loss)

held = Held()
said = [held.run() for _ in range(3)] + [Held.first, int(held.state.step), int(Held.state.step), int(state.step)]
""",
    "a method of that name below": """class Held:
    first = float(optax.global_norm(state.params))

    def state(self):
        return 3

    again = state

state, loss = step(state, x)
said = [Held.first, Held().state(), Held().again(), float(loss), int(state.step)]
""",
    "a loop over it": """class Held:
    for state in [state]:
        first = float(optax.global_norm(state.params))
    net = net

said = [Held.first, float(Held.net.apply({"params": Held.state.params}, x).sum())]
state, loss = step(state, x)
said += [float(Held.net.apply({"params": Held.state.params}, x).sum()), int(state.step)]
""",
    "a model by its class": """class Held:
    model = net
    kept = state

def predict():
    return float(Held.model.apply({"params": Held.kept.params}, x).sum())

said = [predict()]
state, loss = step(state, x)
said += [predict(), int(state.step)]
""",
    "a model made in the class": """class Held:
    model = Net()
    params = model.init(jax.random.key(0), x)["params"]

    @staticmethod
    def predict(params):
        return float(Held.model.apply({"params": params}, x).sum())

    def mine(self):
        return float(self.model.apply({"params": self.params}, x).sum())

said = [Held.predict(Held.params), Held().mine()]
state, loss = step(state, x)
said += [Held.predict(state.params), float(loss)]
""",
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_names_of_class_bodies(name: str, jit: str) -> None:
    text = STEP + PROGRAMS[name]
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(jit=jit))  # type: ignore[arg-type]
    for path, content in result.created.items():
        module(path.stem, content)
    assert {found.code for found in result.files[0].diagnostics} & {"NNX601", "NNX602", "NNX603"}
    np.testing.assert_allclose(_said(result.files[0].after or ""), _said(text), rtol=1e-5)


def _said(text: str) -> Any:
    return module("class_bodies", text).said
