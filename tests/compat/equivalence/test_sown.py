"""Sown values: NNX keeps them in the model, Linen hands them back or drops them; neither makes the modules different."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn
from flax import nnx
from flax.core import FrozenDict
from nnx_migrate import compat

X = jnp.ones((2, 3))


class Sows(nn.Module):
    name_: str = "h"
    scale: float = 1.0

    @nn.compact
    def __call__(self, x: Any) -> Any:
        h = nn.Dense(3, name="d")(x)
        self.sow("intermediates", self.name_, h * self.scale)
        return h * 2


class Native(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.d = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        h = self.d(x)
        self.sow(nnx.Intermediate, "h", h * 1.0)
        return h * 2


def forward(linen: nn.Module, native: Any, *mutable: str) -> Any:
    variables = {"params": linen.init(jax.random.key(0), X)["params"]}
    return compat.check_equivalence(linen, variables, native(nnx.Rngs(0)), X, mutable=mutable)["forward"]


@pytest.mark.parametrize("mutable", [(), ("intermediates",)], ids=["dropped", "handed back"])
def test_the_same_values(mutable: tuple[str, ...]) -> None:
    found = forward(Sows(), Native, *mutable)
    assert found.verdict.value == "proved" and found.detail.startswith("4 outputs"), found.detail


def test_other_values_and_other_names_are_seen() -> None:
    found = forward(Sows(scale=3.0), Native)
    assert found.verdict.value == "different" and "intermediates/h/0" in found.detail, found.detail
    found = forward(Sows(name_="g"), Native)
    assert found.verdict.value == "different", found.detail
    assert "only Linen has intermediates/g/0; only NNX has new state/('h', 0)" in found.detail, found.detail


class Layer(nn.Module):
    @nn.compact
    def __call__(self, c: Any, _: Any) -> Any:
        c = nn.Dense(3, name="d")(c)
        self.sow("intermediates", "h", c)
        return c, None


class Stack(nn.Module):
    axes: FrozenDict[str, int]

    @nn.compact
    def __call__(self, x: Any) -> Any:
        make = nn.scan(Layer, variable_axes=self.axes, split_rngs={"params": True}, length=3)
        return make(name="s")(x, None)[0]


class NativeLayer(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.d = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, c: Any) -> Any:
        c = self.d(c)
        self.sow(nnx.Intermediate, "h", c)
        return c


class NativeStack(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.s = nnx.vmap(lambda r: NativeLayer(r), in_axes=0, out_axes=0)(rngs.fork(split=3))

    def __call__(self, x: Any) -> Any:
        return nnx.scan(lambda c, m: m(c), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, self.s)


@pytest.mark.parametrize("kept", [False, True])
def test_under_a_scan_that_leaves_the_collection_out(kept: bool) -> None:
    axes = FrozenDict({"params": 0, **({"intermediates": 0} if kept else {})})
    for mutable in ((), ("intermediates",)):
        found = forward(Stack(axes), NativeStack, *mutable)
        assert found.verdict.value == "proved", found.detail
        assert found.detail.startswith("4 outputs" if kept else "3 outputs"), found.detail


def test_what_earlier_calls_have_sown_is_no_part_of_the_model() -> None:
    linen, native = Sows(), Native(nnx.Rngs(0))
    native(X)
    native(X)
    variables = {"params": linen.init(jax.random.key(0), X)["params"]}
    found = compat.check_equivalence(linen, variables, native, X)
    assert found["forward"].verdict.value == "proved", found["forward"].detail
    assert len(native.h.get_value()) == 2  # and the model that was given keeps it


class SowsTrees(nn.Module):
    scale: float = 1.0

    @nn.compact
    def __call__(self, x: Any) -> Any:
        h = nn.Dense(3, name="d")(x)
        self.sow("intermediates", "h", {"a": h, "b": (x, h * self.scale)})
        return h


class NativeTrees(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.d = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        h = self.d(x)
        self.sow(nnx.Intermediate, "h", {"a": h, "b": (x, h * 1.0)})
        return h


@pytest.mark.parametrize("mutable", [(), ("intermediates",)], ids=["dropped", "handed back"])
def test_trees_are_compared_leaf_by_leaf(mutable: tuple[str, ...]) -> None:
    assert forward(SowsTrees(), NativeTrees, *mutable).verdict.value == "proved"
    found = forward(SowsTrees(scale=3.0), NativeTrees, *mutable)
    assert found.verdict.value == "different" and "intermediates/h/0/b/1" in found.detail, found.detail
