"""Arguments of modules that ask whether the call is given an array: `Block(cross=context is not None)` (NNX189)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

NETS = """from typing import Any
from flax import linen as nn


class Block(nn.Module):
    cross: bool = True

    @nn.compact
    def __call__(self, x, context=None):
        y = nn.Dense(4)(x)
        if self.cross and context is not None:
            y = y + nn.Dense(4)(context)
        return nn.Dense(4)(y)


class Scaled(nn.Module):
    by: float
    act: Any = nn.relu

    @nn.compact
    def __call__(self, x):
        return self.act(nn.Dense(3)(x)) * self.by


class Stack(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x, context=None):
        for _ in range(self.depth):
            x = Block(cross=context is not None)(x, context)
        return nn.Dense(2)(x)


class Around(nn.Module):
    @nn.compact
    def __call__(self, x, context=None):
        return Stack()(x, context)


class Sizes(nn.Module):
    @nn.compact
    def __call__(self, x, context=None):
        given = context is not None
        x = nn.Dense(4 if given else 8)(x)
        if given:
            x = x + nn.Dense(4)(context)
        return nn.Dense(4)(x)


class Options(nn.Module):
    plain: bool = True

    @nn.compact
    def __call__(self, x, context=None, train: bool = False):
        x = nn.Dense(4, use_bias=self.plain and context is None)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9 if context is None else 0.99)(x)
        return nn.LayerNorm(epsilon=1e-6 if context is None else 0.5)(x)


class Kinds(nn.Module):
    @nn.compact
    def __call__(self, x, context=None):
        scaled = Scaled(2.0 if context is None else 0.5, act=nn.relu if context is None else nn.tanh)
        return scaled(x)


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x, context=None, mask=None):
        x = nn.Dense(4)(x)
        block = Block(cross=(context is not None) and (mask is None), name="block")
        return block(block(x, context), context)


class Helped(nn.Module):
    def part(self, x, context):
        return Block(cross=False if context is None else True)(x, context)

    @nn.compact
    def __call__(self, x, context=None):
        return self.part(self.part(x, context), context)
"""
NAMES = ["Stack", "Around", "Sizes", "Options", "Kinds", "Twice", "Helped"]


def _arrays(given: bool) -> list[Any]:
    draw = np.random.default_rng(0).normal
    return [jnp.asarray(draw(size=size), jnp.float32) for size in ((2, 3), (2, 5))[: 1 + given]]


def _made(after: Any, name: str, given: bool) -> Any:
    sizes = {"context_features": 5 if given else None} if name != "Kinds" else {}
    if name == "Twice":
        sizes["mask_features"] = None
    return getattr(after, name)(in_features=3, **sizes, rngs=nnx.Rngs(0))


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_the_constructor_asks_for_the_size(name: str, given: bool) -> None:
    before, after = both_sides("asked_presence", NETS)
    linen, inputs = getattr(before, name)(), _arrays(given)
    variables = linen.init(jax.random.key(0), *inputs)
    new = _made(after, name, given)
    assert compat.check_equivalence(linen, variables, new, *inputs)
    compat.from_linen(variables, new)
    said = linen.apply(variables, *inputs)
    np.testing.assert_allclose(nnx.jit(lambda model, *given: model(*given))(new, *inputs), said, rtol=1e-5, atol=1e-6)
    graph, state = nnx.split(new)
    np.testing.assert_allclose(nnx.merge(graph, state)(*inputs), said, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", ["Stack", "Around", "Sizes", "Options", "Helped"])
def test_a_call_that_answers_otherwise_raises(name: str, given: bool) -> None:
    _, after = both_sides("asked_presence", NETS)
    new = _made(after, name, given)
    with pytest.raises(ValueError, match=r"was made with .* and this call gives it"):
        new(*_arrays(not given))


def test_what_only_the_call_computes_with_is_lent() -> None:
    before, after = both_sides("asked_presence", NETS)
    new, linen = _made(after, "Kinds", False), before.Kinds()
    variables = linen.init(jax.random.key(0), *_arrays(False))
    compat.from_linen(variables, new)
    for given in (True, False, True):
        np.testing.assert_allclose(new(*_arrays(given)), linen.apply(variables, *_arrays(given)), rtol=1e-6, atol=1e-6)


def _plan(body: str, options: Options | None = None) -> tuple[Any, list[str]]:
    text = NETS + "\n\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, context=None):\n"
    text += "".join(f"        {line}\n" for line in body.splitlines())
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)], options or Options())
    said = [d.code for file in result.files for d in file.diagnostics]
    return next(plan for plan in result.classes if plan.qualname == "net.Net"), said


def test_the_report_says_so() -> None:
    plan, said = _plan("return Block(cross=context is not None)(x, context)")
    assert str(plan.outcome) == "native" and "NNX189" in said


@pytest.mark.parametrize(
    "body",
    [
        "return nn.remat(Block)(cross=context is not None)(x, context)",
        "return nn.Sequential([Block(cross=context is not None), nn.relu])(x)",
        "return nn.Dense(3, kernel_init=nn.initializers.normal(1.0 if context is None else 2.0))(x)",
        "return nn.Dense(3, use_bias=context is None and x.mean() > 0)(x)",
    ],
)
def test_what_is_not_asked_where_it_is_called_stays_linen(body: str) -> None:
    plan, _ = _plan(body)
    assert str(plan.outcome) == "bridged" and plan.code in ("NNX113", "NNX130", "NNX132"), (plan.outcome, plan.reason)
