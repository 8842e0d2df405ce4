"""`nnx-migrate demo`: a Linen + pjit project and its old checkpoint come alive as NNX, before the newcomer's eyes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

PROJECT = ("config.py", "model.py", "data.py", "train.py", "checkpointing.py")


class Failure(click.ClickException):
    """The demo could not do what it shows; exit status 2 as for every error."""

    exit_code = 2


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
def demo(directory: Path | None) -> None:
    """Migrate a small Linen + pjit language model, restore its old checkpoint sharded, prove both sides equal.

    Files are left in DIR, by default ./nnx-migrate-demo, which must not exist or be an earlier demo's.
    """
    started = time.perf_counter()
    target = (directory or Path("nnx-migrate-demo")).resolve()
    prepare(target)
    click.echo("A Linen + pjit language model of flax 0.6.11 / jax 0.4.13, with the checkpoint it wrote then.\n")
    click.echo("1. Migrating its code ...")
    report = migrate(target)
    click.echo(rewritten(report))
    click.echo("\n2. Restoring its checkpoint on eight virtual devices (2 x 4), and checking both sides ...")
    found = check(target)
    click.echo(proved(found))
    click.echo("\n3. The migrated train.py, run as it stands:")
    click.echo(run_training(target / "nnx"))
    click.echo(f"\nDone in {time.perf_counter() - started:.0f} s. What to look at:")
    for name, what in (
        ("linen", "the project as it was"),
        ("nnx", "the project as it is now; compare model.py and train.py"),
        ("checkpoint", "the old checkpoint, untouched"),
        ("report.json", "every decision of the codemod"),
        ("equivalence.json", "every check of the comparison"),
    ):
        click.echo(f"  {target / name}  {what}")
    if not found["equal"]:
        raise Failure("the two sides are not equal; see the table above")


def fixture() -> Path:
    """Where the demo's project lies: in the installed package, or beside this one in a checkout."""
    try:
        from importlib.resources import files

        root = Path(str(files("nnx_migrate.fixtures")))
    except ModuleNotFoundError:
        root = Path(__file__).resolve().parent.parent / "fixtures"
    if not (root / "lm" / "model.py").is_file():
        raise Failure(f"the demo's project is missing from {root}; reinstall nnx-migrate")
    return root / "lm"


def prepare(target: Path) -> None:
    """A fresh DIR with the project and its checkpoint. An earlier demo is replaced, anything else is left alone."""
    marker = target / ".nnx-migrate-demo"
    if target.exists() and not marker.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Failure(f"{target} exists and holds something else; name another directory")
    try:
        if target.exists():
            shutil.rmtree(target)
        (target / "linen").mkdir(parents=True)
        marker.touch()
        source = fixture()
        for name in PROJECT:
            shutil.copy(source / name, target / "linen" / name)
        shutil.copytree(source / "checkpoint", target / "checkpoint")
        shutil.copy(source / "expected.npz", target / "expected.npz")
    except OSError as error:
        raise Failure(f"cannot write to {target}: {error}") from None


def migrate(target: Path) -> dict[str, Any]:
    """Run the command line as a user would, and read its report."""
    code = "from nnx_migrate.migrate.cli import main; main()"
    command = [sys.executable, "-c", code, "linen", "--output", "nnx", "--report", "report.json"]
    done = subprocess.run(command, cwd=target, capture_output=True, text=True)
    path = target / "report.json"
    if done.returncode not in (0, 1) or not path.exists():
        raise Failure(f"the migration failed:\n{done.stdout}{done.stderr}")
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def rewritten(report: dict[str, Any]) -> str:
    """What was rewritten, a line for each file and each class."""
    rows = [["file", "status"]]
    rows += [[Path(file["path"]).name, file["status"]] for file in report["files"]]
    classes = [["module", "became", "new arguments"]]
    for entry in report["classes"]:
        added = ", ".join(f"{item['name']} = {item['from']}" for item in entry["added_arguments"])
        classes.append([entry["name"], entry["outcome"], added])
    return table(rows) + "\n\n" + table(classes)


def check(target: Path) -> dict[str, Any]:
    """Restore, compare and train both sides in a process of its own, since it needs eight devices."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        code = "from nnx_migrate.compat.demo_check import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, str(target), str(path)], env=eight_devices(), capture_output=True, text=True
        )
        if done.returncode or not path.exists():
            raise Failure(f"checking the two sides failed:\n{done.stderr.strip()[-2000:]}")
        found: dict[str, Any] = json.loads(path.read_text())
    (target / "equivalence.json").write_text(json.dumps(found, indent=2))
    return found


def eight_devices() -> dict[str, str]:
    """The environment of a process that sees eight CPU devices."""
    flags = os.environ.get("XLA_FLAGS", "")
    return {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"{flags} --xla_force_host_platform_device_count=8".strip(),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def proved(found: dict[str, Any]) -> str:
    """Specs before and after, what was proved, and the losses of both sides."""
    specs = [["parameter", "shape", "Linen spec", "NNX spec", "restored as"]]
    specs += [[v["key"], v["shape"], v["linen"], v["nnx"], v["restored"]] for v in found["variables"]]
    checks = [["what", "verdict", "detail"]]
    checks += [[c["name"], c["verdict"], c["detail"]] for c in found["checks"]]
    losses = [["step", "Linen loss", "NNX loss", "difference"]]
    for step, (one, other) in enumerate(zip(found["losses"]["linen"], found["losses"]["nnx"]), found["step"] + 1):
        losses.append([str(step), f"{one:.6f}", f"{other:.6f}", f"{abs(one - other):.1e}"])
    return "\n\n".join([found["restored"], table(specs), table(checks), table(losses)])


def run_training(project: Path) -> str:
    """The last lines that the migrated program prints."""
    done = subprocess.run([sys.executable, "train.py"], cwd=project, env=eight_devices(), capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"the migrated train.py failed:\n{done.stderr.strip()[-2000:]}")
    lines = done.stdout.strip().splitlines()
    return "\n".join(f"  {line}" for line in lines[:2] + ["..."] + lines[-2:])


def table(rows: list[list[str]]) -> str:
    """Rows as aligned columns; the first row is the heading."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    lines = ["  " + "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  " + "  ".join("-" * width for width in widths))
    return "\n".join(lines)
