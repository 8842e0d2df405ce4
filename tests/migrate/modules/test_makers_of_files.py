"""What a file has made that makes modules when it is called: objects, compositions and partials of functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import functools
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


maker = Further()
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
    ],
)
def test_what_is_not_followed_is_not_lost(call: str, code: str, says: str) -> None:
    text = TEXT.replace("{call}", call)
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.code, plan.outcome) == (code, "bridged" if code else "native"), plan.reason
    assert says in plan.reason
