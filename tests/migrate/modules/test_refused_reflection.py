"""NNX133: classes that ask for all that a module holds stay Linen, also where a mixin asks that is no module."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import dataclasses
import flax.linen as nn


class Mixin:
    def parts(self):
        return ASKED


class Net(nn.Module, BASE):
    width: int = 3

    def setup(self):
        self.dense = nn.Dense(self.width)

    def __call__(self, x):
        return self.dense(x)
"""
ASKED = {
    "[v for v in vars(self).values() if isinstance(v, nn.Module)]": "bridged",
    "[getattr(self, f.name) for f in dataclasses.fields(self)]": "bridged",
    "dataclasses.asdict(self)": "bridged",
    "vars(self).get('width', 2)": "native",
    "vars(type(self))": "native",
    "[self.width]": "native",
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("base", ["Mixin", "Further"])
def test_all_that_it_holds(asked: str, base: str) -> None:
    text = TEXT.replace("ASKED", asked).replace("BASE", base)
    text = text.replace("class Net", "class Further(Mixin):\n    pass\n\n\nclass Net")
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert plan.outcome == ASKED[asked], plan.reason
    assert plan.outcome == "native" or plan.code == "NNX133"


def test_a_mixin_that_goes_through_modules_finds_none_in_a_leaf() -> None:
    text = TEXT.replace("ASKED", next(iter(ASKED))).replace("BASE", "Mixin")
    text = text.replace("nn.Dense(self.width)", "self.param('w', nn.initializers.ones, (3,))").replace(
        "self.dense(x)", "x * self.dense"
    )
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert plan.outcome == "native", plan.reason
