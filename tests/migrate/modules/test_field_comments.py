"""Comments of fields go with them to the constructor's parameters; nothing of them is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

COMPACT = '''from typing import Any
import flax.linen as nn
import jax.numpy as jnp


class Net(nn.Module):
    """A net."""

    # --- sizes ---

    features: int  # the width
    # how wide inside,
    # as a number
    hidden: int = 8
    """hidden width,

    of the first layer."""
    dtype: Any = jnp.float32; kind: str = "a"  # two on a line
    label: str = "größe"  # naïve
    """in one line"""

    """no field's"""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(nn.Dense(self.hidden, dtype=self.dtype)(x))
'''
PARAMETERS = """        self,
        features: int,  # the width
        # how wide inside,
        # as a number
        # hidden width,
        #
        # of the first layer.
        hidden: int = 8,
        dtype: Any = jnp.float32,
        kind: str = "a",  # two on a line
        # in one line
        label: str = "größe",  # naïve
        *,
"""


def _after(text: str) -> str:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert result.files[0].after is not None
    return result.files[0].after


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comments_stand_beside_the_parameters(newline: str) -> None:
    after = _after(COMPACT.replace("\n", newline))
    assert PARAMETERS.replace("\n", newline) in after
    assert "# --- sizes ---" in after and '"""no field\'s"""' in after and '"""A net."""' in after
    assert after.count("hidden width,") == after.count("# the width") == 1


def test_setup_and_fields_that_are_no_parameters() -> None:
    text = '''import dataclasses
import flax.linen as nn


class Net(nn.Module):
    width: int
    """the width"""
    count: int = dataclasses.field(default=0, init=False)  # of calls

    def setup(self):
        self.dense = nn.Dense(self.width)  # the layer

    def __call__(self, x):
        return self.dense(x) * (self.count + 1)
'''
    after = _after(text)
    assert "        # the width\n        width: int,\n" in after and "self.count = 0  # of calls\n" in after
    assert "class Net(nnx.Module):\n    def __init__(\n" in after and "# the layer" in after
