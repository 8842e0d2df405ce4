"""Functions that make layers for whoever calls them, given to fields by code outside of modules; names around classes."""

from __future__ import annotations

import pytest

from ..training import printing_sides
from .loading import migrated

HEAD = """import functools
from typing import Any, Callable

import jax
import jax.numpy as jnp
from flax import linen as nn

ones = nn.initializers.constant(0.3)


def build(x, width=4):
    return jnp.tanh(nn.Dense(width, kernel_init=ones)(x))


def build_named(x):
    layer = nn.Dense(5, kernel_init=ones)
    return layer(x)


def through(x):
    return build(x, 3) + 1


def layer(width):
    def build(x):
        return nn.Dense(width, kernel_init=ones)(x)

    return build


BLOCKS = {"wide": build, "plain": jnp.tanh}


class Uses(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=ones)(layer(5)(through(build(x))))


class Net(nn.Module):
    fn: Any = None
    more: Any = jnp.tanh

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=ones)(self.more(self.fn(x)))


class Wider(Net):
    last: int = 2

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.last, kernel_init=ones)(super().__call__(x))


x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
uses = Uses()
print(uses.apply(uses.init(jax.random.key(0), x), x))


def run(net):
    variables = net.init(jax.random.key(0), x)
    print(net.apply(variables, x), sorted(variables["params"]))
"""
GIVEN = {
    "a function": "run(Net(build))",
    "by its keyword": "run(Net(more=build_named, fn=jnp.tanh))",
    "a partial": "run(Net(functools.partial(build, width=3)))",
    "a closure": "run(Net(layer(6)))",
    "a lambda": "run(Net(lambda x: nn.Dense(6, kernel_init=ones)(x)))",
    "an item of a table": 'run(Net(BLOCKS["wide"]))',
    "a name for it": "block = build\nrun(Net(block))",
    "one that calls another": "run(Net(through))",
    "one of two": "run(Net(build if x.ndim == 2 else jnp.tanh))",
    "by a partial of the class": "make = functools.partial(Net, fn=build)\nrun(make())",
    "to a derived class": "run(Wider(build))\nrun(Net(jnp.tanh))",
    "of a field more": "class More(Net):\n    fn: Any = build\n\n\nrun(More())\nrun(Net(jnp.sin))",
}


@pytest.mark.parametrize("case", GIVEN)
def test_both_sides_print_the_same(case: str) -> None:
    stem = "given_makers_" + case.replace(" ", "_")
    printing_sides.check(stem, f"{HEAD}\n\n{GIVEN[case]}\n", "nnx")


def test_the_class_that_is_given_one_says_so() -> None:
    program = HEAD.replace("self.more(self.fn(x))", "self.fn(x[:, :4])").replace("1, kernel", "1, use_bias=False, kernel")
    program += "\n\nrun(Net(functools.partial(build, width=3)))\n"
    plan = next(c for c in migrated({"m": program}).classes if c.qualname == "m.Net")
    assert plan.code in ("NNX110", "NNX135"), plan.reason


NAMES = """import jax
import jax.numpy as jnp
from flax import linen as nn

ones = nn.initializers.constant(0.3)
width = 2


def plain(width=6):
    class Inner(nn.Module):
        @nn.compact
        def __call__(self, x):
            return jnp.tanh(nn.Dense(width, kernel_init=ones)(x))

    return Inner()


def by_default(**kw):
    width = kw.get("width", 5)

    class Inner(nn.Module):
        hidden: int = width

        @nn.compact
        def __call__(self, x):
            return jnp.tanh(nn.Dense(self.hidden, kernel_init=ones)(x))

    return Inner()


def by_keywords(width=1, **kw):
    class Inner(nn.Module):
        hidden: int = kw.get("width", 5)

        @nn.compact
        def __call__(self, x):
            return jnp.tanh(nn.Dense(self.hidden, kernel_init=ones)(x))

    return Inner()


def within(width=7):
    class Inner(nn.Module):
        hidden: int = width

        @nn.compact
        def __call__(self, x):
            return jnp.tanh(nn.Dense(self.hidden, kernel_init=ones)(x))

    class Outer(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(3, kernel_init=ones)(Inner()(x))

    return Outer()


def derived(width=7):
    class Base(nn.Module):
        extra: int = 1

        def setup(self):
            self.first = nn.Dense(width + self.extra, kernel_init=ones)

        def __call__(self, x):
            return self.first(x)

    class Inner(Base):
        more: int = 3

        def setup(self):
            super().setup()
            self.second = nn.Dense(self.more, kernel_init=ones)

        def __call__(self, x):
            return self.second(super().__call__(x))

    return Inner()


class Net(nn.Module):
    inner: nn.Module
    heads: dict

    @nn.compact
    def __call__(self, x):
        h = self.inner(x)
        return {k: nn.Dense(n, kernel_init=ones, name=f"head_{k}")(h) for k, n in self.heads.items()}


x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
net = Net(MAKE, {"a": 1, "b": 2})
variables = net.init(jax.random.key(0), x)
print({k: v.sum() for k, v in net.apply(variables, x).items()})
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("make", ["plain()", "by_default()", "by_keywords()", "within()", "derived()"])
def test_names_of_the_function_around_a_class_mean_nothing_elsewhere(make: str, jit: str) -> None:
    stem = f"names_around_{make[:-2]}_{jit}"
    _, after = printing_sides.check(stem, NAMES.replace("MAKE", make), jit)
    assert "__of__" not in after
