"""Every fixture model, migrated, beside its Linen original: same keys, same numbers, same gradients."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
sides = importlib.import_module("sides")
sys.path.pop(0)


def floats(*shape: int) -> Any:
    return jnp.asarray(np.random.RandomState(sum(shape)).randn(*shape), jnp.float32)


CASES = {
    "MLP": ("mlp_vae/models.py", "MLP", {"features": [8, 4]}, (floats(3, 6),), {}),
    "VAE": ("mlp_vae/models.py", "VAE", {}, (floats(3, 12),), {}),
    "Classifier": ("mlp_vae/models.py", "Classifier", {"num_classes": 3}, (floats(3, 6),), {}),
    "Reader": ("recurrent/models.py", "Reader", {"features": 4, "outputs": 3}, (floats(2, 5, 3),), {}),
    "Counter": ("recurrent/models.py", "Counter", {}, (floats(2, 3),), {}),
    "ViT": ("attention/models.py", "ViT", {}, (floats(2, 8, 8, 3),), {}),
    "ViT with a class token": ("attention/models.py", "ViT", {"pool": "tok"}, (floats(2, 8, 8, 3),), {}),
    "EncoderBlock": ("attention/models.py", "EncoderBlock", {}, (floats(2, 5, 8),), {}),
    "ResNet": (
        "resnet/model.py", "ResNet", {"stage_sizes": [1, 1], "num_classes": 5}, (floats(2, 16, 16, 3),), {"train": False}
    ),
    "CNN": ("cnn_ensemble/train.py", "CNN", {}, (floats(2, 8, 8, 1),), {}),
}  # fmt: skip
NATIVE = {"VAE", "ResNet", "CNN"}  # these must not fall back to the bridge


def import_file(path: Path, name: str) -> ModuleType:
    """The module of a project's file, imported with the project on the path and forgotten after."""
    sys.path.insert(0, str(path.parent))
    for loaded in (path.stem, "linen_parity", "model"):
        sys.modules.pop(loaded, None)
    try:
        return importlib.import_module(path.stem)
    finally:
        sys.path.pop(0)
        for loaded in (path.stem, "linen_parity", "model"):
            sys.modules.pop(loaded, None)


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, RunResult]]:
    """Migrates a fixture folder once: the folder of the result, and what was decided."""
    done: dict[str, tuple[Path, RunResult]] = {}

    def migrate(name: str) -> tuple[Path, RunResult]:
        if name not in done:
            folder = tmp_path_factory.mktemp(name)
            sources = [SourceFile.parse(p, p.stem, p.read_text()) for p in sorted((ROOT / "fixtures" / name).glob("*.py"))]
            run = migrate_project(sources, Options())
            for file in run.files:
                assert file.after is not None, file.diagnostics
                (folder / file.path.name).write_text(file.after)
            for path, text in run.created.items():
                (folder / path.name).write_text(text)
            done[name] = folder, run
        return done[name]

    return migrate


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", CASES)
def test_a_native_fixture_equals_its_original(case: str, projects: Callable[[str], tuple[Path, RunResult]]) -> None:
    file, name, fields, args, call = CASES[case]
    folder, run = projects(file.partition("/")[0])
    linen = getattr(import_file(ROOT / "fixtures" / file, case), name)(**fields)
    plan = next(p for p in run.classes if p.qualname.rpartition(".")[2] == name)
    if plan.outcome != "native":
        assert case not in NATIVE, plan.reason
        assert plan.code and plan.reason, "left without saying why"
        return
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    variables = sides.fuzz(dict(linen.init(keys, *args, **call)))
    expected = sides.arrays(linen.apply(variables, *args, **call))
    origin = [{"name": added.name, "from": added.origin} for added in plan.added_arguments]
    added = sides.evaluate_added(origin, sides.bound_call(linen, args, call))
    migrated = getattr(import_file(folder / Path(file).name, case), name)
    model = migrated(**fields, **added, rngs=nnx.Rngs(0))
    found = sides.compare_pair(linen, variables, model, args, call, expected)
    assert found["verdict"] in ("proved", "bitwise"), found


@pytest.mark.parametrize("name", ["lm", "resnet", "mlp_vae", "recurrent", "attention", "cnn_ensemble"])
def test_a_second_run_changes_nothing(name: str, projects: Callable[[str], tuple[Path, RunResult]]) -> None:
    folder, _ = projects(name)
    again = migrate_project([SourceFile.parse(p, p.stem, p.read_text()) for p in sorted(folder.glob("*.py"))], Options())
    changed = {file.path.name: file.after for file in again.files if file.after != file.before}
    assert not changed
