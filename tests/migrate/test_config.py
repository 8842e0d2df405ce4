"""[tool.nnx-migrate]: what it may say, and how it says what is wrong."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.cli_run import with_command_line
from nnx_migrate.migrate.config import Config, ConfigError, find_config, load_config
from nnx_migrate.migrate.context import Options

OLD = "import jax\nx = jax.tree_map(str, {})\n"


def config(root: Path, text: str) -> Path:
    file = root / "pyproject.toml"
    file.write_text(f"[project]\nname = 'x'\n[tool.nnx-migrate]\n{text}")
    return file


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(program, [str(arg) for arg in args])


@pytest.mark.parametrize(
    "text, says",
    [
        ("exlude = ['a']", "`exlude`. Did you mean `exclude`?"),
        ("zzz = 1", "Known keys: exclude"),
        ("exclude = 'a'", "`exclude` must be a list of strings"),
        ("select = [1]", "`select` must be a list"),
        ("naming = 'camel'", "one of linen, snake"),
        ("jit = 'xla'", "one of nnx, functional"),
        ("jobs = 0", "at least 1"),
        ("jobs = true", "whole number"),
        ("bridge = 'no'", "true or false"),
        ("overrides = 3", "array of tables"),
        ("[[tool.nnx-migrate.overrides]]\nselect = ['NNX8']", "`paths` is missing"),
        ("[[tool.nnx-migrate.overrides]]\npath = ['a']", "Did you mean `paths`?"),
        ("naming = [", "cannot be read"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, says: str) -> None:
    file = config(tmp_path, text)
    with pytest.raises(ConfigError) as info:
        load_config(file)
    assert says in str(info.value) and str(file) in str(info.value)
    (tmp_path / "a.py").write_text(OLD)
    result = run(tmp_path)
    assert result.exit_code == 2 and says in result.stderr and (tmp_path / "a.py").read_text() == OLD


def test_found_upwards_from_what_the_paths_share(tmp_path: Path) -> None:
    config(tmp_path, "naming = 'snake'\n[[tool.nnx-migrate.verify]]\nmodule = 'left to verify'")
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/c").mkdir()
    assert find_config([tmp_path / "a/b", tmp_path / "a/c"]).naming == "snake"
    assert find_config([]) == Config()


def test_command_line_wins_over_file_wins_over_default(tmp_path: Path) -> None:
    found = load_config(config(tmp_path, "naming = 'snake'\njit = 'functional'\nbridge = false\nignore = ['NNX8']"))
    assert with_command_line(found) == Options("snake", "functional", False, (), ("NNX8",))
    given = with_command_line(found, naming="linen", ignore=("NNX1",), select=(), bridge=None)
    assert given == Options("linen", "functional", False, (), ("NNX1",))
    assert with_command_line(Config()) == Options()


def test_exclude(tmp_path: Path) -> None:
    config(tmp_path, "exclude = ['gen/', '*_old.py', '/top.py']")
    for name in ("gen/a.py", "b_old.py", "top.py", "sub/top.py", "c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(OLD)
    assert run(tmp_path).exit_code == 0
    changed = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.py") if "tree.map" in p.read_text()}
    assert changed == {"sub/top.py", "c.py"}
    assert run(tmp_path / "b_old.py").exit_code == 0  # named: not excluded
    assert "tree.map" in (tmp_path / "b_old.py").read_text()


def test_overrides_select_rules_by_path(tmp_path: Path) -> None:
    config(tmp_path, "[[tool.nnx-migrate.overrides]]\npaths = ['tests/**']\nignore = ['NNX8']\n")
    for name in ("tests/a.py", "b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(OLD)
    assert run(tmp_path).exit_code == 0
    assert (tmp_path / "tests/a.py").read_text() == OLD and "tree.map" in (tmp_path / "b.py").read_text()
