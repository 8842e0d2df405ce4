"""Files that say nothing of Flax are left out by the command line; what they define makes no modules all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODEL = """import flax.linen as nn
from pkg.helpers import Scaler


class Net(nn.Module):
    size: int = 2

    @nn.compact
    def __call__(self, x):
        scaler = Scaler(self.size)
        return nn.Dense(4)(x) * scaler(x).sum()
"""


@pytest.mark.parametrize(
    "package, native", [("import flax\n", True), ("import flax\nfrom lib import *\n", False)], ids=["plain", "star"]
)
def test_an_object_of_a_file_that_is_left_out(package: str, native: bool) -> None:
    files = [
        SourceFile.parse(Path("pkg/__init__.py"), "pkg", package, is_package=True),
        SourceFile.parse(Path("pkg/model.py"), "pkg.model", MODEL),
    ]
    (plan,) = migrate_project(files).classes
    assert (plan.outcome.value == "native") is native, plan.reason
