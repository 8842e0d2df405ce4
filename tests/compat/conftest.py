"""Meshes and period checkpoints for the tests of the compat layer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import pytest

LEGACY = Path(__file__).resolve().parents[3] / "shared" / "legacy"


@pytest.fixture(scope="session")
def make_mesh() -> Callable[..., Any]:
    """Meshes of axes data and model, by shape; Auto as in the days of pjit."""
    import jax
    from jax.sharding import AxisType

    def make(shape: tuple[int, int] = (2, 4)) -> Any:
        return jax.make_mesh(shape, ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    return make


@pytest.fixture(scope="session")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """Checkpoints written by period stacks, where the checkout has them beside it."""
    import tarfile

    opened: dict[str, Path] = {}

    def get(era: str) -> Path:
        archive = LEGACY / f"{era}.tar.gz"
        if not archive.is_file():
            pytest.skip(f"{archive} is not there")
        if era not in opened:
            root = tmp_path_factory.mktemp(era)
            with tarfile.open(archive) as tar:
                tar.extractall(root, filter="data")
            opened[era] = root / era
        return opened[era]

    yield get
