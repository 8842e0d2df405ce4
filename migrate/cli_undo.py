"""`nnx-migrate undo`: the files as they were before the last migration."""

from __future__ import annotations

from pathlib import Path

import click

from .files import journal


@click.command()
@click.argument("path", required=False, default=".", type=click.Path(path_type=Path, exists=True))
@click.option("--force", is_flag=True, help="Put the originals back even over later changes.")
@click.pass_context
def undo(ctx: click.Context, path: Path, force: bool) -> None:
    """Put back, byte for byte, what the last migration around PATH (default: here) replaced.

    A second undo goes one migration further back. Refused where files were changed since.
    """
    try:
        root = journal.find_root(path)
        run = journal.last_run(root) if root is not None else None
        if run is None:
            raise journal.JournalError(f"{path}: no migration is recorded here or above; there is nothing to undo.")
        for file, what in journal.undo(run, force=force):
            click.echo(f"{what} {file}")
    except (journal.JournalError, OSError) as error:
        click.echo(f"Error: {error}", err=True)
        ctx.exit(2)
