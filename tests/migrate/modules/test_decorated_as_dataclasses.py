"""Modules that are decorated as dataclasses stay; of frozen ones Linen makes nothing either, and the reason says so."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

TEXT = """import dataclasses
import flax
from flax import linen as nn


@DECORATOR
class Net(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)
"""


@pytest.mark.parametrize(
    ("decorator", "frozen"),
    [
        ("flax.struct.dataclass", True),
        ("dataclasses.dataclass(frozen=True)", True),
        ("dataclasses.dataclass", False),
        ("dataclasses.dataclass(frozen=False)", False),
    ],
)
def test_the_reason_says_where_linen_fails_too(decorator: str, frozen: bool) -> None:
    text = TEXT.replace("DECORATOR", decorator)
    (net,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(net.outcome) == "bridged" and ("frozen dataclass" in net.reason) == frozen
    made = module("decorated", text).Net
    if frozen:
        with pytest.raises(dataclasses.FrozenInstanceError):
            made()
    else:
        assert made().width == 3
