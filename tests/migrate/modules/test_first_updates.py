"""NNX118: variables whose update Linen's `init` makes once, where a constructor of NNX makes none."""

from __future__ import annotations

import types
from pathlib import Path

import jax
import jax.numpy as jnp
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import flax.linen as nn
import jax.numpy as jnp


class Counts(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        calls = self.variable("c", "calls", jnp.zeros, ())
        trained = self.variable("c", "trained", jnp.zeros, ())
        later = self.variable("c", "later", jnp.zeros, ())
        self.tick()
        calls.value += 1
        if train:
            trained.value += 1
        if not self.is_initializing():
            later.value += 1
        return x

    def setup(self):
        self.ticks = self.variable("c", "ticks", jnp.zeros, ())

    def tick(self):
        self.ticks.value = self.ticks.value + 1

    def back(self):
        self.ticks.value = self.ticks.value - 1
"""


def test_unguarded_updates_are_told_and_they_are_what_differs() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    file = result.files[0]
    found = {(d.line, d.message.split("`")[1]) for d in file.diagnostics if d.code == "NNX118"}
    assert found == {(12, "calls"), (23, "ticks")}
    sides = types.ModuleType("linen"), types.ModuleType("migrated")
    for module, text in zip(sides, (TEXT, file.after or "")):
        exec(compile(text, module.__name__, "exec"), module.__dict__)
    linen = sides[0].Counts().init(jax.random.key(0), jnp.ones(2))["c"]
    state = nnx.as_pure(nnx.state(sides[1].Counts(rngs=nnx.Rngs(0))))
    assert {name for name in linen if linen[name] != state[name]} == {"calls", "ticks"}
