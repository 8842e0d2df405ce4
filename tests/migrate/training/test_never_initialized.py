"""NNX603 where no init tells the sizes of a model, and another method than `__call__` is applied."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODEL = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Model(nn.Module):
    def setup(self):
        self.head = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        x = x.reshape(x.shape[0], -1)
        return self.head(nn.Dense(4)(x))

    def decode(self, z):
        return self.head(z)


def decode(params, z):
    model = Model()
    return model.apply({"params": params}, z, method=model.decode)
"""
INITIALIZED = """

model = Model()
params = model.init(jax.random.key(0), jnp.ones((2, 3, 4)))
model.apply(params, jnp.ones(4), method="decode")
"""


def warnings(text: str) -> list[str]:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    found = result.files[0].diagnostics
    return [d.message for d in found if d.code == "NNX603" and d.severity.value == "warning"]


def test_whole_shapes_that_no_init_tells_are_marked() -> None:
    (said,) = warnings(MODEL)
    assert said.startswith("Model is not initialized here") and said.endswith("may not tell its in_shape")


@pytest.mark.parametrize(
    "text",
    [
        MODEL.replace(".reshape(x.shape[0], -1)", " * 2"),  # a single size is seen in the shapes of params
        MODEL.replace('.apply({"params": params}, z, method=model.decode)', '.apply({"params": params}, z)'),
        MODEL.partition("\n\n\ndef decode")[0] + INITIALIZED,
    ],
)
def test_what_is_told_is_not_marked(text: str) -> None:
    assert not warnings(text)
