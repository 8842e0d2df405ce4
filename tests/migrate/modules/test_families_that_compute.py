"""Families whose setup computes of parameters, where the classes do not compute alike: they stay Linen, as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

BASE = """from typing import Any
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import initializers as init


class Base(nn.Module):
    gain: float = 2.0

    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))
        s = self.scale()
        self.record = (w * s, s)

    def scale(self):
        return self.gain

    def __call__(self, x):
        return x @ self.made()

    def made(self):
        w, s = self.record
        return w * s


class Plain:
    def twice(self):
        return self.record[0] * 2


class Mixed(nn.Module):
    def twice(self):
        return self.record[0] * 2

"""


@pytest.mark.parametrize(
    ("bases", "body"),
    [
        ("Base", ["def setup(self):", "    self.record = (jnp.ones((4, 3)), 2.0)"]),
        ("Base", ["def setup(self):", "    self.w = self.param('w', init.normal(), (4, 3))"]),
        ("Base", ["def setup(self):", "    super().setup()", "    self.dense = nn.Dense(3)"]),
        ("Base", ["@nn.compact", "def __call__(self, x):", "    return nn.Dense(3)(x) + x @ self.record[0]"]),
        ("Base", ["def _computed(self):", "    return 5.0"]),
        ("Base", ["record: Any = None"]),
        ("Plain, Base", ["def made(self):", "    return self.twice()"]),
        ("Mixed, Base", ["def made(self):", "    return self.twice()"]),
    ],
)
def test_a_class_that_computes_otherwise_than_its_base_is_left(bases: str, body: list[str]) -> None:
    text = BASE + f"\nclass Derived({bases}):\n" + "".join(f"    {line}\n" for line in body)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    outcomes = {c.qualname.rpartition(".")[2]: str(c.outcome) for c in result.classes}
    assert outcomes["Derived"] == "bridged" and outcomes["Base"] == "native"
