"""Locals that only fed constructors go from the methods; what is still read stays. (test_forms runs both sides.)"""

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODEL = """
from flax import linen as nn


class Bias(nn.Module):
    @nn.compact
    def __call__(self, n):
        return self.param("w", nn.initializers.ones, (3,)) * n


class Layer(nn.Module):
    bias: nn.Module

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x) + self.bias(2)


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        shared = Bias(name="rel")
        for i in range(2):
            x = Layer(bias=shared, name=f"layer_{i}")(x)
        return x{after}
"""


@pytest.mark.parametrize(
    "after,kept",
    [
        ("", False),
        (" + shared(1)", True),
        (" + self.later(lambda: shared(1))\n\n    def later(self, f):\n        return f()", True),
    ],
)
def test_modules_that_are_only_given_on_are_not_looked_up(after: str, kept: bool) -> None:
    source = SourceFile.parse(Path("m.py"), "m", MODEL.replace("{after}", after))
    result = migrate_project([source])
    text = result.files[0].after
    assert text is not None and all(c.outcome == "native" for c in result.classes), [c.reason for c in result.classes]
    assert ("shared = self.rel" in text) is kept
