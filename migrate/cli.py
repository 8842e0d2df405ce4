"""The command `nnx-migrate`: thin, and quick to start because everything else is imported when it is needed."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import click

# Name → (module, attribute, one line for --help). Modules of compat need jax and are imported only when asked for.
_COMMANDS = {
    "explain": ("nnx_migrate.migrate.cli_explain", "explain", "Say what a code means: what, why, before, after."),
    "undo": ("nnx_migrate.migrate.cli_undo", "undo", "Put back what the last migration replaced."),
    "verify": ("nnx_migrate.compat.equivalence.command", "verify", "Prove that behaviour was kept."),
    "checkpoint": ("nnx_migrate.compat.command", "checkpoint", "inspect, convert or diff checkpoints."),
    "demo": ("nnx_migrate.compat.demo", "demo", "Watch a Linen project and its checkpoint come alive as NNX."),
}


def load_command(name: str) -> click.Command:
    """The click command behind a subcommand's name. Raises ClickException where its packages are not installed."""
    module, attribute, _ = _COMMANDS[name]
    try:
        command = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        missing = error.name or str(error)
        raise _Failure(
            f"`nnx-migrate {name}` needs {missing}, which cannot be imported ({error}). "
            "Install what it needs with: pip install 'nnx-migrate[jax]'"
        ) from error
    assert isinstance(command, click.Command)
    return command


class _Failure(click.ClickException):
    """An error that is not about usage; exit status 2 as for every error."""

    exit_code = 2


class _Program(click.Command):
    """`nnx-migrate PATH...`, or a subcommand where the first word is the name of one."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in _COMMANDS:
            name = args.pop(0)
            return load_command(name).make_context(f"{info_name} {name}", args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands (before any option; write ./NAME for a path of that name)"):
            formatter.write_dl([(name, help) for name, (_, _, help) in _COMMANDS.items()])
        with formatter.section("Exit status"):
            formatter.write_dl(
                [
                    ("0", "all done"),
                    ("1", "something is left for a person, or would change (--check, --diff)"),
                    ("2", "an error: usage, a file that cannot be read or parsed, a failed verification"),
                ]
            )


def _codes(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Split `NNX1,NNX205` and check the shape."""
    codes = tuple(code.strip().upper() for item in value for code in item.split(",") if code.strip())
    for code in codes:
        if not code.startswith("NNX") or (not code[3:].isalnum() and code != "NNX"):
            raise click.BadParameter(f"{code!r} is no rule code or prefix; codes look like NNX201, prefixes like NNX2.")
    return codes


def _report_file(_: click.Context, __: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
    from .report.formats import SUFFIXES

    for file in value:
        if file.suffix not in SUFFIXES:
            raise click.BadParameter(f"{file}: unknown kind of report; the suffix is one of {' '.join(SUFFIXES)}")
    return value


@click.command(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    no_args_is_help=True,
)
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--diff", "show_diff", is_flag=True, help="Print a patch for `git apply`; write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if something would change.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the migrated tree there, with its other files, and leave PATH alone.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    callback=_report_file,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a report; repeatable; .json .html .sarif .md",
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="What to print on standard output.",
)
@click.option("--select", multiple=True, callback=_codes, metavar="CODE,...", help="Only these rules (or prefixes).")
@click.option("--ignore", multiple=True, callback=_codes, metavar="CODE,...", help="Not these rules (or prefixes).")
@click.option(
    "--naming",
    type=click.Choice(["linen", "snake"]),
    help="Attribute names: as in Linen (checkpoint keys stay; default) or pythonic.",
)
@click.option(
    "--jit",
    type=click.Choice(["nnx", "functional"]),
    help="Training code: nnx.jit (default) or the form with the lowest dispatch cost.",
)
@click.option("--no-bridge", is_flag=True, help="Leave what cannot become native NNX as it is, rather than bridge it.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Cases that --verify runs at a time. [default: 2]")
@click.option("--allow-dirty", is_flag=True, help="Write even where git has uncommitted changes.")
@click.option("--verify", is_flag=True, help="Afterwards prove that behaviour was kept (runs the user's code).")
@click.option(
    "--trace",
    multiple=True,
    metavar="MODULE:CALLABLE",
    help="Settle sizes by running this callable abstractly, in a subprocess. The only option that runs your code.",
)
@click.version_option(package_name="nnx-migrate", prog_name="nnx-migrate")
@click.pass_context
def program(ctx: click.Context, /, **given: Any) -> None:
    """Migrate Flax Linen code to Flax NNX: files, directories and notebooks, in place, or - for standard input.

    What stands in PATH is never run. Everything that was replaced can be put back with `nnx-migrate undo`.
    """
    from .cli_migrate import migrate

    ctx.exit(migrate(ctx, **given))


def main() -> None:
    """Entry point of the console script."""
    try:
        program(prog_name="nnx-migrate")
    finally:
        gc.freeze()  # the process ends: nothing of the trees is worth a last collection


def stdout_bytes() -> Callable[[bytes], object]:
    """Where bytes for standard output go, whatever it was replaced by."""
    buffer: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    if buffer is not None:
        sys.stdout.flush()
        return buffer.write
    return lambda data: sys.stdout.write(data.decode(errors="replace"))
