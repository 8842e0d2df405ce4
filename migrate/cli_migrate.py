"""The main command: run the codemod, then show, check or write what came out."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TextIO

import click

from .cli import _Failure, load_command, stdout_bytes
from .cli_run import migrate_contents, migrate_paths, with_command_line
from .config import Config, ConfigError, find_config
from .context import Options
from .diagnostics import Severity
from .files import git, journal
from .files.atomic import write_atomic
from .linen.evidence.trace import TraceError
from .report import formats, patch
from .report.model import FileReport, Finding, RunReport, Status

_LARGE = 10 << 20  # bytes of a file that --output does not copy
_STDIN = Path("-")


def version() -> str:
    return importlib.metadata.version("nnx-migrate")


def migrate(
    ctx: click.Context,
    *,
    paths: tuple[Path, ...],
    show_diff: bool,
    check: bool,
    output: Path | None,
    reports: tuple[Path, ...],
    output_format: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    naming: str | None,
    jit: str | None,
    no_bridge: bool,
    jobs: int | None,
    allow_dirty: bool,
    verify: bool,
    trace: tuple[str, ...],
) -> int:
    """The exit status of one run; raises click exceptions for usage errors and refusals."""
    _check_usage(ctx, paths, show_diff, check, output, verify, trace)
    for file in reports:
        if file.is_dir() or not file.parent.is_dir():
            reason = "it is a directory" if file.is_dir() else f"there is no directory {file.parent}"
            raise click.UsageError(f"--report {file}: {reason}.", ctx)
    stdin = paths == (_STDIN,)
    try:
        config = find_config([Path.cwd()] if stdin else [path for path in paths if path.exists()])
    except ConfigError as error:
        raise _Failure(str(error)) from error
    options = with_command_line(
        config, select=select, ignore=ignore, naming=naming, jit=jit, bridge=False if no_bridge else None, trace=trace,
    )  # fmt: skip
    if stdin:
        return _standard_input(options, config, show_diff, check, reports)
    progress = _Progress()
    try:
        report = migrate_paths(paths, options, config, version=version(), progress=progress)
    except TraceError as error:
        raise _Failure(str(error)) from error
    finally:
        progress.done()
    dry = show_diff or check
    if not dry and output is not None:
        _write_tree(report, paths, output)
    elif not dry:
        _write_in_place(report, paths, allow_dirty)
    _write_reports(report, reports)
    if show_diff:
        _print_patch(report)
        if output_format == "text":
            click.echo(formats.text(report, color=_color(sys.stderr), check=True), err=True, nl=False)
    elif output_format == "text":
        click.echo(formats.text(report, color=_color(sys.stdout), check=check), nl=False)
    if output_format != "text" and not show_diff:
        click.echo(formats.render(report, f".{output_format}"), nl=False)
    status = _status(report, dry)
    if verify and not dry:
        status = max(status, _verify(paths, status, jobs or config.jobs))
    return status


def _check_usage(
    ctx: click.Context,
    paths: tuple[Path, ...],
    show_diff: bool,
    check: bool,
    output: Path | None,
    verify: bool,
    trace: tuple[str, ...],
) -> None:
    if not paths:
        raise click.UsageError("Missing PATH: name files or directories, or - for standard input.", ctx)
    if _STDIN in paths and len(paths) > 1:
        raise click.UsageError("- (standard input) cannot stand beside other paths.", ctx)
    if output is not None and (show_diff or check or _STDIN in paths):
        raise click.UsageError("--output writes files; --diff, --check and - do not.", ctx)
    if verify and (show_diff or check or output is not None or _STDIN in paths):
        raise click.UsageError("--verify compares a migration in place with what was there before.", ctx)
    for item in trace:
        if not re.fullmatch(r"[\w.]+:[\w.]+", item):
            raise click.UsageError(f"--trace {item}: give MODULE:CALLABLE, as in my_project.model:create.", ctx)


def _write_reports(report: RunReport, files: tuple[Path, ...]) -> None:
    for file in files:
        try:
            write_atomic(file, formats.render(report, file.suffix).encode())
        except OSError as error:
            raise _Failure(f"the report {file} cannot be written: {error.strerror}; all else is done") from error


def _status(report: RunReport, dry: bool) -> int:
    if report.errors:
        return 2
    return 1 if report.left_over or (dry and report.changed) else 0


def _color(stream: TextIO) -> bool:
    return "NO_COLOR" not in os.environ and stream.isatty()


class _Progress:
    """One changing line on standard error, only where that is a terminal."""

    def __init__(self) -> None:
        self.on = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self.on:
            sys.stderr.write(f"\r\033[K{text} ...")
            sys.stderr.flush()

    def done(self) -> None:
        if self.on:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _print_patch(report: RunReport) -> None:
    """The patch with names relative to here, or, where files lie outside, to the directory that holds them all."""
    here = Path.cwd()
    base = here
    if any(here not in Path(os.path.abspath(file.path)).parents for file in report.changed):
        base = journal.project_root([file.path for file in report.changed])
        click.echo(f"Apply the patch in {base}.", err=True)
    stdout_bytes()(patch.patch(report, base))


# writing -------------------------------------------------------------------------------------------------------
def _write_in_place(report: RunReport, paths: tuple[Path, ...], allow_dirty: bool) -> None:
    changed = report.changed
    if not changed:
        report.written = True
        return
    if not allow_dirty:
        for top, files in git.dirty(file.path for file in changed).items():
            listed = ", ".join(files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
            raise _Failure(
                f"{top} has uncommitted changes ({listed}); nothing was written. "
                "Commit or stash them first, or give --allow-dirty."
            )
    root = journal.project_root([path for path in paths if path.exists()])
    stale = [file for file in changed if _current(file.path) != file.before]
    for file in stale:
        _failed(file, "was changed by something else while it was being migrated", "Run again.")
    changed = report.changed
    if not changed:
        return
    try:
        kept = {file.path: (file.before, file.after or b"") for file in changed}
        journal.record(root, kept, tool=report.tool, report=formats.render(report, ".json"))
    except OSError as error:
        raise _Failure(
            f"{root / journal.DIRECTORY}: the originals cannot be kept for `nnx-migrate undo`: {error.strerror}; "
            "nothing was written. Make the directory writable, or use --output DIR."
        ) from error
    for file in changed:
        try:
            write_atomic(file.path, file.after or b"")
        except OSError as error:
            _failed(file, f"cannot be written: {error.strerror}", "Make the file and its directory writable.")
    report.written = True


def _write_tree(report: RunReport, paths: tuple[Path, ...], output: Path) -> None:
    """The migrated tree below `output`: every file of the run, changed or not, where its PATH had it.

    What else a directory holds (data files of the package, its configuration) goes along, as far as git would see it.
    """
    inside = os.path.realpath(output)
    for path in paths:
        if path.is_dir() and Path(inside).is_relative_to(os.path.realpath(path)):
            raise _Failure(f"--output {output}: lies inside {path}; give a directory outside of it.")
    for file in report.files:
        if file.status is Status.FAILED and not file.path.is_file():
            continue
        target = output / _relative(file.path, paths)
        try:
            data = file.after if file.after is not None else file.path.read_bytes()
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = file.path.stat().st_mode & 0o7777 if file.path.exists() else None
            write_atomic(target, data, mode=mode)
        except OSError as error:
            _failed(file, f"cannot be written to {target}: {error.strerror}", "Make the directory writable.")
    _write_others({file.path for file in report.files}, paths, output)
    report.written = True


def _write_others(known: set[Path], paths: tuple[Path, ...], output: Path) -> None:
    """The files of the directories that are no code; large ones are left out and said, and so is what cannot be copied."""
    from .files.walk import walk

    left: list[str] = []
    for found in walk([path for path in paths if path.is_dir()], lambda path: False, [], suffixes=("",)):
        if found.path in known:
            continue
        target = output / _relative(found.path, paths)
        try:
            if found.path.stat().st_size > _LARGE:
                left.append(str(found.path))
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(found.path, target)
        except OSError:
            left.append(str(found.path))
    if left:
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        click.echo(f"not copied (over {_LARGE >> 20} MiB, or unreadable): {', '.join(left[:3])}{more}", err=True)


def _relative(path: Path, paths: tuple[Path, ...]) -> Path:
    for given in paths:
        if given.is_dir() and (path == given or given in path.parents):
            return path.relative_to(given)
    return Path(path.name)


def _current(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _failed(file: FileReport, message: str, help: str) -> None:
    file.status = Status.FAILED
    file.after = None
    file.findings.append(Finding("NNX003", Severity.ERROR, 1, 1, message, help))


# the other ways ------------------------------------------------------------------------------------------------
def _standard_input(options: Options, config: Config, show_diff: bool, check: bool, reports: tuple[Path, ...]) -> int:
    """Migrate standard input to standard output; findings go to standard error."""
    data = sys.stdin.buffer.read()
    name = Path("stdin.ipynb" if data.lstrip()[:1] == b"{" else "stdin.py")
    report = migrate_contents({name: data}, options, config, version=version(), named={name})
    main = next(file for file in report.files if file.path == name)
    for file in report.files:
        if file is not main and file.after is not None:
            finding = f"the code needs a file {file.path} beside it, which standard output cannot hold"
            main.findings.append(
                Finding("NNX003", Severity.ERROR, 1, 1, finding, "Migrate the file by its name instead of -.")
            )
    if show_diff:
        stdout_bytes()(patch.patch(report, Path.cwd()))
    elif not check:
        stdout_bytes()(data if main.after is None else main.after)
    _write_reports(report, reports)
    click.echo(formats.text(report, color=_color(sys.stderr), check=True), err=True, nl=False)
    return _status(report, dry=show_diff or check)


def _verify(paths: tuple[Path, ...], status: int, jobs: int | None) -> int:
    if status == 2:
        click.echo("Not verified: some files failed. Correct them, or run `nnx-migrate verify` yourself.", err=True)
        return status
    command = load_command("verify")
    try:
        at_a_time = ["--jobs", str(jobs)] if jobs is not None else []
        result = command.main([*at_a_time, *map(str, paths)], prog_name="nnx-migrate verify", standalone_mode=False)
    except click.exceptions.Exit as leave:
        result = leave.exit_code
    return int(result) if isinstance(result, int) else 0
