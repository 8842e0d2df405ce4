"""The demo as a newcomer runs it: one command, everything proved, nothing of the user's overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.compat.demo import demo, fixture, table


def test_demo_migrates_restores_and_proves(tmp_path: Path) -> None:
    target = tmp_path / "shown"
    code = "from nnx_migrate.migrate.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "demo", str(target)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((target / "equivalence.json").read_text())
    verdicts = {check["name"]: check["verdict"] for check in found["checks"]}
    for name in ("keys", "shapes", "specs", "forward", "gradient"):
        assert verdicts[f"model: {name}"] == "proved", found["checks"]
    assert verdicts["training step: step"] == "proved", found["checks"]
    assert all(verdict in ("proved", "bitwise", "close") for verdict in verdicts.values())
    specs = {row["key"]: (row["linen"], row["restored"]) for row in found["variables"]}
    assert "'model'" in specs["params/token_embed/embedding"][0]
    assert "'model'" in specs["params/token_embed/embedding"][1], "the table was restored whole"
    assert found["losses"]["nnx"][-1] == pytest.approx(found["losses"]["linen"][-1], abs=1e-5)
    for name in ("model.py", "train.py"):
        text = (target / "nnx" / name).read_text()
        assert "linen as nn" not in text and "pjit(" not in text
    assert (target / "linen" / "model.py").read_text() == (fixture() / "model.py").read_text()
    assert "proved" in done.stdout and str(target / "nnx") in done.stdout


def test_demo_leaves_a_directory_of_the_user_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    result = CliRunner().invoke(demo, [str(tmp_path)])
    assert result.exit_code == 2
    assert "holds something else" in result.output and str(tmp_path) in result.output
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_demo_names_what_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(demo, [str(tmp_path / "file" / "below")])
    assert result.exit_code == 2
    assert "cannot write" in result.output


def test_table_aligns_its_columns() -> None:
    assert table([["a", "bb"], ["ccc", "d"]]).splitlines() == ["  a    bb", "  ---  --", "  ccc  d"]
