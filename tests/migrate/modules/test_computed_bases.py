"""Classes of which only running the code tells that they are Linen modules, and names that only running it binds."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

TEXT = """from flax import linen as nn

BIG = False


def make_base():
    return nn.Module


Base = nn.Module if BIG else make_base()


class Part({base}):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


class Deeper(Part):
    pass


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Deeper(name="deeper")(Part()(x)))
"""
UNBOUND = """from flax import linen as nn

exec("def dense(x): return nn.Dense(3)(x)")
globals()["Part"] = nn.Dense


class Net(nn.Module):
    {body}
"""


@pytest.mark.parametrize("base", ["Base", "make_base()", "*[nn.Module]", "nn.Module if BIG else nn.Module"])
def test_computed_bases(base: str) -> None:
    text = TEXT.format(base=base)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert {plan.qualname: (str(plan.outcome), plan.code) for plan in result.classes} == {
        "m.Part": ("bridged", "NNX176"),
        "m.Deeper": ("bridged", "NNX176"),
        "m.Net": ("native", ""),
    }
    assert any(f"what its base `{base}` is" in plan.reason for plan in result.classes)
    for path, content in result.created.items():
        module(path.stem, content)
    before, after = module("computed_before", text), module("computed_after", result.files[0].after or "")
    x = jnp.arange(8.0).reshape(2, 4)
    variables = before.Net().init(jax.random.key(0), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_shape=x.shape, rngs=nnx.Rngs(0)), x)


@pytest.mark.parametrize(
    "body,name",
    [
        ("@nn.compact\n    def __call__(self, x):\n        return dense(x)", "dense"),
        ("@nn.compact\n    def __call__(self, x):\n        return Part(3)(x)", "Part"),
        (
            "def setup(self):\n        self.part = Part(3)\n\n    def __call__(self, x):\n        return self.part(x)",
            "Part",
        ),
    ],
)
def test_names_that_no_code_binds(body: str, name: str) -> None:
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", UNBOUND.format(body=body))]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX138")
    assert f"`{name}` is called, which no code here binds" in plan.reason
