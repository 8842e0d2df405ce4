"""Blank lines around statements that are gone do not pile up; those that a person wrote stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.nnx.generated.blank_lines import without_left_over
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile


def left(old: str, new: str, name: str = "m.py") -> str:
    return without_left_over(SourceFile.parse(Path(name), "m", old), new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("def f():\n    a\n\n    b\n\n    c\n", "def f():\n    a\n\n\n    c\n", "def f():\n    a\n\n    c\n"),
        ("def f():\n    a\n\n    c\n", "def f():\n\n    c\n", "def f():\n    c\n"),
        ("a\n\n\nb\n\n\nc\n", "a\n\n\n\n\nc\n", "a\n\n\nc\n"),
        ("def f(\n    x\n):\n    a\n\n    c\n", "def f(\n    x\n):\n\n    c\n", "def f(\n    x\n):\n    c\n"),
        ("def f():\r\n    a\r\n\r\n    b\r\n\r\n    c\r\n", "def f():\r\n    a\r\n\r\n\r\n    c\r\n",
         "def f():\r\n    a\r\n\r\n    c\r\n"),
    ],
)  # fmt: skip
def test_what_is_left_over_goes(old: str, new: str, expected: str) -> None:
    assert left(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f():\n    a\n\n\n    c\n", "def f():\n    a\n\n\n    d\n"),  # a person's, before a line that changes
        ("def f():\n    a\n\n\n    c\n", "def f():\n    b\n\n\n    c\n"),  # and behind one
        ("def f():\n\n    a\n", "def f():\n\n    b\n"),
        ("def f():\n    a\n\n    b\n\n    c\n", "def f():\n    a = '''x\n\n\n    y'''\n"),  # in a string
        ("x = {\n    1:\n    2}\n", "x = {\n    1:\n\n    2}\n"),
        ("class A:\n    x = 1\n\n    y = 2\n", "class A:\n\n    y = 2\n"),
    ],
)
def test_what_stays(old: str, new: str) -> None:
    assert left(old, new) == new


def test_notebooks_keep_the_lines_of_their_cells() -> None:
    old, new = "def f():\n    a\n\n    b\n\n    c\n", "def f():\n    a\n\n\n    c\n"
    assert left(old, new, "m.ipynb") == new != left(old, new)


TEXT = '''from flax import linen as nn


class Net(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        """Two layers."""

        init = nn.initializers.ones

        # the first
        x = nn.Dense(self.width, kernel_init=init)(x)

        last = 2 * self.width

        return nn.Dense(last)(x)
'''


def test_a_class() -> None:
    after = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)]).files[0].after
    assert after is not None
    lines = ['"""Two layers."""', "", "# the first", "x = self.Dense_0(x)", "", "return self.Dense_1(x)"]
    assert [line.strip() for line in after.splitlines()[-6:]] == lines, after
