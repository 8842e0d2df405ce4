"""Modules that code outside of modules hands to a module which calls them in turn: both sides run on the same variables."""

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

TEXT = '''
from functools import partial
from typing import Any, Sequence

import jax.numpy as jnp
from flax import linen as nn


class ConvBlock(nn.Module):
    features: int
    strides: tuple[int, int] = (1, 1)
    conv: Any = nn.Conv
    norm: Any = nn.GroupNorm

    @nn.compact
    def __call__(self, x):
        x = self.conv(self.features, (3, 3), self.strides)(x)
        return nn.relu(self.norm(use_running_average=True)(x))


class Stem(nn.Module):
    block: Any = ConvBlock

    @nn.compact
    def __call__(self, x):
        return self.block(4)(x)


class Residual(nn.Module):
    features: int
    strides: tuple[int, int] = (1, 1)
    block: Any = ConvBlock

    @nn.compact
    def __call__(self, x):
        y = self.block(self.features, strides=self.strides)(x)
        if x.shape != y.shape:
            x = nn.Conv(self.features, (1, 1), self.strides)(x)
        return x + y


class Wide(Residual):
    pass


class Chain(nn.Module):
    """Calls in turn what it is given."""

    layers: Sequence[Any]

    @nn.compact
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def make(
    block,
    *,
    depth=2,
    conv=nn.Conv,
    norm=partial(nn.BatchNorm, momentum=0.9),
    stem=Stem,
    pool=partial(nn.max_pool, window_shape=(2, 2), strides=(2, 2)),
):
    block_of = partial(ConvBlock, conv=conv, norm=norm)
    block = partial(block, block=block_of)
    layers = [partial(stem, block=block_of)(), pool]
    for stage in range(2):
        for i in range(depth):
            layers.append(block(features=4 * 2**stage, strides=(2, 2) if stage and not i else (1, 1)))
    layers.append(partial(jnp.mean, axis=(1, 2)))
    layers += [nn.LayerNorm(), nn.Dense(5, use_bias=False)]
    return Chain(layers)


Small = partial(make, Residual, depth=1)
Large = partial(make, block=Wide)


def plain():
    return Chain([nn.Conv(3, (3, 3)), nn.relu, nn.Dense(features=2), nn.Dropout(0.5, deterministic=True)])
'''


def _module(name: str, text: str) -> dict[str, Any]:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module.__dict__


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("chained.py"), "chained", text)])


@pytest.fixture(scope="module")
def sides() -> tuple[dict[str, Any], dict[str, Any]]:
    result = _migrated(TEXT)
    assert {c.qualname: c.outcome for c in result.classes if c.outcome != "native"} == {}
    for path, text in result.created.items():
        _module(path.stem, text)
    after = result.files[0].after
    assert after is not None and "flax.linen" not in after.replace("from flax import linen as nn", "")
    return _module("chained_linen_side", TEXT), _module("chained", after)


@pytest.mark.parametrize("name", ["Small", "Large", "plain"])
def test_the_chain_computes_the_same_under_the_same_keys(name: str, sides: Any) -> None:
    linen, native = sides
    x = jnp.asarray(np.random.RandomState(0).randn(2, 8, 8, 3), jnp.float32)
    model, functional = linen[name](), native[name]()
    variables = model.init(jax.random.key(0), x)
    own = functional.init(jax.random.key(1), x)
    assert jax.tree.structure(jax.tree.map(jnp.shape, own)) == jax.tree.structure(jax.tree.map(jnp.shape, variables))
    assert jax.tree.map(jnp.shape, own) == jax.tree.map(jnp.shape, variables)
    np.testing.assert_array_equal(functional.apply(variables, x), model.apply(variables, x))


CHAIN = TEXT[TEXT.index("class Chain") : TEXT.index("def make")]
HEAD = TEXT[: TEXT.index("class ConvBlock")]

REFUSED = {
    "a layer that is named": "def make():\n    return Chain([nn.Dense(3, name='head')])\n",
    "a layer whose input has no form outside of modules": "def make():\n    return Chain([nn.Embed(3, 4)])\n",
    "an item that stays Linen": (
        "class Odd(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return self.perturb('x', x)\n\n\n"
        "def make():\n    return Chain([Odd(), nn.Dense(3)])\n"
    ),
}
# Chains whose items are not followed, which they are handed as any class: see `test_handed_containers`.
HANDED = {
    "an item that no list shows": (
        "def given(more):\n    return Chain([nn.Dense(3), *more])\n\n\n"
        "def make():\n    return given([nn.Dense(2), nn.relu])\n"
    ),
    "a list that other code fills": (
        "def fill(layers):\n    layers.append(nn.Conv(3, (1,)))\n\n\n"
        "def make():\n    layers = [nn.Dense(3)]\n    fill(layers)\n    return Chain(layers)\n"
    ),
    "a chain that modules make, too": (
        "class Outer(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return Chain([nn.Dense(3)])(x)\n\n\n"
        "def make():\n    return Chain([nn.Dense(3)])\n"
    ),
    "a class that does more than call them": "def make():\n    return Chain([nn.Dense(3), nn.Dense(1)])\n",
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_the_items_are_must_be_seen(case: str) -> None:
    result = _migrated(f"{HEAD}{CHAIN}{REFUSED[case]}")
    plan = {c.qualname: c for c in result.classes}["chained.Chain"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX127"), plan.reason


@pytest.mark.parametrize("case", sorted(HANDED))
def test_items_that_are_not_seen_are_made_when_they_are_called(case: str) -> None:
    chain = CHAIN.replace("x = layer(x)", "x = layer(x) + 1") if "more than" in case else CHAIN
    text = f"{HEAD}{chain}{HANDED[case]}"
    result = _migrated(text)
    plan = {c.qualname: c for c in result.classes}["chained.Chain"]
    assert plan.outcome == "native" and [a.name for a in plan.added_arguments] == ["call_example"]
    for path, created in result.created.items():
        _module(path.stem, created)
    linen, native = (_module(f"chained_{i}", side)["make"]() for i, side in enumerate((text, result.files[0].after or "")))
    x = jnp.asarray(np.random.RandomState(0).randn(2, 8, 3), jnp.float32)
    variables = linen.init(jax.random.key(0), x)
    assert jax.tree.map(jnp.shape, native.init(jax.random.key(1), x)) == jax.tree.map(jnp.shape, variables)
    np.testing.assert_array_equal(native.apply(variables, x), linen.apply(variables, x))


def test_layers_that_only_native_classes_are_given_become_layers_of_nnx() -> None:
    text = HEAD + TEXT[TEXT.index("class ConvBlock") : TEXT.index("class Stem")]
    text += "\n\ndef make(norm=nn.LayerNorm):\n    return ConvBlock(3, norm=norm, conv=partial(nn.Conv, use_bias=False))\n"
    text += "\n\ndef run(key, x):\n    model = ConvBlock(3, norm=nn.RMSNorm)\n    v = model.init(key, x)\n"
    text += "    return model.apply(v, x)\n"
    after = _migrated(text.replace("use_running_average=True", "")).files[0].after
    assert after is not None and "norm=nnx.LayerNorm" in after and "conv=partial(nnx.Conv, use_bias=False)" in after
    assert "ConvBlock(3, norm=nnx.RMSNorm, in_features=x.shape[-1], rngs=nnx.Rngs(key))" in after


MODES = '''
class Normed(nn.Module):
    features: int
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.features, dtype=self.dtype)(x)
        training = self.is_mutable_collection("batch_stats")
        return nn.BatchNorm(use_running_average=not training, momentum=0.9)(x)


class Always(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False, momentum=0.5)(x)


class Pair(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Normed(4)(x) + Normed(4)(x)


def asks():
    return Chain([Normed(3), nn.relu, Normed(2)])


def asks_below():
    layers = [nn.Dense(3)]
    layers.append(Pair())
    return Chain(layers)


def mixed():
    return Chain([Always(), nn.relu, Normed(features=2), Always()])


def without():
    return Chain([nn.Dense(3), nn.relu])


class Body(nn.Module):
    parts: Sequence[Any]

    @nn.compact
    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class Head(nn.Module):
    model: nn.Module

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.model(x))


class After(nn.Module):
    layers: Sequence[Any]

    @nn.compact
    def __call__(self, y):
        for layer in self.layers:
            y = layer(y)
        return y


def nested():
    return Body([After([Normed(2, dtype=jnp.bfloat16)]), nn.Dense(3)])


def handed():
    return Head(Body([Normed(5), nn.tanh]))


def handed_deeper():
    inside = After([Normed(4)])
    return Head(model=Body(parts=[inside, nn.relu]))
'''


STILL = ["asks", "asks_below", "without", "nested", "handed", "handed_deeper"]  # their statistics only move when asked for


@pytest.mark.parametrize("name", [*STILL, "mixed"])
def test_batch_statistics_of_the_items_are_updated_where_linen_does(name: str) -> None:
    text = HEAD + CHAIN + MODES
    result = _migrated(text)
    assert {c.qualname: c.reason for c in result.classes if c.outcome != "native"} == {}
    for path, created in result.created.items():
        _module(path.stem, created)
    linen, native = (_module(f"moded_{i}", side)[name]() for i, side in enumerate((text, result.files[0].after or "")))
    x = jnp.asarray(np.random.RandomState(0).randn(4, 3), jnp.float32)
    variables = linen.init(jax.random.key(0), x)
    drawn = native.init(jax.random.key(0), x)
    assert jax.tree.map(jnp.shape, drawn) == jax.tree.map(jnp.shape, variables)
    jax.tree.map(np.testing.assert_array_equal, drawn.get("batch_stats"), variables.get("batch_stats"))
    assert ("batch_stats" in variables) == (name != "without")
    for _ in range(2):
        (left, of_linen), (right, of_native) = (m.apply(variables, x, mutable=["batch_stats"]) for m in (linen, native))
        np.testing.assert_allclose(left, right, rtol=1e-6)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), dict(of_linen), dict(of_native))
        variables = {**variables, **of_linen}
        if name in STILL:
            np.testing.assert_allclose(linen.apply(variables, x), native.apply(variables, x), rtol=1e-6)


def test_chains_that_are_handed_each_other_have_what_both_hold() -> None:
    text = HEAD + CHAIN + MODES + "\n\ndef turn(more):\n    inner = After([nn.Dense(2), *more])\n    return Body([inner])\n"
    text += "\n\ndef round():\n    return After([Body([After([Normed(3)])]), nn.Dense(2)])\n"
    plans = {c.qualname: c for c in _migrated(text).classes}
    for name in ("Body", "After"):
        plan = plans[f"chained.{name}"]
        assert plan.outcome != "native" or "Normed" in plan.modes, name


def test_a_chain_that_an_earlier_run_left_stays_as_it_is() -> None:
    text = HEAD + CHAIN + "class Late(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
    text += "        self.sow('losses', 'sum', x.sum())\n        return nn.Dense(2)(x)\n\n\n"
    text += "def make():\n    return Chain([Late(), nn.Dense(3)])\n"
    first = _migrated(text)
    plan = {c.qualname: c for c in first.classes}["chained.Chain"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX127"), plan.reason
    after = first.files[0].after or text
    assert _migrated(after).files[0].after == after
