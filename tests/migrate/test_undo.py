"""The journal: what a run replaced comes back byte for byte, and nothing that a person changed is lost."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.files import journal
from nnx_migrate.migrate.files.atomic import write_atomic

OLD = b"import jax\r\nx = jax.tree_map(str, {})  # \xc3\xa9"
NEW = OLD.replace(b"tree_map", b"tree.map")


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(program, [str(arg) for arg in args])


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/a.py").write_bytes(OLD)
    (tmp_path / "pkg/b.py").write_bytes(OLD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_undo_restores_exactly(tree: Path) -> None:
    (tree / "pkg/a.py").chmod(0o640)
    assert run("pkg").exit_code == 0
    assert (tree / "pkg/a.py").read_bytes() == NEW
    result = run("undo")
    assert result.exit_code == 0 and result.stdout.count("restored") == 2
    assert (tree / "pkg/a.py").read_bytes() == OLD and (tree / "pkg/b.py").read_bytes() == OLD
    assert (tree / "pkg/a.py").stat().st_mode & 0o777 == 0o640
    again = run("undo")
    assert again.exit_code == 2 and "nothing to undo" in again.output


def test_undo_from_below_the_root(tree: Path) -> None:
    run("pkg")
    assert run("undo", tree / "pkg").exit_code == 0
    assert (tree / "pkg/a.py").read_bytes() == OLD


def test_refused_after_a_change_unless_forced(tree: Path) -> None:
    run("pkg")
    (tree / "pkg/a.py").write_bytes(NEW + b"\n# mine")
    refused = run("undo")
    assert refused.exit_code == 2 and "pkg/a.py" in refused.output and "--force" in refused.output
    assert (tree / "pkg/b.py").read_bytes() == NEW, "all or nothing"
    assert run("undo", "--force").exit_code == 0
    assert (tree / "pkg/a.py").read_bytes() == OLD and (tree / "pkg/b.py").read_bytes() == OLD


def test_one_run_after_the_other(tree: Path) -> None:
    run("pkg/a.py")
    run("pkg/b.py")
    run("undo")
    assert (tree / "pkg/a.py").read_bytes() == NEW and (tree / "pkg/b.py").read_bytes() == OLD
    run("undo")
    assert (tree / "pkg/a.py").read_bytes() == OLD


def test_a_run_that_was_killed_half_way_can_be_undone(tree: Path) -> None:
    changes: dict[Path, tuple[bytes | None, bytes]] = {
        tree / "pkg/a.py": (OLD, NEW),
        tree / "pkg/b.py": (OLD, NEW),
        tree / "pkg/new.py": (None, b"new"),
    }
    journal.record(tree, changes, tool="test")
    write_atomic(tree / "pkg/a.py", NEW)
    write_atomic(tree / "pkg/new.py", b"new")
    assert run("undo").exit_code == 0
    assert (tree / "pkg/a.py").read_bytes() == OLD and not (tree / "pkg/new.py").exists()


def test_last_run_is_what_verify_reads(tree: Path) -> None:
    assert journal.last_run(tree) is None
    run("pkg")
    last = journal.last_run(tree)
    assert last is not None and last.root == tree
    assert last.originals == {tree / "pkg/a.py": OLD, tree / "pkg/b.py": OLD}
    assert journal.find_root(tree / "pkg/a.py") == tree


def test_a_run_that_changes_nothing_records_nothing(tree: Path) -> None:
    run("pkg")
    before = sorted(tree.rglob("*"))
    assert run("pkg").exit_code == 0
    assert sorted(tree.rglob("*")) == before


def test_damaged_journals_are_refused(tree: Path) -> None:
    run("pkg")
    last = journal.last_run(tree)
    assert last is not None
    stored = next((last.directory / "originals").iterdir())
    stored.chmod(0o600)
    stored.write_bytes(b"rotten")
    result = run("undo")
    assert result.exit_code == 2 and "damaged" in result.output and (tree / "pkg/a.py").read_bytes() == NEW
    manifest = last.directory / "manifest.json"
    data = json.loads(manifest.read_text())
    data["files"][0]["path"] = "../../etc/passwd"
    manifest.write_text(json.dumps(data))
    assert "leads out of" in run("undo").output
    manifest.write_text("{")
    assert "damaged" in run("undo").output


def test_two_trees_outside_any_project(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_bytes(OLD)
    assert run(tmp_path / "one", tmp_path / "two").exit_code == 0
    assert journal.find_root(tmp_path / "one") == tmp_path
    assert run("undo", tmp_path).exit_code == 0
    assert (tmp_path / "two/a.py").read_bytes() == OLD


def test_atomic_write_leaves_no_debris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(5, "I/O error")))
    with pytest.raises(OSError, match="I/O"):
        write_atomic(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1
