"""Modules that reach a field without a type by way of tables, objects and functions: both sides print the same."""

from __future__ import annotations

import pytest

from ..training.printing_sides import check

HEAD = """
from typing import Any, Callable, NamedTuple
import dataclasses, functools, types
import jax, jax.numpy as jnp
from flax import linen as nn


class Part(nn.Module):
    n: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n, kernel_init=nn.initializers.constant(0.3))(x)


class Holder(nn.Module):
    part: Any
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return jnp.tanh(self.part(x)) * self.width


class Several(nn.Module):
    parts: Any

    @nn.compact
    def __call__(self, x, name="a"):
        return self.parts[name](x)


x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
"""
TAIL = """
params = h.init(jax.random.key(0), x)["params"]
loss, grads = jax.value_and_grad(lambda p: (h.apply({"params": p}, x) ** 2).mean())(params)
print(sorted(params), float(loss), float(sum(jnp.abs(g).sum() for g in jax.tree.leaves(grads))))
"""
WAYS = {
    "comprehension": """infos = dict(a=(Part(3), x), b=(Part(2), x))
h = Several({k: v[0] for k, v in infos.items()})
""",
    "attribute of a namespace": "cfg = types.SimpleNamespace(part=Part(3))\nh = Holder(cfg.part)\n",
    "set by its name": "cfg = types.SimpleNamespace()\nsetattr(cfg, 'part', Part(3))\nh = Holder(getattr(cfg, 'part'))\n",
    "dataclass": """@dataclasses.dataclass
class Config:
    part: Any
    n: int = 2
def make(config):
    return Holder(config.part, width=config.n)
h = make(Config(Part(3)))
""",
    "default of a dataclass": """@dataclasses.dataclass
class Config:
    part: Any = dataclasses.field(default_factory=lambda: Part(3))
h = Holder(Config().part)
""",
    "named tuple": """class Config(NamedTuple):
    net: Any
    n: int = 2
net, n = Config(Part(3), 4)
h = Holder(part=net, width=n)
""",
    "attribute of a class": "class Config:\n    part = Part(3)\nh = Holder(part=Config.part)\n",
    "property": "class Config:\n    @property\n    def part(self):\n        return Part(3)\nh = Holder(Config().part)\n",
    "method": "class Config:\n    def build(self, n):\n        return Part(n)\nh = Holder(Config().build(3))\n",
    "generator": "def pieces():\n    yield Part(3)\nh = Holder(next(pieces()))\n",
    "keywords": "def make(**kw):\n    return Holder(**kw)\nh = make(part=Part(3), width=2)\n",
    "map": "h = Holder(list(map(lambda n: Part(n), [3]))[0])\n",
    "one of several": "h = Holder(max([Part(3), Part(2)], key=lambda m: m.n))\n",
    "reduce": "def make(all_):\n    return Holder(functools.reduce(lambda a, b: b, all_))\nh = make([Part(2), Part(3)])\n",
    "copy with another field": "h = Holder(Part(2).clone(n=3))\n",
    "or": "p = None\nh = Holder(p or Part(3))\n",
    "put into a table": "table = {}\ntable.setdefault('a', Part(3))\nh = Holder(table['a'])\n",
    "registered": """table = {}
def register(name):
    def wrap(f):
        table[name] = f
        return f
    return wrap
@register("a")
def part(n):
    return Part(n)
h = Holder(table["a"](3))
""",
}
FUNCTIONS = """
table = {"a": Part(3), "b": jnp.tanh}
for name in table:
    h = Holder(table.get(name))
    params = h.init(jax.random.key(0), x).get("params", {})
    print(sorted(params), float(h.apply({"params": params}, x).sum()))
"""
# What a class reads off a configuration that holds a module elsewhere is none.
CONFIGURED = """
class Net(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.config.width, kernel_init=nn.initializers.constant(0.3))(x)


config = types.SimpleNamespace(width=4)
config.head = Part(3)
h = Net(config)
params = h.init(jax.random.key(0), x)["params"]
print(float(h.apply({"params": params}, x).sum()))
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("way", WAYS)
def test_modules_reach_a_field(way: str, jit: str) -> None:
    text = HEAD + WAYS[way] + TAIL
    _, after = check(f"holders_{way.replace(' ', '_')}_{jit}", text, jit)
    assert "class Holder(nnx.Module)" in after


def test_a_field_may_hold_a_function_as_well() -> None:
    check("holders_functions", HEAD + FUNCTIONS, "nnx")


def test_a_configuration_is_read() -> None:
    _, after = check("holders_configured", HEAD + CONFIGURED, "nnx")
    assert "class Net(nnx.Module)" in after and "call_example" not in after
