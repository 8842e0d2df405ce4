"""What is installed is what stands here: every folder of the packages is named in pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_folder_with_code_is_a_package_that_is_installed() -> None:
    """An editable install finds folders that a wheel leaves out, so that no other test would miss them."""
    named = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    folders = {file.parent.relative_to(ROOT) for top in ("migrate", "compat") for file in (ROOT / top).rglob("*.py")}
    assert named - {"nnx_migrate.fixtures"} == {".".join(("nnx_migrate", *folder.parts)) for folder in folders}
