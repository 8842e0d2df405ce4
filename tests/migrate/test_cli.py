"""The command line from outside: what is printed, written and returned, and what is imported on the way."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nnx_migrate.migrate.cli import program

OLD = "import jax\n\n\ndef f(x):\n    return jax.tree_map(lambda a: a + 1, x)  # keep me\n"
NEW = OLD.replace("jax.tree_map", "jax.tree.map")
PLAIN = "import jax\n\nx = jax\n"


def run(*args: str | Path, input: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(program, [str(arg) for arg in args], input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def shell(*args: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/old.py").write_text(OLD)
    (tmp_path / "pkg/plain.py").write_text(PLAIN)
    return tmp_path


def contents(tree: Path) -> dict[str, bytes]:
    return {p.relative_to(tree).as_posix(): p.read_bytes() for p in tree.rglob("*")
            if p.is_file() and ".nnx-migrate" not in p.parts and ".git" not in p.parts}  # fmt: skip


def test_in_place_then_nothing_left_to_do(tree: Path) -> None:
    result = run("pkg")
    assert result.exit_code == 0 and "1 file migrated" in result.stdout
    assert (tree / "pkg/old.py").read_text() == NEW and (tree / "pkg/plain.py").read_text() == PLAIN
    before = contents(tree)
    again = run("pkg", "--check")
    assert again.exit_code == 0 and contents(tree) == before
    assert run("pkg").exit_code == 0 and contents(tree) == before


def test_check_and_diff_write_nothing_and_exit_1(tree: Path) -> None:
    before = contents(tree)
    assert run("--check", "pkg").exit_code == 1
    result = run("pkg", "--diff")
    assert result.exit_code == 1 and "+    return jax.tree.map" in result.stdout and "would be migrated" in result.stderr
    assert contents(tree) == before and not (tree / ".nnx-migrate").exists()


@pytest.mark.parametrize("order", [("--check", "pkg"), ("pkg", "--check")])
def test_options_on_either_side_of_paths(tree: Path, order: tuple[str, str]) -> None:
    assert run(*order).exit_code == 1


ODD = {
    "no_newline.py": b"import jax\nx = jax.tree_map(str, {})",
    "crlf.py": b"import jax\r\n\r\nx = jax.tree_map(str, {})\r\n",
    "latin.py": b"# -*- coding: latin-1 -*-\nimport jax\nx = jax.tree_map(str, {})  # caf\xe9\n",
    "bom.py": b"\xef\xbb\xbfimport jax\nx = jax.tree_map(str, {})\n",
    "with space.py": b"import jax\nx = jax.tree_map(str, {})\n",
    "unic\u00f6de.py": b"import jax\nx = jax.tree_map(str, {})\n",
    "form\\feed.py": b"import jax\n\x0c\nx = jax.tree_map(str, {})\n",
    "sub/nb.ipynb": json.dumps(
        {"cells": [{"cell_type": "code", "source": ["import jax\n", "jax.tree_map(str, {})"], "outputs": []}]}
    ).encode(),
}


def test_git_apply_takes_the_patch_of_odd_files(tree: Path) -> None:
    for name, data in ODD.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_bytes(data)
    patched = tree.parent / f"{tree.name}-patched"
    shutil.copytree(tree, patched)
    result = run(".", "--diff")
    assert result.exit_code == 1, result.output
    (tree.parent / "the.patch").write_bytes(result.stdout_bytes)
    shell("git", "init", "-q", cwd=patched)
    applied = shell("git", "apply", "--whitespace=nowarn", tree.parent / "the.patch", cwd=patched)
    assert applied.returncode == 0, applied.stderr
    assert run(".").exit_code == 0
    shutil.rmtree(patched / ".git")
    assert contents(patched) == contents(tree)
    for name in ODD:
        assert b"tree.map" in (tree / name).read_bytes(), name
    changed = (tree / "crlf.py").read_bytes()
    assert changed == ODD["crlf.py"].replace(b"tree_map", b"tree.map")


def test_patch_of_files_elsewhere_says_where_to_apply_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "here").mkdir()
    monkeypatch.chdir(tree / "here")
    result = run("../pkg", "--diff")
    assert f"Apply the patch in {tree}" in result.stderr and "--- a/pkg/old.py" in result.stdout.replace(
        "a/old.py", "a/pkg/old.py"
    )


def test_output_leaves_the_original_alone(tree: Path) -> None:
    before = contents(tree)
    result = run("pkg", "--output", "out")
    assert result.exit_code == 0
    assert (tree / "out/old.py").read_text() == NEW and (tree / "out/plain.py").read_text() == PLAIN
    assert {name: data for name, data in contents(tree).items() if not name.startswith("out/")} == before
    assert not (tree / ".nnx-migrate").exists()
    inside = run("pkg", "--output", "pkg/out")
    assert inside.exit_code == 2 and "outside" in inside.stderr


def test_output_takes_the_other_files_of_the_tree_along(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nnx_migrate.migrate.cli_migrate._LARGE", 100)
    (tree / "pkg" / "data").mkdir()
    (tree / "pkg" / "data" / "vocabulary.json").write_text("{}")
    (tree / "pkg" / "run.sh").write_text("python old.py")
    (tree / "pkg" / "run.sh").chmod(0o755)
    (tree / "pkg" / "weights.bin").write_bytes(b"0" * 101)
    (tree / "pkg" / ".gitignore").write_text("*.log\n")
    (tree / "pkg" / "today.log").write_text("ignored")
    (tree / "pkg" / "__pycache__").mkdir()
    (tree / "pkg" / "__pycache__" / "old.pyc").write_text("")
    result = run("pkg", "--output", "out")
    assert result.exit_code == 0 and "weights.bin" in result.stderr and "vocabulary" not in result.stderr
    assert (tree / "out/data/vocabulary.json").read_text() == "{}" and os.access(tree / "out/run.sh", os.X_OK)
    assert (tree / "out/old.py").read_text() == NEW
    assert not any((tree / "out" / name).exists() for name in ("weights.bin", "today.log", "__pycache__"))


def test_standard_input(tree: Path) -> None:
    result = run("-", input=OLD)
    assert result.exit_code == 0 and result.stdout == NEW and "1 file would be migrated" in result.stderr
    assert run("-", input=PLAIN).stdout == PLAIN
    bad = run("-", input="def f(:\n")
    assert bad.exit_code == 2 and bad.stdout == "def f(:\n" and "NNX002" in bad.stderr
    assert run("-", "pkg").exit_code == 2


def test_one_bad_file_never_stops_the_others(tree: Path) -> None:
    bad = {
        "broken.py": b"import jax\ndef f(:\n",
        "bytes.py": b"import jax\nx = '\xff'\n",
        "cookie.py": b"# -*- coding: klingon -*-\nimport jax\n",
        "null.py": b"import jax\nx = '\0'\n",
        "nb.ipynb": b'{"cells": [  jax',
        "list.ipynb": b'["jax"]',
    }
    for name, data in bad.items():
        (tree / "pkg" / name).write_bytes(data)
    result = run("pkg", "missing/path.py")
    assert result.exit_code == 2
    for name in [*bad, "missing/path.py"]:
        assert f"{name}:" in result.stdout, name
    for code in ("NNX002", "NNX003", "NNX004"):
        assert code in result.stdout
    assert (tree / "pkg/old.py").read_text() == NEW
    assert {name: (tree / "pkg" / name).read_bytes() for name in bad} == bad


def test_what_an_unreadable_file_makes_may_be_a_module(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("import flax\n")
    (package / "blocks.py").write_text("import flax.linen as nn\n\n\nclass Block(nn.Module:\n  pass\n")
    text = (
        "import flax.linen as nn\n\nfrom .blocks import Block\n\n\nclass Stack(nn.Module):\n"
        "  def setup(self):\n    self.blocks = [Block(3) for _ in range(2)]\n\n"
        "  def __call__(self, x):\n    for block in self.blocks:\n      x = block(x)\n    return x\n"
    )
    (package / "stack.py").write_text(text)
    result = run(package)
    assert result.exit_code == 2 and "NNX138" in result.output + result.stderr
    assert "nnx.Module" not in (package / "stack.py").read_text()


def test_unreadable_directory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "pkg/secret").mkdir()
    real = os.scandir

    def scandir(path: str | Path) -> object:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = run("pkg")
    assert result.exit_code == 2 and "pkg/secret" in result.stdout and "Permission denied" in result.stdout
    assert (tree / "pkg/old.py").read_text() == NEW


def test_a_file_that_cannot_be_written(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "pkg/other.py").write_text(OLD)
    real = os.replace

    def replace(source: str, target: str | Path) -> None:
        if str(target).endswith("old.py"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    result = run("pkg")
    assert result.exit_code == 2 and "No space left" in result.stdout
    assert (tree / "pkg/old.py").read_text() == OLD and (tree / "pkg/other.py").read_text() == NEW
    assert not list(tree.rglob("*.tmp"))


@pytest.mark.parametrize("from_file", [False, True])
def test_jobs_are_the_cases_that_verify_runs_at_a_time(tree: Path, monkeypatch: pytest.MonkeyPatch, from_file: bool) -> None:
    import click
    from nnx_migrate.migrate import cli_migrate

    asked: list[int] = []

    @click.command()
    @click.option("--jobs", type=int, default=2)
    @click.argument("paths", nargs=-1)
    def verify(jobs: int, paths: tuple[str, ...]) -> None:
        asked.append(jobs)

    monkeypatch.setattr(cli_migrate, "load_command", lambda name: verify)
    if from_file:
        (tree / "pyproject.toml").write_text("[tool.nnx-migrate]\njobs = 5\n")
    given = [] if from_file else ["--jobs", "5"]
    assert run("pkg", "--verify", *given).exit_code == 0
    assert asked == [5]


@pytest.mark.parametrize(
    "args, says",
    [
        ((), "Usage"),
        (("--naming", "camel", "pkg"), "camel"),
        (("--jobs", "0", "pkg"), "jobs"),
        (("--report", "x.pdf", "pkg"), "x.pdf"),
        (("--report", "nowhere/x.json", "pkg"), "nowhere"),
        (("--report", "pkg.json", "--report", "folder.html", "pkg"), "directory"),
        (("--select", "XYZ", "pkg"), "XYZ"),
        (("--trace", "nothing", "pkg"), "MODULE:CALLABLE"),
        (("--diff", "--output", "out", "pkg"), "--output"),
        (("--verify", "--check", "pkg"), "--verify"),
        (("--nonsense", "pkg"), "--nonsense"),
    ],
)
def test_usage_errors(tree: Path, args: tuple[str, ...], says: str) -> None:
    (tree / "folder.html").mkdir()
    before = contents(tree)
    result = run(*args)
    assert result.exit_code == 2 and says in result.output and contents(tree) == before


def test_a_report_that_cannot_be_written_is_an_error_without_a_traceback(tree: Path, monkeypatch) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nnx_migrate.migrate.cli_migrate.write_atomic", full)
    result = run("pkg", "--diff", "--report", "r.json")
    assert result.exit_code == 2 and "r.json" in result.output and "No space left" in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_select_and_ignore(tree: Path) -> None:
    found = json.loads(run("explain", "--all", "--format", "json").stdout)
    code = next(rule["code"] for rule in found if rule["name"] == "removed-tree-functions" or "tree" in rule["name"])
    assert run("pkg", "--check", "--ignore", code).exit_code == 0
    assert run("pkg", "--check", "--select", code).exit_code == 1
    assert run("pkg", "--check", "--select", code[:4], "--ignore", "NNX0,NNX999").exit_code == 1
    assert run("pkg", "--check", "--select", "NNX001").exit_code == 0


def test_dirty_git_tree_is_refused(tree: Path) -> None:
    shell("git", "init", "-q", cwd=tree)
    shell("git", "add", ".", cwd=tree)
    shell("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", cwd=tree)
    (tree / "pkg/plain.py").write_text(PLAIN + "# edited\n")
    result = run("pkg")
    assert result.exit_code == 2 and "pkg/plain.py" in result.stderr and "--allow-dirty" in result.stderr
    assert (tree / "pkg/old.py").read_text() == OLD
    assert run("pkg", "--check").exit_code == 1  # nothing to guard
    assert run("pkg", "--allow-dirty").exit_code == 0
    assert (tree / "pkg/old.py").read_text() == NEW
    assert ".nnx-migrate" not in shell("git", "status", "--porcelain", cwd=tree).stdout


def test_a_path_named_like_a_command(tree: Path) -> None:
    (tree / "demo").mkdir()
    (tree / "demo/old.py").write_text(OLD)
    assert run("./demo").exit_code == 0
    assert (tree / "demo/old.py").read_text() == NEW


def test_symlinks_are_not_followed_out_of_the_tree(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "far.py").write_text(OLD)
    (tree / "pkg/link.py").symlink_to(outside / "far.py")
    (tree / "pkg/linked").symlink_to(outside)
    assert run("pkg").exit_code == 0
    assert (outside / "far.py").read_text() == OLD and (tree / "pkg/link.py").is_symlink()
    assert run("pkg/link.py").exit_code == 0  # named explicitly: the file behind it is replaced, the link stays
    assert (outside / "far.py").read_text() == NEW and (tree / "pkg/link.py").is_symlink()


def test_mode_bits_stay(tree: Path) -> None:
    (tree / "pkg/old.py").chmod(0o751)
    run("pkg")
    assert (tree / "pkg/old.py").stat().st_mode & 0o777 == 0o751


def test_suppression_comments(tree: Path) -> None:
    line = "x = jax.tree_map(str, {})"
    text = f"import jax\n{line}  # nnx-migrate: ignore\n# nnx-migrate: ignore[NNX]\n{line}\n"
    text += f"{line}  # nnx-migrate: ignore[NNX0]\n"
    (tree / "pkg/old.py").write_text(text)
    (tree / "pkg/skipped.py").write_text(f"# nnx-migrate: skip-file\n{OLD}")
    assert run("pkg").exit_code == 0
    assert (tree / "pkg/old.py").read_text() == text[: text.rindex("tree_map")] + text[text.rindex("tree_map") :].replace(
        "tree_map", "tree.map"
    )
    assert (tree / "pkg/skipped.py").read_text().count("tree_map") == 1


def python(code: str) -> subprocess.CompletedProcess[str]:
    return shell(sys.executable, "-c", code)


def test_help_imports_nothing_heavy() -> None:
    done = python(
        "import sys\nfrom nnx_migrate.migrate.cli import program\n"
        "try:\n    program(['--help'], prog_name='nnx-migrate')\nexcept SystemExit as e:\n    assert e.code == 0\n"
        "bad = {'libcst', 'jax', 'flax', 'numpy', 'pathspec'} & set(sys.modules)\nassert not bad, bad\n"
        "print('OK')"
    )
    assert done.stdout.endswith("OK\n"), done.stderr
    for name in ("explain", "undo", "verify", "checkpoint", "demo", "--diff", "--trace"):
        assert name in done.stdout


def test_migrating_imports_neither_jax_nor_flax(tree: Path) -> None:
    (tree / "pkg/model.py").write_text(
        "import flax.linen as nn\nimport jax\n\n\nclass M(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        return jax.tree_map(str, nn.Dense(3)(x))\n"
    )
    done = python(
        "import sys\nfrom nnx_migrate.migrate.cli import program\n"
        f"try:\n    program([{str(tree / 'pkg')!r}, '--report', {str(tree / 'r.html')!r}])\n"
        "except SystemExit:\n    pass\n"
        "bad = {'jax', 'flax', 'numpy', 'optax', 'orbax'} & set(sys.modules)\nassert not bad, bad\nprint('OK')"
    )
    assert done.stdout.endswith("OK\n"), done.stderr
    assert "tree.map" in (tree / "pkg/old.py").read_text()


def test_the_installed_script(tree: Path) -> None:
    script = Path(sys.executable).with_name("nnx-migrate")
    assert shell(script, "--version").stdout.startswith("nnx-migrate, version ")
    done = shell(script, "pkg", cwd=tree)
    assert done.returncode == 0 and "\033[" not in done.stdout and done.stderr == ""


def test_a_crash_in_the_tool_costs_one_file_only(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nnx_migrate.migrate import pipeline

    real = pipeline.apply_rules

    def crash(context: object, rules: object) -> None:
        if context.source.path.name == "plain.py":  # type: ignore[attr-defined]
            raise KeyError("boom")
        real(context, rules)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "apply_rules", crash)
    result = run("pkg")
    assert result.exit_code == 2 and "pkg/plain.py" in result.stdout and "NNX001" in result.stdout
    assert "boom" in result.stdout and (tree / "pkg/old.py").read_text() == NEW


def test_explain(tree: Path) -> None:
    text = run("explain", "nnx002").stdout
    assert text.startswith("NNX002 does-not-parse") and "How sure" in text
    assert run("explain", "NNX00").stdout.count("How sure") >= 5
    assert "NNX003  unreadable-path" in run("explain", "--all").stdout
    rules = json.loads(run("explain", "--all", "--format", "json").stdout)
    assert {"code", "name", "summary", "what", "why", "how_sure", "examples"} == set(rules[0])
    wrong = run("explain", "NNX0O2")
    assert wrong.exit_code == 2 and "NNX002" in wrong.output
    assert run("explain").exit_code == 2
