"""`nnx-migrate verify PATH`: compares the code that is there now with what was there before the migration."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import click

from . import cases as cases_module
from . import other_interpreter
from .cases import FLAGS, Case, CaseError, Unchecked
from .mirror import mirror

#: Meshes up to so many devices are also made of this machine's, to compile for.
_DEVICES = 64


@click.command("verify", help="Prove that the migrated code does what the Linen code did; this runs both.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--against", default=None, help="A directory, or a git ref, with the Linen code; else the last migration's journal."
)
@click.option("--migration-report", type=click.Path(exists=True, path_type=Path), help="The migration's JSON report.")
@click.option(
    "--report", "reports", multiple=True, type=click.Path(path_type=Path), help="Write .html or .json; repeatable."
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--timeout", default=300.0, show_default=True, help="Seconds for each case.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Cases at a time.")
@click.option("--guess/--no-guess", default=True, show_default=True, help="Guess examples for modules without one.")
@click.option("--costs/--no-costs", default=True, show_default=True, help="Compile both sides: FLOPs, memory, collectives.")
@click.option(
    "--linen-python",
    type=click.Path(path_type=Path),
    help="Run the Linen code with this interpreter, or that of this virtual environment: old code on an old jax and flax. "
    "Both sides are then run and compared; nothing is proved.",
)
@click.option("--case", "only", multiple=True, help="Only the cases of this name; repeatable.")
def verify(
    paths: tuple[Path, ...],
    against: str | None,
    migration_report: Path | None,
    reports: tuple[Path, ...],
    output_format: str,
    timeout: float,
    jobs: int,
    guess: bool,
    costs: bool,
    linen_python: Path | None,
    only: tuple[str, ...],
) -> None:
    """Exit status: 0 all equal; 1 something is unchecked; 2 something is different, or a usage error."""
    for path in reports:
        if path.suffix not in (".html", ".json"):
            raise click.UsageError(f"--report {path}: the suffix must be .html or .json")
    interpreter = None
    if linen_python is not None:
        try:
            interpreter = other_interpreter.find(linen_python)
        except other_interpreter.InterpreterError as error:
            raise click.UsageError(f"--linen-python: {error}") from error
        guess = False  # examples are guessed from the Linen class, which may import in the other interpreter only
    results: list[dict[str, Any]] = []
    unchecked: list[dict[str, Any]] = []
    for path in paths:
        with baseline(path, against) as (before, after, why, recorded):
            try:
                given = cases_module.configured(after)
                found, without = cases_module.discover(before, given)
            except CaseError as error:
                raise click.UsageError(str(error)) from error
            chosen = [c for c in [*given, *found] if (not only or c.name in only) and _within(c.file, path, after)]
            without = [u for u in without if (not only or u.cls in only) and _within(u.file, path, after)]
            if guess:
                reasons = {(u.file, u.cls): u for u in without}
                chosen += cases_module.guesses(without)
                without = []
            if output_format == "text":
                ran = f", the Linen side in {interpreter}" if interpreter is not None else ""
                click.echo(f"{len(chosen)} cases against {why}{ran}", err=True)
            added = _added(migration_report or recorded)
            done = run_cases(chosen, before, after, added, timeout, jobs, costs=costs, interpreter=interpreter)
            for case, result in done:
                if "error" in result and case.guess:
                    known = reasons[case.file, case.cls]
                    unchecked.append({**_unchecked(known), "reason": f"{known.reason}; guessing: {result['error']}"})
                elif "error" in result:
                    unchecked.append({"name": case.name, "file": case.file, "reason": result["error"], "remedy": ""})
                else:
                    results += result["reports"]
            unchecked += [_unchecked(u) for u in without]
    document = {"version": 1, "results": results, "unchecked": unchecked}
    for path in reports:
        if path.suffix == ".json":
            path.write_text(json.dumps(document, indent=2))
        else:
            from .page import page

            path.write_text(page(document), encoding="utf-8")
    if output_format == "json":
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(text(document))
    status = 2 if any(r["verdict"] == "different" for r in results) else 0
    if not status and (unchecked or any(r["verdict"] == "unchecked" for r in results)):
        status = 1
    raise click.exceptions.Exit(status)


def text(document: dict[str, Any]) -> str:
    """The result for a terminal: a table, then what is wrong, then what was not checked and the lines to add."""
    from .report import table

    lines = []
    rows = []
    for r in document["results"]:
        checks = "  ".join(f"{c['name']} {c['verdict']}" for c in r["checks"])
        rows.append([r["name"], r["verdict"], checks])
    if rows:
        lines.append(table(["module", "verdict", "checks"], rows))
    for r in document["results"]:
        if r["verdict"] in ("different", "unchecked"):
            lines += ["", r["text"]]
        elif r["verdict"] != "proved":
            reasons = [c for c in r["checks"] if c["reason_not_proved"]]
            lines += [f"{r['name']}: {c['name']} is not proved: {c['reason_not_proved']}" for c in reasons[:2]]
    if document["unchecked"]:
        lines += ["", "Not checked:"]
        for u in document["unchecked"]:
            lines.append(f"  {u['name']} ({u['file']}): {u['reason']}")
            if u["remedy"]:
                lines += [f"      {line}" for line in u["remedy"].splitlines()]
    return "\n".join(lines) if lines else "No Linen module found to compare."


def run_cases(
    chosen: list[Case],
    before: Path,
    after: Path,
    added: dict[tuple[str, str], Any],
    timeout: float,
    jobs: int,
    *,
    costs: bool = False,
    interpreter: other_interpreter.Interpreter | None = None,
) -> list[tuple[Case, dict[str, Any]]]:
    """Every case in its own process; one that crashes, hangs or runs out of memory does not touch the others.

    Args:
        chosen: what to compare.
        before, after: the two trees.
        added: (file, class) → what the migration added to its constructor; see `worker.added_arguments`.
        timeout: seconds for each process.
        jobs: cases at a time.
        costs: also compile both sides.
        interpreter: another one for the Linen side, which is then a process of its own.

    Returns:
        Each case with `reports`, or with an `error`.
    """
    results: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="nnx-verify-") as scratch, ThreadPoolExecutor(jobs) as pool:

        def one(number: int, case: Case) -> dict[str, Any]:
            given, result = Path(scratch) / f"{number}.json", Path(scratch) / f"{number}.result.json"
            sizes = added.get((case.file, case.cls)) or added.get(("", case.cls), [])
            fields = {**case.to_dict(), "before": str(before), "after": str(after), "added": sizes, "costs": costs}
            if interpreter is not None:
                folder = Path(scratch) / f"{number}.linen"
                inputs = [cases_module.spelt_out(text) for text in case.inputs]
                request = {**fields, "inputs": inputs, "flags": FLAGS, "gradient": True}
                wrong = other_interpreter.run_linen(interpreter, request, folder, timeout)
                if wrong is not None:
                    return {"error": wrong}
                fields["linen_results"] = str(folder)
            given.write_text(json.dumps(fields))
            command = [sys.executable, "-m", "nnx_migrate.compat.equivalence.worker", str(given), str(result)]
            environment = {**os.environ, "JAX_PLATFORMS": os.environ.get("JAX_PLATFORMS", "cpu")}
            devices = math.prod(case.mesh.values())
            if 1 < devices <= _DEVICES:
                flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
                environment["XLA_FLAGS"] = flags.strip()
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=timeout, env=environment, cwd=scratch, check=False
                )
            except subprocess.TimeoutExpired:
                return {"error": f"did not end within {timeout:g} s; see --timeout"}
            if not result.exists():
                tail = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
                if done.returncode == -signal.SIGKILL:
                    return {"error": "the process was killed, most likely because memory ran out; see --jobs"}
                return {"error": f"the process ended with status {done.returncode}: {tail[0][:300]}"}
            loaded: dict[str, Any] = json.loads(result.read_text())
            return loaded

        futures = {pool.submit(one, i, c): i for i, c in enumerate(chosen)}
        for count, future in enumerate(as_completed(futures), 1):
            results[futures[future]] = future.result()
            if sys.stderr.isatty():
                click.echo(f"\r{count}/{len(chosen)}", err=True, nl=count == len(chosen))
    return [(case, results[i]) for i, case in enumerate(chosen)]


@contextlib.contextmanager
def baseline(path: Path, against: str | None) -> Iterator[tuple[Path, Path, str, Path | None]]:
    """The tree before and the tree after, what "before" is, and the migration's report where one was kept.

    Raises UsageError where there is nothing to compare with.
    """
    from ...migrate.files import journal

    root = (path if path.is_dir() else path.parent).resolve()
    if against is not None and Path(against).exists():
        other = Path(against).resolve()
        yield (other if other.is_dir() else other.parent), root, f"{against}", _kept(root)
        return
    with tempfile.TemporaryDirectory(prefix="nnx-before-") as scratch:
        before = Path(scratch) / "tree"
        if against is not None:
            top = _git_root(root)
            done = subprocess.run(["git", "-C", str(top), "archive", against], capture_output=True, check=False)
            if done.returncode:
                reason = done.stderr.decode(errors="replace").strip()
                raise click.UsageError(f"--against {against}: neither a directory nor a git ref of {top}: {reason}")
            with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
                archive.extractall(before, filter="data")
            yield before / root.relative_to(top), root, f"git {against}", _kept(root)
            return
        home = journal.find_root(root)
        last = journal.last_run(home) if home is not None else None
        if last is None:
            raise click.UsageError(
                f"{path}: no migration is recorded here; give the Linen code with --against DIRECTORY or a git ref"
            )
        mirror(last.root, before, last.originals, (*cases_module.SKIPPED, "*.pyc"))
        inside = root.relative_to(last.root.resolve()) if root.is_relative_to(last.root.resolve()) else Path()
        yield before / inside, root, f"the migration of {last.time}", last.report


def _kept(root: Path) -> Path | None:
    """The report of the last migration recorded for a tree."""
    from ...migrate.files import journal

    try:
        home = journal.find_root(root)
        last = journal.last_run(home) if home is not None else None
    except journal.JournalError:
        return None
    return last.report if last is not None else None


def _git_root(path: Path) -> Path:
    done = subprocess.run(
        ["git", "-C", str(path), "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise click.UsageError(f"{path}: --against names no directory, and this is no git work tree")
    return Path(done.stdout.strip()).resolve()


def _within(file: str, path: Path, root: Path) -> bool:
    return path.is_dir() or (root / file).resolve() == path.resolve()


def _added(report: Path | None) -> dict[tuple[str, str], Any]:
    """(file, class) → added constructor arguments, from the migration's JSON report; the file "" stands for any.

    A report has paths as its run was given them, so a class is also found by its name alone where that is unique.
    """
    if report is None:
        return {}
    found: dict[tuple[str, str], Any] = {}
    entries = json.loads(report.read_text()).get("classes", [])
    names = [one["name"].rpartition(".")[2] for one in entries]
    for name, one in zip(names, entries):
        found[Path(one.get("path", "")).as_posix(), name] = one.get("added_arguments", [])
        if names.count(name) == 1:
            found["", name] = one.get("added_arguments", [])
    return found


def _unchecked(one: Unchecked) -> dict[str, Any]:
    return {"name": one.cls, "file": f"{one.file}:{one.line}", "reason": one.reason, "remedy": one.remedy}
