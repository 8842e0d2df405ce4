"""Fields of modules that are handed over and that are a module unless they are given one: both sides run."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = '''
import jax.numpy as jnp
from flax import linen as nn


class ArrayInput(nn.Module):
    def __call__(self, x):
        return x * 2


class Scaled(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        return x * self.param("scale", nn.initializers.ones, (x.shape[-1],))


class Odd(nn.Module):
    """Stays Linen."""

    @nn.compact
    def __call__(self, x):
        n = 0
        while n < 2:
            x = nn.Dense(x.shape[-1] + n)(x)
            n += 1
        return x


class MLP(nn.Module):
    dims: tuple

    @nn.compact
    def __call__(self, x):
        for d in self.dims:
            x = nn.relu(nn.Dense(d)(x))
        return x


class Actor(nn.Module):
    head: nn.Module
    torso: nn.Module
    input_layer: nn.Module = ArrayInput()

    @nn.compact
    def __call__(self, obs, options=None):
        x = self.input_layer(obs, **(options or {}))
        return self.head(self.torso(x))


class Critic(nn.Module):
    head: nn.Module
    inner: nn.Module = Scaled()

    @nn.compact
    def __call__(self, obs):
        return self.head(self.inner(obs))


class Alone(nn.Module):
    inner: nn.Module = Scaled()

    @nn.compact
    def __call__(self, obs):
        return nn.Dense(2)(self.inner(obs))


class Linens(nn.Module):
    inner: nn.Module = Odd()

    @nn.compact
    def __call__(self, obs):
        return nn.Dense(2)(self.inner(obs))


def default(parts):
    return Actor(parts["h"], parts["t"])


def given(parts):
    return Actor(parts["h"], parts["t"], Scaled())


def critic(parts):
    return Critic(parts["h"])


def critics(parts):
    """Which share what neither is given."""
    return Critic(Critic(parts["t"]))


def alone(parts):
    return Alone()


def linens(parts):
    return Linens()


def run(name):
    parts = {"h": MLP((2,)), "t": MLP((5,))}
    return globals()[name](parts)
'''
NAMES = ("default", "given", "critic", "critics", "alone", "linens")


def _module(name: str, text: str) -> dict[str, Any]:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module.__dict__


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("defaults.py"), "defaults", text)])


@pytest.fixture(scope="module")
def sides() -> tuple[dict[str, Any], dict[str, Any]]:
    result = _migrated(HEAD)
    assert {c.qualname for c in result.classes if c.outcome != "native"} == {"defaults.Odd"}
    for path, created in result.created.items():
        _module(path.stem, created)
    after = result.files[0].after
    assert after is not None and "= linen_parity.Functional(ArrayInput)" in after
    return _module("defaults_linen_side", HEAD), _module("defaults", after)


@pytest.mark.parametrize("name", NAMES)
def test_a_default_is_made_as_what_is_given_is(name: str, sides: Any) -> None:
    linen, native = (side["run"](name) for side in sides)
    x = jnp.sin(jnp.arange(10.0)).reshape(2, 5)
    variables = linen.init(jax.random.key(0), x)
    assert jax.tree.map(jnp.shape, native.init(jax.random.key(1), x)) == jax.tree.map(jnp.shape, variables)
    np.testing.assert_array_equal(native.apply(variables, x), linen.apply(variables, x))


REFUSED = {
    "a default that is asked whether it is none": (
        "    inner: nn.Module = Scaled()\n\n    def __call__(self, x):\n"
        "        return x if self.inner is None else self.inner(x)\n"
    ),
    "a default that is given something": (
        "    inner: nn.Module = Scaled(2)\n\n    def __call__(self, x):\n        return self.inner(x)\n"
    ),
    "a layer": "    inner: nn.Module = nn.Dense(2)\n\n    def __call__(self, x):\n        return self.inner(x)\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_defaults_stay_linen(name: str) -> None:
    result = _migrated(f"{HEAD}\n\nclass Other(nn.Module):\n{REFUSED[name]}")
    assert {c.qualname: c.outcome for c in result.classes}["defaults.Other"] == "bridged"
