"""One of several modules that a method makes for several calls, each with flags of its own: a call is given its own."""

from __future__ import annotations

import pytest

from ..training import printing_sides

PROGRAM = """import functools

import jax
import jax.numpy as jnp
from flax import linen as nn

ones = nn.initializers.constant(0.3)


class Net(nn.Module):
    batch: bool = True

    def norm(self, name, train):
        batch = functools.partial(nn.BatchNorm, use_running_average=not train)
        return (batch if self.batch else nn.LayerNorm)(name=name)

    @nn.compact
    def __call__(self, x, train: bool = False):
BODY


x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
for batch in (True, False):
    net = Net(batch)
    variables = net.init(jax.random.key(0), x)
    for train in (False, True):
        out, updated = net.apply(variables, x, train, mutable=["batch_stats"])
        print(batch, train, out, sum(jnp.abs(a).sum() for a in jax.tree.leaves(updated)))
"""
BODIES = {
    "the first one trains": """        x = self.norm("a", train)(nn.Dense(4, kernel_init=ones)(x))
        return self.norm("b", False)(x)""",
    "the last one trains": """        x = self.norm("a", False)(nn.Dense(4, kernel_init=ones)(x))
        return self.norm("b", train)(x)""",
    "the second one does not": """        x = self.norm("a", train)(nn.Dense(4, kernel_init=ones)(x))
        x = self.norm("b", False)(x * x)
        return self.norm("c", train)(x + 1)""",
    "under names": """        first, second = self.norm("a", train), self.norm("b", train)
        return second(first(nn.Dense(4, kernel_init=ones)(x)) ** 2)""",
}


@pytest.mark.parametrize("body", BODIES)
def test_each_call_has_its_own_flags(body: str) -> None:
    stem = "choices_of_several_calls_" + body.replace(" ", "_")
    printing_sides.check(stem, PROGRAM.replace("BODY", BODIES[body]), "nnx")
