"""What Linen asked while it initialized has one answer in NNX; only what the migration wrote is simplified."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.nnx.generated.settled_conditions import simplified
from nnx_migrate.migrate.source import SourceFile


def _simplified(new: str, old: str = "") -> str:
    return simplified(SourceFile.parse(Path("m.py"), "m", old), new)


@pytest.mark.parametrize(
    "new, wanted",
    [
        ("def f(x):\n    if not False:\n        # why\n        a = 1\n\n        b = 2\n    return x\n",
         "def f(x):\n    # why\n    a = 1\n\n    b = 2\n    return x\n"),
        ("def f(x):\n  s = False\n  if x and not s:\n    a = 1\n  if not s:\n    if x:\n      b = 2\n  return x\n",
         "def f(x):\n  if x:\n    a = 1\n  if x:\n    b = 2\n  return x\n"),
        ("def f(x):\n    if x:\n        if not False:\n            a = 'ü' if x else 'ö'  # ü\n",
         "def f(x):\n    if x:\n        a = 'ü' if x else 'ö'  # ü\n"),
        ("if x is None and y and not False:\n    a = 1\n", "if x is None and y:\n    a = 1\n"),
    ],
)  # fmt: skip
def test_settled(new: str, wanted: str) -> None:
    assert _simplified(new) == wanted
    assert _simplified(wanted) == wanted


@pytest.mark.parametrize(
    "new",
    [
        "if not False:\n    a = 1\nelse:\n    a = 2\n",
        "if x:\n    a = 1\nelif not False:\n    a = 2\n",
        "if not False: a = 1\n",
        "if not False:\n    a = '''\n    text\n    '''\n",
        "if x or not False:\n    a = 1\n",
        "def f(x):\n    started = False\n    if not started:\n        a = 1\n    return started\n",
        "def f(x):\n    started = False\n    if x:\n        started = True\n    if not started:\n        a = 1\n",
        "def f(x):\n    started = False\n    def g():\n        if not started:\n            return 1\n    return g\n",
        "def f(x):\n    started = False\n    if not started or x:\n        a = 1\n",
        "class C:\n    started = False\n    if not started:\n        a = 1\n",
        "if not 0:\n    a = 1\n",
    ],
)
def test_what_stays(new: str) -> None:
    assert _simplified(new) == new


def test_what_the_file_had_stays() -> None:
    old = "if not False:\n    a = 1\ndef f(x):\n    started = False\n    if not started:\n        b = 1\n"
    assert _simplified(f"import jax\n{old}", old) == f"import jax\n{old}"


def test_line_ends_of_the_file_are_kept() -> None:
    assert _simplified("if not False:\r\n    a = 1\r\n    b = 2\r\n") == "a = 1\r\nb = 2\r\n"
