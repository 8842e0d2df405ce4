"""What the `__init__` of a layer's subclass says is a default only where nothing gives the class another value."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """from functools import partial

from flax import linen as nn

SCALE = 2.0


class Dense(nn.Dense):
    def __init__(self, *args, **kwargs):
        INIT
        super().__init__(*args, **kwargs)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return USE
"""
INIT = 'kwargs["kernel_init"] = nn.initializers.constant(SCALE)'


@pytest.mark.parametrize(
    "init, use",
    [
        (INIT, "Dense(3, kernel_init=nn.initializers.ones)(x)"),
        (INIT, "Dense(3, True, None, None, None, nn.initializers.ones)(x)"),
        (INIT, "Dense(**{'features': 3, 'kernel_init': nn.initializers.ones})(x)"),
        (INIT, "partial(Dense, kernel_init=nn.initializers.ones)(3)(x)"),
        ('kwargs["kernel_init"] = nn.initializers.constant(kwargs.pop("scale", 1.0))', "Dense(3)(x)"),
        ('kwargs["kernel_init"] = nn.initializers.constant(LATER)', "Dense(3)(x)"),
        ('kwargs["other"] = 3', "Dense(3)(x)"),
        ('if SCALE > 1:\n            kwargs["use_bias"] = False', "Dense(3)(x)"),
    ],
)
def test_others_stay_linen(init: str, use: str) -> None:
    text = PROGRAM.replace("INIT", init).replace("USE", use) + "\n\nLATER = 3.0\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert {c.qualname: str(c.outcome) for c in result.classes}["m.Dense"] == "bridged"


def test_names_of_other_files_count() -> None:
    text = PROGRAM.replace("INIT", INIT).replace("USE", "Dense(3)(x)")
    other = "from m import Dense as D\n\n\ndef make():\n    return D(3, kernel_init=None)\n"
    files = [SourceFile.parse(Path(f"{name}.py"), name, said) for name, said in (("m", text), ("other", other))]
    assert all(str(c.outcome) == "bridged" for c in migrate_project(files).classes)
