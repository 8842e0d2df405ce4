"""A slice of the fuzzer: random Linen modules, migrated, compute what they computed."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
generator = importlib.import_module("generator")
fuzz = importlib.import_module("fuzz")
sys.path.pop(0)


@pytest.mark.parametrize("seed", range(1, 7))
def test_migrated_random_module_equals_its_original(seed: int, tmp_path: Path) -> None:
    program = generator.program(seed)
    found = fuzz.run(program, tmp_path)
    assert found["verdict"] in fuzz.GOOD, f"{found}\n{program.text}"


def test_some_of_the_slice_is_compared(tmp_path: Path) -> None:
    """The slice would be worthless if all of it were bridged: this one is written so plainly that it must be native."""
    text = generator.HEADER + "class Model(nn.Module):\n  width: int\n  @nn.compact\n  def __call__(self, x):\n"
    text += "    x = nn.relu(nn.Dense(self.width)(x))\n    return nn.LayerNorm()(x)\n"
    program = generator.Program(0, text, "Model", "width=4", ("3,6",), ())
    assert fuzz.run(program, tmp_path)["verdict"] in ("proved", "bitwise")


def test_the_comparison_sees_a_wrong_rewrite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: an activation exchanged in the migrated text must be found."""
    from nnx_migrate.migrate import pipeline

    real = pipeline.migrate_project

    def wrong(sources: object, options: object) -> object:
        run = real(sources, options)  # type: ignore[arg-type]
        for file in run.files:
            file.after = (file.after or "").replace("nnx.relu", "nnx.silu")
        return run

    monkeypatch.setattr(pipeline, "migrate_project", wrong)
    text = generator.HEADER + "class Model(nn.Module):\n  width: int\n  @nn.compact\n  def __call__(self, x):\n"
    text += "    return nn.relu(nn.Dense(self.width)(x))\n"
    program = generator.Program(0, text, "Model", "width=4", ("3,6",), ())
    assert fuzz.run(program, tmp_path)["verdict"] == "different"


@pytest.mark.parametrize("seed", range(50))
def test_every_program_parses_and_is_deterministic(seed: int) -> None:
    program = generator.program(seed)
    ast.parse(program.text)
    assert generator.program(seed) == program
