"""What a file has made that makes modules when it is called: objects, compositions and partials of functions."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

TEXT = """import enum
import functools
import types

from flax import linen as nn

mlp = lambda x: nn.Dense(3)(x)
compose = lambda *fs: functools.reduce(lambda f, g: lambda x: g(f(x)), fs)


class Maker:
    def deep(self, x):
        return nn.Dense(3)(x)

    def plain(self, x):
        return 2 * x

    def __call__(self, x):
        return nn.Dense(2)(x)


class Further(Maker):
    pass


class Kinds:
    dense = nn.Dense
    norm = nn.LayerNorm
    layers = [nn.Dense, nn.Dense]


class Members(enum.Enum):
    dense = nn.Dense


class Looked(type):
    def __getattribute__(cls, name):
        return nn.RMSNorm if name == "norm" else super().__getattribute__(name)


class Other(metaclass=Looked):
    norm = nn.LayerNorm


def changed(cls):
    cls.norm = nn.RMSNorm
    return cls


@changed
class Changed:
    norm = nn.LayerNorm


Kinds.norm = nn.RMSNorm
maker = Further()
given = types.SimpleNamespace(layer=nn.Dense)
twice = functools.partial(lambda f, x: f(f(x)), mlp)
both = compose(mlp, nn.relu, mlp)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return {call}
"""


@pytest.mark.parametrize(
    "call,code,says",
    [
        ("maker.deep(x)", "NNX138", "`maker` holds functions that make modules"),
        ("maker(x)", "NNX138", "`maker` holds functions that make modules"),
        ("twice(x)", "NNX138", "`twice` holds functions that make modules"),
        ("both(x)", "NNX138", "`both` holds functions that make modules"),
        ("globals()['mlp'](x)", "NNX134", "`globals()` reads names"),
        ("nn.Dense(3)(maker.plain(x))", "", ""),
        ("given.layer(3)(x)", "NNX134", "`given.layer(3)`"),
        ("Members.dense.value(3)(x)", "NNX134", "`Members.dense.value(3)`"),
        ("Other.norm()(x)", "NNX134", "`Other.norm()`"),
        ("Changed.norm()(x)", "NNX134", "`Changed.norm()`"),
        ("Kinds.norm()(x)", "NNX134", "`Kinds.norm()`"),
        ("sum(kind(3)(x) for kind in Kinds.layers)", "NNX132", ""),
        ("Kinds.dense(3)(x)", "", ""),
    ],
)
def test_what_is_not_followed_is_not_lost(call: str, code: str, says: str) -> None:
    text = TEXT.replace("{call}", call)
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.code, plan.outcome) == (code, "bridged" if code else "native"), plan.reason
    assert says in plan.reason


def test_a_layer_that_a_class_holds() -> None:
    before, after = both_sides("held_layers", TEXT.replace("{call}", "Kinds.dense(2)(nn.relu(Kinds.dense(3)(x)))"))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    variables = before.Net().init(jax.random.key(1), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_features=4, rngs=nnx.Rngs(0)), x)
