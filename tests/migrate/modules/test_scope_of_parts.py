"""What a class asks of its own variables and of its parts: read where NNX has it, else the class stays Linen."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """import jax
import jax.numpy as jnp
from flax import linen as nn


"""
PARTS = """class Part(nn.Module):
    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.initializers.normal(), (4, 4))
        total = self.variable("stats", "total", jnp.zeros, (4,))
        total.value = total.value + x.mean(0)
        return x @ w


class Net(nn.Module):
    def setup(self):
        self.dense = nn.Dense(4)
        self.part = Part()

    def __call__(self, x):
        y = self.part(self.dense(x))
        if self.part.is_initializing():
            return y
        k = self.dense.get_variable("params", name="kernel")
        return y @ self.part.get_variable("params", "w").T + self.part.get_variable("stats", "total") + (k**2).sum()
"""
ASKED = """class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        first = not self.has_variable(col="batch_stats", name="mean")
        mean = self.variable("batch_stats", name="mean", init_fn=lambda: jnp.zeros(4))
        w = self.param("w", nn.initializers.ones, (4,))
        return (x - mean.value) * (3 if first else 2) * (5 if self.has_variable("params", "w") else 7) * w
"""


@pytest.mark.parametrize("name", ["PARTS", "ASKED"])
def test_what_is_there_in_apply(name: str) -> None:
    before, after = both_sides(f"scope_{name.lower()}", HEAD + globals()[name])
    x = jax.random.normal(jax.random.key(1), (2, 4))
    linen = before.Net()
    variables = linen.init(jax.random.key(0), x)
    sizes = {"in_features": 4} if name == "PARTS" else {}
    new = after.Net(**sizes, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x, mutable=["stats"] if name == "PARTS" else [])


HELPED = """class Net(nn.Module):
    track: bool = True

    def _mean(self):
        return self.variable("stats", "mean", jnp.zeros, (4,))

    def _seen(self, x):
        return x - self._mean().value

    @nn.compact
    def __call__(self, x):
        x = self._seen(x) if self.track else x
        w = self._weight()
        factor = 3 if self.has_variable("stats", "mean") else 5
        return x * w * factor * (7 if self.has_variable("params", "w") else 11)

    def _weight(self):
        return self.param("w", nn.initializers.ones, (4,))
"""


@pytest.mark.parametrize("track", [True, False])
def test_what_methods_make(track: bool) -> None:
    before, after = both_sides("scope_helped", HEAD + HELPED)
    x = jax.random.normal(jax.random.key(1), (2, 4))
    linen = before.Net(track)
    variables = linen.init(jax.random.key(0), x)
    new = after.Net(track, rngs=nnx.Rngs(0))
    new(x)  # as `init`, which makes what is asked for
    compat.from_linen(variables, new)
    assert (new(x) == linen.apply(variables, x, mutable=["stats"])[0]).all()


DECODES = """class Net(nn.Module):
    @nn.compact
    def __call__(self, x, decode: bool = False):
        first = not self.has_variable("params", "w")
        if decode and self.has_variable("cache", "k"):
            return x
        if decode:
            return x * 2
        w = self.param("w", nn.initializers.ones, (4,))
        return x * w * (3 if first else 2)
"""


def test_returns_that_init_does_not_take() -> None:
    before, after = both_sides("scope_decodes", HEAD + DECODES)
    x = jax.random.normal(jax.random.key(1), (2, 4))
    linen = before.Net()
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, after.Net(rngs=nnx.Rngs(0)), x)


BODY = """class Net(nn.Module):
    track: bool = False

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(4)
        y = dense(x)
        {}
"""
REFUSED = {
    "a parameter that a field decides about": (
        "b = self.param('b', nn.initializers.ones, (4,)) if self.track else 0\n"
        "        return y + b * (2 if self.has_variable('params', 'b') else 3)"
    ),
    "statistics that a field decides about": (
        "if self.track:\n            self.variable('batch_stats', 'mean', jnp.zeros, (4,))\n"
        "        return y * (2 if self.has_variable('batch_stats', 'mean') else 3)"
    ),
    "a variable behind a return": (
        "asked = self.has_variable('batch_stats', 'mean')\n        if not self.track:\n            return y * asked\n"
        "        return y + self.variable('batch_stats', 'mean', jnp.zeros, (4,)).value"
    ),
    "a parameter of a function that a field decides about": (
        "scaled = lambda v: v * self.param('scale', nn.initializers.ones, (4,))\n"
        "        y = scaled(y) if self.track else y\n"
        "        return y * (2 if self.has_variable('params', 'scale') else 3)"
    ),
    "a parameter of a method that a field decides about": (
        "y = self.scaled(y) if self.track else y\n"
        "        return y * (2 if self.has_variable('params', 'scale') else 3)\n\n"
        "    def scaled(self, v):\n        return v * self.param('scale', nn.initializers.ones, (4,))"
    ),
    "a parameter of a method that nothing calls": (
        "return y * (2 if self.has_variable('params', 'scale') else 3)\n\n"
        "    @nn.compact\n    def scaled(self, v):\n        return v * self.param('scale', nn.initializers.ones, (4,))"
    ),
    "a variable behind a flag of the call": (
        "asked = self.has_variable('batch_stats', 'mean')\n        if not x.any():\n            return y * asked\n"
        "        return y + self.variable('batch_stats', 'mean', jnp.zeros, (4,)).value"
    ),
    "a variable that is not made": "return y * (2 if self.has_variable('params', 'other') else 3)",
    "whether a part has a variable": "return y * (2 if dense.has_variable('params', 'bias') else 3)",
    "a part's random numbers": "return y + jax.random.normal(dense.make_rng('noise'), (4,))",
    "a variable of a part that may not be there": "return y + dense.get_variable('params', 'other', 0.0)",
    "a variable that is put into a part": "dense.put_variable('params', 'bias', y[0])\n        return y",
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen(what: str) -> None:
    text = HEAD + BODY.format(REFUSED[what])
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert plan.outcome == "bridged", what
    assert "has_variable" in plan.reason or "`dense." in plan.reason
