"""A call that takes `**kwargs` alone gives the constructor nothing to call the module on shapes with."""

from __future__ import annotations

from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """from flax import linen as nn


class Inner(nn.Module):
    @nn.compact
    def __call__(self, pixels=None):
        if pixels is None:
            raise ValueError("give pixels")
        return nn.Dense(3)(pixels)


class Outer(nn.Module):
    def setup(self):
        self.inner = Inner()

    def __call__(self, **kwargs):
        return self.inner(**kwargs)
"""


def test_a_class_whose_call_takes_keywords_alone_is_left() -> None:
    classes = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)]).classes
    outcomes = {c.qualname: (str(c.outcome), c.reason) for c in classes}
    assert outcomes["m.Inner"][0] == "native"
    assert outcomes["m.Outer"] == ("bridged", "`in_features` of Inner is not known: `pixels` is not an array here")
