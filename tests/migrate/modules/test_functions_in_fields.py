"""Functions that make modules, in fields of classes: of other files, given through others, and those that stay."""

from __future__ import annotations

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

PARTS = """import jax
import jax.numpy as jnp
from flax import linen as nn


def widen(x, width=6):
    return nn.relu(nn.Dense(width)(x))


def keep(x, width=6):
    return jnp.tile(x[..., :1], width)
"""
NET = """from typing import Callable

from flax import linen as nn
import parts_{side} as parts


class Net(nn.Module):
    fn: Callable = parts.widen

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.fn(x))


class Outer(nn.Module):
    fn: Callable = parts.keep

    @nn.compact
    def __call__(self, x):
        return Net()(x) + Net(self.fn)(x) + Net(parts.keep)(x)


class Handing(nn.Module):
    fn: Callable = parts.widen

    @nn.compact
    def __call__(self, x):
        return Net(self.fn)(x)
"""
HEAD = """import functools
from typing import Callable

import jax
import jax.numpy as jnp
from flax import linen as nn


def widen(x, width=6):
    return nn.relu(nn.Dense(width)(x))


def keep(x, width=6):
    return jnp.tile(x[..., :1], width)


"""


def _migrated(**texts: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()])


def test_functions_of_another_file_are_called_by_the_names_of_this_one() -> None:
    module("parts_a", PARTS)
    before = module("net_a", NET.format(side="a"))
    result = _migrated(parts_b=PARTS, net_b=NET.format(side="b"))
    assert {str(c.outcome) for c in result.classes} == {"native"}
    texts = {file.path.stem: file.after for file in result.files}
    for path, content in result.created.items():
        module(path.stem, content)
    parts = module("parts_b", texts["parts_b"] or "")
    after = module("net_b", texts["net_b"] or "")
    x = jnp.ones((2, 4))
    variables = before.Outer().init(jax.random.key(0), x)
    new = after.Outer(in_features=4, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.Outer(), variables, new, x)
    assert not hasattr(new.Net_1, "Dense_1")
    variables = before.Handing().init(jax.random.key(0), x)
    assert compat.check_equivalence(before.Handing(), variables, after.Handing(in_features=4, rngs=nnx.Rngs(0)), x)
    # What the class does not call by its name is another function: it says what it lacks.
    other = after.Net(functools.partial(parts.widen, width=6), in_features=4, rngs=nnx.Rngs(0))
    with pytest.raises(TypeError, match="dense"):
        other(x)


STAYS = {
    "a partial that the field has by default": """class M(nn.Module):
    fn: Callable = functools.partial(widen, width=5)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.fn(x))
""",
    "it is mapped": """class M(nn.Module):
    fn: Callable = widen

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(jax.vmap(self.fn)(x))
""",
    "it is handed to one that only calls it": """class Inner(nn.Module):
    fn: Callable

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.fn(x))


class M(nn.Module):
    fn: Callable = widen

    @nn.compact
    def __call__(self, x):
        return Inner(self.fn)(x)
""",
    "it is called by a lambda": """class M(nn.Module):
    fn: Callable = widen

    @nn.compact
    def __call__(self, x):
        head = lambda y: self.fn(y)
        return nn.Dense(3)(head(x))
""",
    "it is set": """class M(nn.Module):
    fn: Callable = widen

    def __post_init__(self):
        self.fn = widen if self.fn is None else self.fn
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.fn(x))
""",
    "the method has another of its name": """class M(nn.Module):
    fn: Callable = widen

    @nn.compact
    def __call__(self, x):
        widen = keep
        return nn.Dense(3)(self.fn(widen(x)))
""",
}


@pytest.mark.parametrize("what", STAYS)
def test_what_is_not_called_by_its_name_stays(what: str) -> None:
    result = _migrated(m=HEAD + STAYS[what])
    plan = next(c for c in result.classes if c.qualname == "m.M")
    assert str(plan.outcome) == "bridged" and plan.code in ("NNX135", "NNX134", "NNX110", "NNX180"), plan.reason
    assert "nn.Dense(width)(x)" in str(result.files[0].after)


def test_one_that_another_file_gives_stays() -> None:
    net = HEAD + "class M(nn.Module):\n    fn: Callable = keep\n\n    @nn.compact\n    def __call__(self, x):\n"
    net += "        return nn.Dense(3)(self.fn(x))\n"
    other = (
        "from flax import linen as nn\nimport net\n\n\ndef deep(x):\n    return nn.Dense(4)(x)\n\n\n"
        "class N(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return net.M(fn=deep)(x)\n"
    )
    result = _migrated(net=net, other=other)
    assert {c.qualname: str(c.outcome) for c in result.classes}["other.N"] == "bridged"
