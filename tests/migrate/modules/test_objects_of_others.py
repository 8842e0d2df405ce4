"""Objects of packages that are not migrated: what may be a Linen module, and is called, keeps a class Linen."""

from __future__ import annotations

import sys
import textwrap
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """
import functools
import jax
import jax.numpy as jnp
from flax import linen as nn
import otherblocks
from otherblocks import Block as B, Block, Normal, Options, Scaled, Table

Small = functools.partial(B, 4)
Base = otherblocks.Block

def make(width):
    return B(width)
"""

CALLED = {
    "sized by the input": """
        m = Block(x.shape[-1])
        return nn.Dense(3)(m(x))
    """,
    "under another name": """
        m: nn.Module = B(x.shape[-1])
        return nn.Dense(3)(m(x))
    """,
    "a name of the module's": """
        m = Base(4)
        return nn.Dense(3)(m(x))
    """,
    "a partial of the module's": """
        m = Small()
        return nn.Dense(3)(m(x))
    """,
    "a function of the module's": """
        m = make(4)
        return nn.Dense(3)(m(x))
    """,
    "mapped": """
        for m in tuple(map(B, (4, 5))):
            x = m(x)
        return nn.Dense(3)(x)
    """,
    "called twice": """
        m = Block(x.shape[-1])
        return nn.Dense(3)(m(m(x)))
    """,
    "a list of two": """
        layers = [Block(4), Block(5)]
        for layer in layers:
            x = layer(x)
        return nn.Dense(3)(x)
    """,
    "a tuple gone through": """
        for layer in (Block(4), Block(x.shape[-1])):
            x = layer(x)
        return nn.Dense(3)(x)
    """,
    "a list filled": """
        layers = []
        for i in range(2):
            layers.append(Block(3 + i))
        for i, layer in enumerate(layers):
            x = layer(x)
        return nn.Dense(3)(x)
    """,
    "a comprehension": """
        y = [m(x) for m in [Block(4), Block(5)]]
        return nn.Dense(3)(y[0]), y[1]
    """,
    "one of two by rank": """
        f = Block(x.shape[-1]) if x.ndim > 2 else Block(4)
        return nn.Dense(3)(f(x))
    """,
    "or a layer": """
        m = Block(4) if self.flag else nn.Dense(3)
        return m(x)
    """,
    "or a layer, by statement": """
        if self.flag:
            m = otherblocks.Block(4)
        else:
            m = nn.Dense(3)
        return m(x)
    """,
    "called where it is chosen": """
        return (Block(4) if self.flag else nn.Dense(3))(x)
    """,
    "among layers": """
        for i in range(3):
            m = Block(4) if i else nn.Dense(3)
            x = m(x)
        return x
    """,
    "a partial": """
        return functools.partial(Block, 4)()(nn.Dense(3)(x))
    """,
    "a method": """
        m = Block(x.shape[-1])
        return nn.Dense(3)(m.encode(x))
    """,
    "handed to jax": """
        z = nn.Dense(3)(x)
        return jax.tree.map(Block(3), [z, z])
    """,
    "handed to a function of jax.numpy that calls it": """
        z = nn.Dense(3)(x)
        return jnp.vectorize(Block(3))(z)
    """,
    "in a function": """
        def inner(y):
            return Block(y.shape[-1])(y)
        return inner(nn.Dense(3)(x))
    """,
    "in a lambda": """
        apply = lambda m, y: m(y)
        return apply(Block(x.shape[-1]), nn.Dense(3)(x))
    """,
}

IN_SETUP = {
    "a method": ("self.m = Block(3)", "return self.d(self.m.encode(x))"),
    "under a local name": ("self.m = otherblocks.Block(3)", "m = self.m\n        return self.d(m.encode(x))"),
    "a list with layers": (
        "self.ms = [Block(3) if i % 2 else nn.Dense(3) for i in range(4)]",
        "for m in self.ms:\n            x = m(x)\n        return self.d(x)",
    ),
    "or a layer": (
        "if self.flag:\n            self.m = Block(4)\n        else:\n            self.m = nn.Dense(3)",
        "return self.d(self.m(x))",
    ),
}


def _compact(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    return f"{HEAD}\nclass Model(nn.Module):\n    flag: bool = False\n    @nn.compact\n    def __call__(self, x):\n{lines}\n"


def _setup(setup: str, call: str) -> str:
    return (
        f"{HEAD}\nclass Model(nn.Module):\n    flag: bool = False\n    def setup(self):\n        {setup}\n"
        f"        self.d = nn.Dense(3)\n    def __call__(self, x):\n        {call}\n"
    )


@pytest.mark.parametrize("text", [*map(_compact, CALLED.values()), *(_setup(*parts) for parts in IN_SETUP.values())])
def test_what_may_be_a_linen_module_is_not_left_in_a_native_class(text: str) -> None:
    (model,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(bridge=False)).classes
    assert str(model.outcome) == "manual"
    assert model.code == "NNX138"
    assert "`otherblocks.Block` is of a package that is not migrated with it" in model.reason


LIBRARY = """
import dataclasses
import jax.numpy as jnp

class Block:
    pass

@dataclasses.dataclass
class Options:
    width: int
    x: object = None
    def replace(self, **changes):
        return dataclasses.replace(self, **changes)

class Scaled:
    def __init__(self, by):
        self.by = by

class Table:
    def __init__(self, width):
        self.width = width
    def __getitem__(self, key):
        return [1.0] * self.width

class Normal:
    def __init__(self, loc, scale):
        self.loc, self.scale = loc, scale
    def log_prob(self, x):
        return -((x - self.loc) / self.scale) ** 2 / 2 - jnp.log(self.scale)
"""

DATA = {
    "records and their values": """
        h = nn.Dense(3)(x)
        return Options(3).replace(x=h).x * Scaled(2.0).by
    """,
    "what has arrays": """
        table = Table(3)
        return nn.Dense(3)(x) + jnp.array(table["x"]) + jnp.asarray(table["x"])
    """,
    "a distribution": """
        h = nn.Dense(3)(x)
        return Normal(h, 2.0).log_prob(x[..., :3])
    """,
}


@pytest.mark.parametrize("body", DATA.values(), ids=DATA)
def test_data_of_other_packages_leaves_a_class_native(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _compact(body)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert [str(c.outcome) for c in result.classes] == ["native"]
    modules = {}
    created = {path.stem: content for path, content in result.created.items()}
    for name, content in {"otherblocks": LIBRARY, **created, "before": text, "after": result.files[0].after}.items():
        modules[name] = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, modules[name])
        exec(compile(content, f"{name}.py", "exec"), modules[name].__dict__)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 5), jnp.float32)
    linen = modules["before"].Model()
    variables = linen.init(jax.random.key(0), x)
    model = modules["after"].Model(in_features=5, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(linen.apply(variables, x), model(x))
