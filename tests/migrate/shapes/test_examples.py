"""Example inputs found in the project's own code."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.linen.evidence.examples import Examples, find_examples
from nnx_migrate.migrate.linen.project.classes import Classes
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.linen.values.values import Shape
from nnx_migrate.migrate.source import SourceFile

HEADER = """
import functools
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

class Net(nn.Module):
    features: int = 4

    @nn.compact
    def __call__(self, x, y=None, train=False):
        return nn.Dense(self.features)(x)

    @nn.compact
    def encode(self, z):
        return nn.Dense(self.features)(z)
"""


def read(**files: str) -> Examples:
    sources = [SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()]
    project = Project(sources)
    return find_examples(project, Classes(project))


@pytest.mark.parametrize(
    "code",
    [
        "Net().init(jax.random.key(0), jnp.ones((1, 28, 28, 3)))",
        "model = Net(8)\nvariables = model.init(jax.random.key(0), jnp.zeros([1, 28, 28, 3], jnp.float32))",
        "SIZE = 28\nshape = (1, SIZE, SIZE, 3)\nx = np.random.normal(size=shape)\nNet(8).init(key, x=x)",
        "model = Net()\njax.jit(model.init)(key, jnp.ones((1, 28, 28, 3)))",
        "model = Net()\njax.eval_shape(model.init, key, jax.ShapeDtypeStruct((1, 28, 28, 3), jnp.float32))",
        "init = functools.partial(Net().init, train=False)\njax.eval_shape(init, key, np.ones((1, 28, 28, 3)))",
        "def make():\n    return Net(3)\nmodel = make()\nmodel.apply(variables, jnp.ones((1, 28, 28, 3)), train=False)",
        "Big = functools.partial(Net, features=9)\nBig().init(key, jax.random.normal(key, (1, 28, 28, 3)))",
        "x = jnp.ones((28, 28, 3))\nNet().init_with_output(key, x[None])",
        "x = jnp.ones((1, 784 * 3)).reshape(1, 28, 28, 3)\nNet().init(key, x)",
        "print(Net().tabulate(key, jnp.ones((1, 28, 28, 3))))",
        "def setup(model, x):\n    return model.init(key, x)\nsetup(Net(), jnp.ones((1, 28, 28, 3)))",
        "model = Net()\n@jax.jit\ndef init(*args):\n    return model.init(*args)\ninit(key, jnp.ones((1, 28, 28, 3)))",
        "class Test:\n    def setUp(self):\n        self.model = Net()\n    def test(self):\n"
        "        x = jnp.ones((1, 28, 28, 3))\n        self.model.init(key, x)",
        "model = Net().bind(variables)\nmodel(jnp.ones((1, 28, 28, 3)))",
        "x = jnp.ones((5,))\nx = jnp.ones((1, 28, 28, 3))\nNet().init(key, x)",
    ],
)
def test_shapes_are_found(code: str) -> None:
    found = read(net=HEADER + code)
    assert found.shapes("net.Net") == {"x": Shape.of(1, 28, 28, 3)}
    assert found.ranks() == {"net.Net": {"x": 4}}


def test_across_files_and_methods() -> None:
    found = read(
        net=HEADER,
        consts="BATCH = 7\n",
        train="""
from net import Net
import consts
import jax.numpy as jnp
import jax
model = Net(features=2)
model.init(jax.random.key(0), jnp.ones((consts.BATCH, 5)), jnp.ones((3,)))
model.apply(v, jnp.ones((2, 9, 9)), method=Net.encode)
model.apply(v, jnp.ones((2, 9, 9)), method="encode")
""",
    )
    assert found.shapes("net.Net") == {"x": Shape.of(7, 5), "y": Shape.of(3), "z": Shape.of(2, 9, 9)}
    assert len({example.site for example in found.all}) == 1


def test_sizes_that_are_no_numbers_keep_their_text() -> None:
    found = read(net=HEADER + "def f(config):\n    Net().init(key, jnp.ones((2, config.size, config.size * 2)))")
    shape = found.shapes("net.Net")["x"]
    assert [str(d) for d in shape.dims] == ["2", "config.size", "config.size * 2"]


def test_disagreement_gives_no_rank() -> None:
    code = "m = Net()\nm.init(key, jnp.ones((2, 3)))\nm.apply(v, jnp.ones((2, 3, 4)))\nm.apply(v, jnp.ones((5, 3)))"
    found = read(net=HEADER + code)
    assert found.ranks() == {}
    agreeing = read(net=HEADER + "m = Net()\nm.init(key, jnp.ones((2, 3)))\nm.apply(v, jnp.ones((5, 3)))")
    assert agreeing.shapes("net.Net") == {"x": Shape.of(None, 3)}


@pytest.mark.parametrize(
    "code",
    [
        "x = load()\nNet().init(key, x)",
        "def f(x):\n    Net().init(key, x)",
        "if a:\n    x = jnp.ones((2, 3))\nelse:\n    x = jnp.ones((2, 3, 4))\nNet().init(key, x)",
        "for x in [jnp.ones((2, 3))]:\n    Net().init(key, x)",
        "x = jnp.ones((2, 3))\nx = load(x)\nNet().init(key, x)",
        "Net().init(*things)",
        "Net().apply(v, jnp.ones((2, 3)), method=choose())",
        "a, b = load()\nNet().init(key, jnp.ones((*a, 3)))",
        "def f(model):\n    model.init(key, jnp.ones((2, 3)))\nf(Net()); f(Other())",
    ],
)
def test_nothing_is_guessed(code: str) -> None:
    assert read(net=HEADER + code).ranks() == {}


def test_other_classes_are_told_apart() -> None:
    code = """
class Other(nn.Module):
    @nn.compact
    def __call__(self, q):
        return Net()(q)

def test_a():
    class Net(nn.Module):
        def __call__(self, x):
            return x
    Net().init(key, jnp.ones((1, 2, 3)))

Other().init(key, jnp.ones((4,)))
"""
    found = read(net=HEADER + code)
    assert found.ranks() == {"net.Other": {"q": 1}, "net.test_a.Net": {"x": 3}}
