"""One of several factories in fields, by a condition: `block = self.down if i > 0 and j == 0 else self.same`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

STAGES = """import functools
from typing import Any, Callable
from flax import linen as nn
import jax.numpy as jnp


class Block(nn.Module):
    filters: int
    conv: Any
    norm: Any
    down: bool

    @nn.compact
    def __call__(self, x):
        steps = (2, 2) if self.down else (1, 1)
        y = self.conv(self.filters, (3, 3), steps)(nn.swish(self.norm()(x)))
        if x.shape != y.shape:
            x = self.conv(self.filters, (1, 1), steps, name="shortcut")(x)
        return x + y


class Stages(nn.Module):
    training: bool
    same: Callable
    down: Callable
    sizes: tuple = (1, 2)

    @nn.compact
    def __call__(self, x):
        conv = functools.partial(nn.Conv, use_bias=False)
        norm = functools.partial(nn.BatchNorm, use_running_average=not self.training)
        for i, size in enumerate(self.sizes):
            for j in range(size):
                block = self.down if i > 0 and j == 0 else self.same
                x = block(filters=4 * 2**i, conv=conv, norm=norm)(x)
        return nn.Dense(3)(x.mean((1, 2)))


SMALL = functools.partial(Stages, same=functools.partial(Block, down=False), down=functools.partial(Block, down=True))
"""


@pytest.mark.parametrize("sizes", [(1, 2), (2, 1, 1), (1,)])
def test_blocks_of_two_fields_by_the_pass(sizes: tuple[int, ...]) -> None:
    before, after = both_sides("stages_of_fields", STAGES)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 8, 8, 3)), jnp.float32)
    linen = before.SMALL(training=False, sizes=sizes)
    variables = linen.init(jax.random.key(0), x)
    new = after.SMALL(training=False, sizes=sizes, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x)


HEAD = """import functools
from typing import Callable
from flax import linen as nn


class Plain(nn.Module):
    n: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.n)(x))


class Deep(nn.Module):
    n: int
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n, use_bias=self.bias)(nn.Dense(2 * self.n)(x))


class Net(nn.Module):
    first: Callable
    other: Callable
    use: bool = True
    depth: int = 3

    @nn.compact
    def __call__(self, x):
"""
MADE = """

def make(kind):
    thin, wide = functools.partial(Deep, bias=False), 8
    return Net({first}, {other})
"""
BODIES = {
    "by_a_pass": "for i in range(self.depth):\n    x = (self.first if i % 2 else self.other)(n=4 + i)(x)\nreturn x",
    "by_a_name": "kind = self.first if self.use else self.other\nx = kind(4)(x)\nreturn nn.Dense(2)(kind(5)(x))",
    "by_a_statement": "kind = self.first\nif not self.use:\n    kind = self.other\nreturn kind(n=4, name='body')(x)",
    "by_three": "for i in range(self.depth):\n    kind = self.first if i == 0 else self.other if i < 2 else Plain\n"
    "    x = kind(n=4 + i)(x)\nreturn x",
}


def _text(body: str, first: str, other: str) -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return HEAD + lines + MADE.format(first=first, other=other)


@pytest.mark.parametrize("use", [True, False])
@pytest.mark.parametrize("kinds", [("thin", "Deep"), ("Plain", "Deep"), ("thin", "Plain")])
@pytest.mark.parametrize("body", BODIES)
def test_modules_of_two_fields(body: str, kinds: tuple[str, str], use: bool) -> None:
    before, after = both_sides(f"chosen_{body}_{'_'.join(kinds)}", _text(BODIES[body], *kinds))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)

    def made(module: Any, **more: Any) -> Any:
        table = {"thin": functools.partial(module.Deep, bias=False), "Plain": module.Plain, "Deep": module.Deep}
        return module.Net(table[kinds[0]], table[kinds[1]], use=use, **more)

    linen = made(before)
    variables = linen.init(jax.random.key(0), x)
    new = made(after, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x)


def _net(text: str) -> Any:
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    return next(plan for plan in result.classes if plan.qualname == "net.Net")


@pytest.mark.parametrize("body", ["by_a_pass", "by_a_name"])
def test_fields_that_hold_several_kinds_stay_linen(body: str) -> None:
    text = _text(BODIES[body], "Plain", "Deep") + "    return Net(Deep, Plain)\n"  # Linen's names are others there
    plan = _net(text)
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX132"), plan.reason


@pytest.mark.parametrize("body", ["by_a_pass", "by_a_name"])
def test_fields_of_which_nothing_is_known_stay_linen(body: str) -> None:
    plan = _net(_text(BODIES[body], "*kind", "**kind"))
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX138"), plan.reason


LIFTED = """from typing import Any
from flax import linen as nn


class Net(nn.Module):
    one: Any = nn.Dense
    two: Any = nn.Dense
    remat: bool = False

    @nn.compact
    def __call__(self, x):
        layer = nn.remat(self.one) if self.remat else self.two
        return layer(4)(x)
"""


@pytest.mark.parametrize("remat", [True, False])
def test_one_field_under_remat_or_another(remat: bool) -> None:
    before, after = both_sides("fields_under_remat", LIFTED)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)
    linen, new = before.Net(remat=remat), after.Net(remat=remat, in_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(0), x), new, x)
