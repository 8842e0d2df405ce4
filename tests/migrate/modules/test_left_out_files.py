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
    "there, code",
    [("helpers.py", None), ("helpers/__init__.py", None), (None, "NNX138")],
    ids=["module", "package", "absent"],
)
def test_an_object_of_a_file_that_is_left_out(there: str | None, code: str | None, tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    if there is not None:
        (package / there).parent.mkdir(exist_ok=True)
        (package / there).write_text("class Scaler: ...\n")
    files = [
        SourceFile.parse(package / "__init__.py", "pkg", "import flax\nfrom lib import *\n", is_package=True),
        SourceFile.parse(package / "model.py", "pkg.model", MODEL),
    ]
    (plan,) = migrate_project(files).classes
    assert (plan.outcome.value == "native") is (code is None), plan.reason
    assert code is None or code in str(plan)
