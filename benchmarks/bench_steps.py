"""What a training step costs before and after migration: Linen, `--jit nnx`, `--jit functional`.

    python benchmarks/bench_steps.py [--layers 12] [--width 128] [--steps 50] [--rounds 3] [--json FILE]

Migrates `steps_program.py` both ways and runs all three programs in turn, each in a process of its own on the devices that
the machine has. Every run is printed as it ends; the medians follow, with their ratios to Linen within the same round. Each
side starts from draws of its own, so that losses are alike and not equal; a side that did not train is an error.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("steps_program.py")
UNTRAINED = math.log(256)  # the loss of the program's vocabulary, evenly guessed
FIGURES = ("first_s", "step_ms", "dispatch_ms")


def migrated(folder: Path, jit: str) -> Path:
    """The program after migration with `--jit JIT`."""
    source = folder / f"source_{jit}"
    source.mkdir()
    (source / "program.py").write_text(PROGRAM.read_text())
    command = "from nnx_migrate.migrate.cli import main; main()"
    arguments = [str(source), "--jit", jit, "--output", str(folder / jit)]
    done = subprocess.run([sys.executable, "-c", command, *arguments], capture_output=True, text=True)
    if not (folder / jit / "program.py").is_file():
        raise SystemExit(f"the program could not be migrated with --jit {jit}:\n{done.stdout}{done.stderr}")
    return folder / jit / "program.py"


def run(program: Path, options: argparse.Namespace) -> dict[str, float]:
    sizes = [str(options.layers), str(options.width), str(options.steps)]
    done = subprocess.run([sys.executable, str(program), *sizes], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{program} failed:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {"linen": [], "nnx": [], "functional": []}
    with tempfile.TemporaryDirectory(prefix="nnx-migrate-bench") as name:
        programs = {"linen": PROGRAM, **{jit: migrated(Path(name), jit) for jit in ("nnx", "functional")}}
        for _ in range(options.rounds):
            for side, program in programs.items():
                figures = run(program, options)
                runs[side].append(figures)
                print(f"{side:10} " + "  ".join(f"{k} {v:.4g}" for k, v in figures.items()), flush=True)
    for side, rounds in runs.items():
        if not all(figures["loss"] < UNTRAINED for figures in rounds):  # NaN is not less, either
            raise SystemExit(f"{side} did not train: {rounds}")
    report = {}
    for figure in FIGURES:
        middle = {side: statistics.median(r[figure] for r in rounds) for side, rounds in runs.items()}
        ratios = {
            side: statistics.median(own[figure] / linen[figure] for own, linen in zip(rounds, runs["linen"]))
            for side, rounds in runs.items()
        }
        report[figure] = {"median": middle, "ratio": ratios}
        print(f"{figure:12}" + "  ".join(f"{side} {middle[side]:.4g} ({ratios[side]:.2f}x)" for side in runs))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
