"""Class methods that construct their class: they make a model, or what NNX's class needs more is said at the place."""

from __future__ import annotations

from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """from flax import linen as nn


class Part(nn.Module):
    width: int = 4

    @classmethod
    def of(cls, width):
        return cls(width=width)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)
"""


def test_a_class_method_that_constructs_makes_a_model() -> None:
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)]).files
    assert [d.code for d in file.diagnostics] == ["NNX603"]
    assert file.after is not None and "linen_parity.Functional(\n            cls, width=width" in file.after


def test_one_that_a_string_names_is_marked() -> None:
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", f'{TEXT}\n\nMAKERS = ["of"]\n')]).files
    assert [d.code for d in file.diagnostics] == ["NNX604"]
    assert file.after is not None and "Part(nnx.Module)" in file.after
    (again,) = migrate_project([SourceFile.parse(Path("m.py"), "m", file.after)]).files
    assert again.after == file.after


def test_one_that_makes_something_else_is_not() -> None:
    text = TEXT.replace("cls(width=width)", "dict(width=width)")
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    assert file.diagnostics == []
