"""Files that are called as modules of Linen copies would be: none is written over, and all can be imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program

BLOCKS = """from typing import Any
from flax import linen as nn
from .common import *
Dtype = Any
class Norm(nn.Module):
    dtype: Dtype = None
    @nn.compact
    def __call__(self, x):
        return nn.Dense(LIMIT, dtype=self.dtype)(x)
class Odd(nn.Module):
    norm: Any = Norm
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, name=f"d{x.mean()}")(self.norm()(x))
"""


def _package(root: Path, *names: str) -> Path:
    folder = root / "pkg"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "common.py").write_text("LIMIT = 3\n")
    for name in names:
        (folder / f"{name}.py").write_text(BLOCKS)
    return folder


def _imports(root: Path, *names: str) -> None:
    for name in names:  # each of them first, in a process of its own
        environment = {**os.environ, "PYTHONPATH": str(root), "JAX_PLATFORMS": "cpu"}
        done = subprocess.run(
            [sys.executable, "-c", f"import pkg.{name}"], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    folder = _package(tmp_path, "blocks", "blocks_linen")
    done = CliRunner().invoke(program, ["--allow-dirty", str(tmp_path)])
    assert done.exit_code in (0, 1), done.output
    assert "nnx.Module" in (folder / "blocks_linen.py").read_text()
    assert "class Odd(nn.Module):" in (folder / "blocks_linen.py").read_text()
    assert {p.name for p in folder.glob("*_copies.py")} == {"blocks_linen_copies.py", "blocks_linen_linen_copies.py"}
    _imports(tmp_path, "blocks", "blocks_linen", "blocks_linen_copies", "blocks_linen_linen_copies")
    before = {p.name: p.read_bytes() for p in folder.glob("*.py")}
    again = CliRunner().invoke(program, ["--allow-dirty", str(tmp_path)])
    assert again.exit_code in (0, 1), again.output
    assert before == {p.name: p.read_bytes() for p in folder.glob("*.py")}


def test_a_file_that_nobody_asked_for_stays(tmp_path: Path) -> None:
    folder = _package(tmp_path, "blocks")
    (folder / "blocks_linen.py").write_text("SOMETHING = 1\n")
    done = CliRunner().invoke(program, ["--allow-dirty", str(folder / "blocks.py")])
    assert done.exit_code in (0, 1), done.output
    assert (folder / "blocks_linen.py").read_text() == "SOMETHING = 1\n"
    assert (folder / "blocks_linen_copies.py").exists()


def test_a_file_of_that_ending_can_be_imported(tmp_path: Path) -> None:
    folder = _package(tmp_path, "blocks_linen")
    done = CliRunner().invoke(program, ["--allow-dirty", str(tmp_path)])
    assert done.exit_code in (0, 1), done.output
    assert (folder / "blocks_linen_linen.py").exists()
    _imports(tmp_path, "blocks_linen", "blocks_linen_linen")


def test_a_package_can_be_migrated_from_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside its `__init__.py`, which is `./__init__.py` then, no copies can stand."""
    folder = _package(tmp_path, "blocks")
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(program, ["--output", str(tmp_path / "out"), "--report", str(tmp_path / "r.json"), "."])
    assert done.exit_code in (0, 1), done.output
    assert "NNX001" not in (tmp_path / "r.json").read_text()
    assert "nnx.Module" in (tmp_path / "out/blocks.py").read_text()
