"""The project as it was, beside the project: nothing large is copied, and nothing is written through a link."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.compat.equivalence.mirror import mirror


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "pkg" / "data").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("")
    (root / "pkg" / "model.py").write_text("new")
    (root / "pkg" / "made.py").write_text("made by the migration")
    (root / "pkg" / "data" / "weights.bin").write_bytes(b"\0" * 10)
    (root / "loop").symlink_to(".")
    (root / "round").symlink_to("round")
    (root / "gone").symlink_to("nowhere")
    (root / "alias").symlink_to("pkg")
    (root / "linked.py").symlink_to("pkg/model.py")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "lib.py").write_text("lib")
    (root / "vendor").symlink_to(tmp_path / "outside")
    return root


def test_code_is_copied_and_the_rest_is_linked(project: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    originals = {project / "pkg" / "model.py": b"old", project / "pkg" / "made.py": None}
    mirror(project, before, originals, [".git"])
    assert (before / "pkg" / "model.py").read_text() == "old" and not (before / "pkg" / "model.py").is_symlink()
    assert not (before / "pkg" / "made.py").exists() and not (before / ".git").exists()
    weights = before / "pkg" / "data" / "weights.bin"
    assert weights.is_symlink() and weights.resolve() == project / "pkg" / "data" / "weights.bin"
    assert (project / "pkg" / "model.py").read_text() == "new"


def test_links_lead_where_they_led(project: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    mirror(project, before, {project / "pkg" / "model.py": b"old"}, [])
    assert (before / "loop").resolve() == before.resolve()
    assert (before / "alias" / "model.py").read_text() == "old" == (before / "linked.py").read_text()
    assert (before / "vendor" / "lib.py").read_text() == "lib"
    assert not (before / "gone").is_symlink() and not (before / "round").is_symlink()


def test_an_original_is_not_written_through_a_link(project: Path, tmp_path: Path) -> None:
    notes = project / "notes.txt"
    notes.write_text("new")
    mirror(project, tmp_path / "before", {notes: b"old"}, [])
    assert notes.read_text() == "new" and (tmp_path / "before" / "notes.txt").read_text() == "old"
