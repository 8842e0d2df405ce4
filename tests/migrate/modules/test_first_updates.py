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


ASKED = """import flax.linen as nn
import jax.numpy as jnp


class Asked(nn.Module):
    def setup(self):
        self.ema = self.variable("averages", "ema", jnp.zeros, ())

    @nn.compact
    def __call__(self, x):
        known = self.has_variable("averages", "mean")
        mean = self.variable("averages", "mean", jnp.zeros, ())
        if self.has_variable("averages", "ema"):
            self.ema.value += 1
        if known:
            mean.value += 1
        return x


class Late(nn.Module):
    @nn.compact
    def __call__(self, x):
        if not self.has_variable("averages", "late"):
            late = self.variable("averages", "late", lambda: x.sum())
        else:
            late = self.variable("averages", "late", lambda: x.sum())
        return x * late.value
"""


def test_a_variable_that_is_there_when_it_is_asked_for_is_updated_at_init() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", ASKED)])
    file = result.files[0]
    found = [(d.code, d.message.split("`")[1]) for d in file.diagnostics if d.code in ("NNX118", "NNX207")]
    assert found == [("NNX118", "ema"), ("NNX207", "late"), ("NNX207", "late")]
    sides = types.ModuleType("linen"), types.ModuleType("migrated")
    for module, text in zip(sides, (ASKED, file.after or "")):
        exec(compile(text, module.__name__, "exec"), module.__dict__)
    linen = sides[0].Asked().init(jax.random.key(0), jnp.ones(2))["averages"]
    state = nnx.as_pure(nnx.state(sides[1].Asked(rngs=nnx.Rngs(0))))
    assert {name for name in linen if linen[name] != state[name]} == {"ema"}
