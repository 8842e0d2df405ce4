"""Factories in fields that nothing gives are taken for what their names and calls say (NNX188)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.compat.errors import MismatchError
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

PATCHES = """from typing import Any, Callable, Optional
from flax import linen as nn


class Compact(nn.Module):
    width: int = 4
    norm_layer: Optional[Callable] = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        if self.norm_layer is not None:
            x = self.norm_layer()(x)
        return nn.Dense(3)(x)


class Kept(nn.Module):
    width: int = 4
    norm_layer: Callable | None = None

    def setup(self):
        self.proj = nn.Dense(self.width)
        self.norm = self.norm_layer() if self.norm_layer else None

    def __call__(self, x):
        x = self.proj(x)
        return x if self.norm is None else self.norm(x)


class OrNothing(nn.Module):
    width: int = 4
    norm_layer: Any = None

    def setup(self):
        self.proj = nn.Dense(self.width)
        self.norm = self.norm_layer() if self.norm_layer is not None else lambda x: x

    def __call__(self, x):
        return self.norm(self.proj(x))


class Both(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Compact(4)(Kept(width=5)(x))
"""
RMS = (nn.RMSNorm, nnx.RMSNorm)
NORMS = [None, (nn.LayerNorm, nnx.LayerNorm), RMS, (nn.LayerNorm, nnx.LayerNorm, {"epsilon": 1e-3})]


@pytest.mark.parametrize(
    ("name", "given"),
    [(name, given) for name in ("Compact", "Kept", "OrNothing") for given in NORMS if (name, given) != ("Compact", RMS)],
)  # Linen calls that one RMSNorm_0
def test_norms_that_nothing_gives(name: str, given: Any) -> None:
    before, after = both_sides("patches_of_norms", PATCHES)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)
    makers = [None, None] if given is None else [functools.partial(made, **dict(*given[2:])) for made in given[:2]]
    linen = getattr(before, name)(norm_layer=makers[0])
    variables = linen.init(jax.random.key(0), x)
    new = getattr(after, name)(norm_layer=makers[1], in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x)


def test_a_class_that_uses_them_is_native() -> None:
    before, after = both_sides("patches_of_norms", PATCHES)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)
    linen = before.Both()
    new = after.Both(in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(0), x), new, x)


def test_another_name_is_refused_when_a_checkpoint_is_loaded() -> None:
    before, after = both_sides("patches_of_norms", PATCHES)
    x = jnp.ones((2, 3))
    variables = before.Compact(norm_layer=nn.RMSNorm).init(jax.random.key(0), x)
    new = after.Compact(norm_layer=nnx.RMSNorm, in_features=3, rngs=nnx.Rngs(0))
    with pytest.raises(MismatchError, match="RMSNorm_0"):
        compat.from_linen(variables, new)


def test_what_is_called_otherwise_fails_when_it_is_made() -> None:
    _, after = both_sides("patches_of_norms", PATCHES)
    with pytest.raises(TypeError):
        after.Kept(norm_layer=lambda: nnx.LayerNorm(4, rngs=nnx.Rngs(0)), in_features=3, rngs=nnx.Rngs(0))


BLOCK = """from typing import Any, Callable
from flax import linen as nn


class Block(nn.Module):
    features: int
    conv: Any
    norm: Any
    act: Callable
    strides: tuple = (1, 1)

    @nn.compact
    def __call__(self, x, train: bool = False):
        y = self.conv(self.features, (3, 3), self.strides)(x)
        y = self.act(self.norm(use_running_average=not train)(y))
        y = self.conv(self.features, (3, 3))(y)
        y = self.norm(use_running_average=not train, scale_init=nn.initializers.zeros)(y)
        if x.shape != y.shape:
            x = self.conv(self.features, (1, 1), self.strides, name="conv_proj")(x)
            x = self.norm(use_running_average=not train, name="norm_proj")(x)
        return self.act(x + y)


class Wide(nn.Module):
    linear: Callable
    width: int = 5

    @nn.compact
    def __call__(self, x):
        return self.linear(self.width, name="up")(x)
"""


@pytest.mark.parametrize("strides", [(1, 1), (2, 2)])
@pytest.mark.parametrize("features", [3, 4])
def test_blocks_that_nothing_constructs(features: int, strides: tuple[int, int]) -> None:
    before, after = both_sides("block_of_factories", BLOCK)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 8, 8, 3)), jnp.float32)
    linen = before.Block(features, functools.partial(nn.Conv, use_bias=False), nn.BatchNorm, nn.relu, strides)
    variables = linen.init(jax.random.key(0), x)
    conv = functools.partial(nnx.Conv, use_bias=False)
    new = after.Block(features, conv, nnx.BatchNorm, nnx.relu, strides, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x)
    compat.from_linen(variables, new)
    said, changed = linen.apply(variables, x, train=True, mutable=["batch_stats"])
    np.testing.assert_allclose(said, new(x, train=True), rtol=1e-5, atol=1e-5)
    jax.tree.map(np.testing.assert_allclose, compat.to_linen(new)["batch_stats"], changed["batch_stats"])


def test_dense_layers_that_nothing_gives() -> None:
    before, after = both_sides("block_of_factories", BLOCK)
    x, linen = jnp.ones((2, 3)), before.Wide(nn.Dense)
    new = after.Wide(nnx.Linear, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(0), x), new, x)


def _plan(text: str, name: str, options: Options | None = None) -> tuple[Any, list[str]]:
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)], options or Options())
    said = [d.code for file in result.files for d in file.diagnostics]
    return next(plan for plan in result.classes if plan.qualname == f"net.{name}"), said


def test_the_report_says_what_was_taken() -> None:
    plan, said = _plan(PATCHES, "Compact")
    assert str(plan.outcome) == "native" and said.count("NNX188") == 3
    plan, said = _plan(PATCHES, "Compact", Options(ignore=("NNX188",)))
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX138") and "NNX188" not in said


LEFT = {
    "it_is_given_something": "\n\ndef make(norms):\n    return Compact(norm_layer=norms())\n",
    "it_is_given_by_place": "\n\ndef make(norms):\n    return Compact(4, norms())\n",
    "it_is_given_keywords": "\n\ndef make(options):\n    return Compact(**options)\n",
    "it_is_handed_on": "\n\ndef make(build, norms):\n    return build(Compact, norms())\n",
    "it_is_looked_up": "\n\ndef make(norms):\n    return globals()['Compact'](4, norms())\n",
}


@pytest.mark.parametrize("use", LEFT)
def test_fields_that_some_code_may_fill_stay(use: str) -> None:
    plan, _ = _plan(PATCHES + LEFT[use], "Compact")
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX138"), plan.reason


@pytest.mark.parametrize(
    ("change", "to"),
    [
        (("self.norm_layer()(x)", "self.norm_layer(self.width)(x)"), "NNX138"),
        (("norm_layer", "head"), "NNX138"),
        (("self.norm_layer()(x)", "self.norm_layer(groups=2)(x)"), "NNX138"),
        (("Optional[Callable]", "str"), "NNX138"),
    ],
)
def test_what_name_and_call_do_not_say_stays(change: tuple[str, str], to: str) -> None:
    plan, _ = _plan(PATCHES[: PATCHES.index("class Kept")].replace(*change), "Compact")
    assert (str(plan.outcome), plan.code) == ("bridged", to), plan.reason


TWO_NORMS = """from typing import Callable, Optional
from flax import linen as nn


class Patches(nn.Module):
    norm_layer: Optional[Callable] = None
    bn: Optional[Callable] = None
    conv_layer: Callable = None

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(4)(x)
        if self.norm_layer:
            x = self.norm_layer(name="norm")(x)
        if self.bn is not None:
            bn = self.bn(name="bn")
            x = bn(x, use_running_average=not train)
        if self.conv_layer is not None:
            x = self.conv_layer(4, kernel_size=(3,), name="conv")(x)
        return x
"""


@pytest.mark.parametrize("name", ["norm_layer", "bn", "conv_layer", "nothing"])
def test_each_field_is_told_by_its_own_calls(name: str) -> None:
    before, after = both_sides("two_norms", TWO_NORMS)
    kinds = {"norm_layer": "LayerNorm", "bn": "BatchNorm", "conv_layer": "Conv"}
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, 3)), jnp.float32)
    linen = before.Patches(**{name: getattr(nn, kinds[name])} if name in kinds else {})
    given = {name: getattr(nnx, kinds[name])} if name in kinds else {}
    new = after.Patches(**given, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(0), x), new, x)


BY_DEFAULT = """from typing import Any, Callable, Optional
from flax import linen as nn


class Patches(nn.Module):
    width: int = 4
    norm_layer: Optional[Callable] = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        return self.norm_layer()(x) if self.norm_layer else x


class Net(nn.Module):
    norm: Any
    embed_layer: Any = Patches

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.embed_layer(width=6{more})(x))
"""


def test_a_class_that_another_makes_by_default() -> None:
    before, after = both_sides("patches_by_default", BY_DEFAULT.format(more=""))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)
    linen, new = before.Net(None), after.Net(None, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(0), x), new, x)
    plan, _ = _plan(BY_DEFAULT.format(more=", norm_layer=self.norm"), "Patches")
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX138"), plan.reason
