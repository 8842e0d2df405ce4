"""What the body of a class says of it, in one line for several names, under conditions, and what other code changes."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

SAID = """from typing import TYPE_CHECKING

from flax import linen as nn


class Net(nn.Module):
    width, (depth, scale) = 4, (2, 3.0)
    if TYPE_CHECKING:

        def helper(self): ...

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name == "thrice":
                return 3 * self.scale
            return super().__getattr__(name)

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = self.scale * nn.Dense(self.width)(x)
        return nn.Dense(x.shape[-1] + 1)(x)


Net.__doc__ = "A net."


class Configured(nn.Module):
    class Config:
        name = "net"
        width = 4

        def said(self):
            return self.name, self.scope

    config: Config

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.config.width)(x)
"""
BASE = """from flax import linen as nn

BIG = {big}


class Net(nn.Module):
    {body}

    @nn.compact
    def {method}(self, x):
        return nn.Dense(self.width)(x)


{behind}
"""


def test_several_attributes_in_one_line() -> None:
    before, after = both_sides("class_bodies", SAID)
    x = jax.random.normal(jax.random.key(0), (2, 5))
    variables = before.Net().init(jax.random.key(1), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_features=5, rngs=nnx.Rngs(0)), x)
    assert before.Net().thrice == after.Net(in_features=5, rngs=nnx.Rngs(0)).thrice == 9.0
    config = before.Configured.Config()
    variables = before.Configured(config).init(jax.random.key(1), x)
    configured = after.Configured(config, in_features=5, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.Configured(config), variables, configured, x)


@pytest.mark.parametrize(
    "body,behind,says",
    [
        ("width: int = 3\n    if BIG:\n        depth: int = 2", "", "what `depth` is"),
        ("width = 3\n    if BIG:\n        @nn.compact\n        def __call__(self, x): return x", "", "what `__call__` is"),
        ("width = 3\n    width += 2", "", "what `width` is"),
        ("for width in (3, 4): pass", "", "what `width` is"),
        ("if BIG:\n        width = 7\n    else:\n        width = 3", "", "what `width` is"),
        ("width = 3", "Net.width = 5", "`width` of Net is given another value (line 14 of net.py)"),
        ("width = 3", "def fast(self, x): return x\nNet.forward = nn.compact(fast)", "`forward` of Net"),
        (
            "width = 3\n    class Config:\n        def make(self): return Net(name='n')",
            "",
            "Config, which is defined within it",
        ),
        ("width = 3", "setattr(Net, 'width', 5)", "`width` of Net"),
        ("width = 3", "class Wide(Net): pass\nNet.width = 5", "`width` of Net"),
    ],
)
def test_what_only_running_the_code_tells(body: str, behind: str, says: str) -> None:
    method = "forward" if "__call__" in says else "__call__"
    text = BASE.format(big=False, body=body, behind=behind, method=method)
    plans = migrate_project([SourceFile.parse(Path("net.py"), "net", text)]).classes
    assert {(plan.outcome, plan.code) for plan in plans if plan.qualname == "net.Net"} == {("bridged", "NNX175")}
    assert all(plan.outcome == "bridged" for plan in plans)
    assert says in next(plan.reason for plan in plans if plan.qualname == "net.Net")


def test_a_class_variable_in_the_place_of_a_field() -> None:
    text = """from typing import ClassVar

from flax import linen as nn


class Net(nn.Module):
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, use_bias=self.bias)(x)


class Bare(Net):
    bias: ClassVar[bool] = False
"""
    plans = migrate_project([SourceFile.parse(Path("net.py"), "net", text)]).classes
    found = {plan.qualname: (str(plan.outcome), plan.reason) for plan in plans}
    assert found["net.Net"][0] == "native"
    assert found["net.Bare"] == ("bridged", "its ClassVar `bias` takes the place of a field of Net")
