"""Functions that modules keep, of which each pass of a loop gives another: `Block(fn=lambda y: scale * y)(x)`.

A constructor's loop is over when they are called: all would read what its last pass had.
"""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """from typing import Callable
import jax
import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    fn: Callable

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4)(x)
        return nn.Dense(4)(h) + jnp.sum(self.fn(h))


class Started(nn.Module):
    kernel_init: Callable

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, kernel_init=self.kernel_init)(x)


def make(scale):
    return Block(fn=lambda y: scale * y)


def started(scale):
    def init(key, shape, dtype=jnp.float32):
        return jax.random.uniform(key, shape, dtype, scale, scale + 1)

    return nn.Dense(4, kernel_init=init)


class Net(nn.Module):
    scales: tuple = (1.0, 2.0, 3.0)

"""
PART = """    def part(self, x, scale):
        return Block(fn=lambda y: scale * y)(x)

"""
NAMED = """    def part(self, x, scale):
        def fn(y):
            return scale * y

        return Block(fn=fn)(x)

"""
COMPACT = "    @nn.compact\n    def __call__(self, x):\n"
LOOP = "for scale in self.scales:\n    "
BODIES = {
    "a_lambda": f"{LOOP}x = Block(fn=lambda y: scale * y)(x)\nreturn x",
    "under_a_name": f"{LOOP}fn = lambda y: scale * y\n    x = Block(fn=fn)(x)\nreturn x",
    "of_a_counter": "for i in range(3):\n    x = Block(lambda y: i * y)(x)\nreturn x",
    "a_function": f"{LOOP}def fn(y):\n        return scale * y\n    x = Block(fn)(x)\nreturn x",
    "a_comprehension": "return sum([Block(fn=lambda y: scale * y)(x) for scale in self.scales])",
    "changed_behind": "scale = 1.0\nx = Block(lambda y: scale * y)(x)\nscale = 5.0\nreturn Block(lambda y: scale * y)(x)",
    "of_a_method": f"{LOOP}x = self.part(x, scale)\nreturn x",
    "named_in_a_method": f"{LOOP}x = self.part(x, scale)\nreturn x",
    "of_an_inner_function": "def inner(x, scale):\n    fn = lambda y: scale * y\n    return Block(fn)(x)\n"
    f"{LOOP}x = inner(x, scale)\nreturn x",
    "made_by_a_call": f"def act(scale):\n    return lambda y: scale * y\n{LOOP}x = Block(act(scale))(x)\nreturn x",
}


def _text(body: str, head: str = COMPACT) -> str:
    return HEAD + head + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("kind", BODIES)
def test_each_pass_calls_its_own(kind: str) -> None:
    methods = {"of_a_method": PART, "named_in_a_method": NAMED}.get(kind, "")
    before, after = both_sides(f"functions_{kind}", _text(BODIES[kind], methods + COMPACT))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4)), jnp.float32)
    linen = before.Net()
    variables = linen.init(jax.random.key(0), x)
    new = after.Net(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, new)
    np.testing.assert_allclose(new(x), linen.apply(variables, x), rtol=1e-5, atol=1e-5)


STARTED = {
    "of_a_class": f"{LOOP}x = Started(lambda *a: jax.random.uniform(*a, scale, scale + 1))(x)\nreturn x",
    "of_a_helper": f"{LOOP}x = started(scale)(x)\nreturn x",
    "of_a_layer": f"{LOOP}x = nn.Dense(4, kernel_init=lambda *a: jax.random.uniform(*a, scale, scale + 1))(x)\nreturn x",
}


@pytest.mark.parametrize("kind", STARTED)
def test_what_layers_start_from_is_read_at_once(kind: str) -> None:
    before, after = both_sides(f"starting_{kind}", _text(STARTED[kind]))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 4)), jnp.float32)
    linen, new = before.Net(), after.Net(in_features=4, rngs=nnx.Rngs(0))
    variables = linen.init(jax.random.key(0), x)
    for made in (variables["params"], compat.to_linen(new)["params"]):
        lowest = sorted(int(v.min()) for v in jax.tree.leaves(made) if v.ndim == 2)
        assert lowest == [1, 2, 3]
    assert compat.check_equivalence(linen, variables, new, x)


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (f"{LOOP}x = make(scale)(x)\nreturn x", COMPACT),
        ("return sum([make(scale)(x) for scale in self.scales])", COMPACT),
        (f"{LOOP}x = nn.remat(Block)(lambda y: scale * y)(x)\nreturn x", COMPACT),
        (f"{LOOP}x = nn.LSTMCell(4, activation_fn=lambda y: scale * y)((x, x), x)[1]\nreturn x", COMPACT),
        ("self.blocks = [make(scale) for scale in self.scales]", "    def setup(self):\n"),
    ],
)
def test_what_no_call_can_lend_stays_linen(body: str, head: str) -> None:
    text = _text(body, head)
    if head != COMPACT:
        text += "\n    def __call__(self, x):\n        for one in self.blocks:\n            x = one(x)\n        return x\n"
    plans = migrate_project([SourceFile.parse(Path("net.py"), "net", text)]).classes
    net = next(plan for plan in plans if plan.qualname == "net.Net")
    assert (str(net.outcome), net.code) == ("bridged", "NNX113"), net.reason
