"""`nnx-migrate checkpoint inspect | convert | diff`."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .errors import CompatError


class Failure(click.ClickException):
    """Errors of the checkpoint itself; exit status 2 as for every error."""

    exit_code = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def checkpoint() -> None:
    """Look into checkpoints of any era, convert them between Linen and NNX, compare them.

    Known layouts: flax msgpack files, GDA directories, Orbax 0.1 to today (OCDBT, zarr, zarr3; with steps and items),
    t5x, Hugging Face flax_model.msgpack, safetensors, npz. Pickles are never loaded.
    """


class _Number(click.ParamType):
    """A step: whole, or with decimals as old flax programs wrote them."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        try:
            return float(value) if "." in str(value) else int(value)
        except ValueError:
            self.fail(f"{value!r} is no number", param, ctx)


_STEP = click.option("--step", type=_Number(), help="Which step; the latest by default.")
_ITEM = click.option("--item", help="Which item of a composite checkpoint, or which part of a tree.")


def _open(path: str, step: float | None, item: str | None) -> Any:
    from .formats import open_checkpoint

    try:
        found = open_checkpoint(path, step=step, item=item)
    except CompatError as error:
        raise Failure(str(error)) from None
    if item is not None and item != found.item:
        found = found.under(tuple(item.split("/")))
        if not found.leaves:
            raise Failure(f"{path}: holds nothing under {item!r}")
    return found


@checkpoint.command()
@click.argument("path")
@_STEP
@_ITEM
@click.option("--format", "style", type=click.Choice(["tree", "table", "json"]), default="tree", show_default=True)
def inspect(path: str, step: float | None, item: str | None, style: str) -> None:
    """Layout, era, keys, shapes, dtypes, sizes and stored shardings. Reads no array."""
    from . import inspect as looking

    report = looking.describe(_open(path, step, item))
    click.echo({"tree": looking.as_tree, "table": looking.as_table, "json": looking.as_json}[style](report))


@checkpoint.command()
@click.argument("source")
@click.argument("destination")
@click.option("--to", type=click.Choice(["nnx", "linen"]), default="nnx", show_default=True)
@click.option(
    "--create",
    metavar="MODULE:FUNCTION",
    help="Your function that makes the NNX model, (model, optimizer), or a dict of these. It is imported and traced; "
    "keys of nnx.List entries, packed cells and rng streams come out right, and shapes are checked.",
)
@click.option(
    "--rename", "renames", multiple=True, metavar="OLD=NEW", help="A name, path or regular expression; repeatable."
)
@click.option("--restack", "restacks", multiple=True, metavar="OLD=NEW", help="Stack or unstack layers: 'Block_#=Blocks'.")
@click.option("--ignore", multiple=True, metavar="REGEX", help="Keys to leave out; repeatable.")
@click.option("--dtype", help="Cast: 'target', or a dtype for all floating arrays. Needs --create.")
@click.option("--as-step", type=int, help="Write DESTINATION/STEP/default, for a CheckpointManager.")
@_STEP
@_ITEM
@click.option("--quiet", is_flag=True, help="No progress bar.")
def convert(
    source: str,
    destination: str,
    to: str,
    create: str | None,
    renames: tuple[str, ...],
    restacks: tuple[str, ...],
    ignore: tuple[str, ...],
    dtype: str | None,
    as_step: int | None,
    step: float | None,
    item: str | None,
    quiet: bool,
) -> None:
    """Convert SOURCE to a checkpoint that plain Orbax restores into nnx.state(...), or back.

    Where only keys change, no array byte is read or copied. DESTINATION appears when it is complete; SOURCE is not
    touched.
    """
    from .convert import convert_checkpoint
    from .inspect import size

    bar = None if quiet or not sys.stderr.isatty() else _Bar()
    cast: Any = dtype
    if dtype is not None and dtype != "target":
        from .formats.base import dtype_from_name

        cast = _guarded(lambda: dtype_from_name(dtype, "--dtype"))
    done = _guarded(
        lambda: convert_checkpoint(
            source,
            destination,
            to=to,
            create=None if create is None else load_function(create),
            step=step,
            item=item,
            rename=_pairs("--rename", renames) or None,
            restack=_pairs("--restack", restacks) or None,
            ignore=ignore,
            dtype=cast,
            as_step=as_step,
            progress=bar,
        )
    )
    if bar is not None:
        bar.close()
    click.echo(
        f"{done.path}: {done.arrays} arrays, {size(done.linked_bytes)} linked, {size(done.streamed_bytes)} copied, "
        f"in {done.seconds:.2f} s"
    )


@checkpoint.command()
@click.argument("a")
@click.argument("b")
@click.option("--step", type=_Number(), help="Which step, of both.")
@click.option("--item", help="Which item, of both.")
@click.option("--keys-only", is_flag=True, help="Compare keys, shapes and dtypes; read no array.")
@click.option("--atol", type=float, default=0.0, show_default=True, help="Absolute tolerance of values.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def diff(a: str, b: str, step: float | None, item: str | None, keys_only: bool, atol: float, style: str) -> None:
    """Compare keys, shapes, dtypes and values of two checkpoints, across formats and across Linen and NNX.

    Exit status 0 if they are equal, 1 if they differ, 2 on errors.
    """
    from .diff import diff as compare

    left, right = _open(a, step, item), _open(b, step, item)
    result = _guarded(lambda: compare(left, right, values=not keys_only, atol=atol))
    if style == "json":
        rows = [{"kind": d.kind, "key": d.key, "message": d.message} for d in result.differences]
        click.echo(
            json.dumps({"version": 1, "equal": result.equal, "compared": result.compared, "differences": rows}, indent=2)
        )
    else:
        for d in result.differences:
            click.echo(f"{d.kind:7} {d.key}: {d.message}")
        what = "keys, shapes and dtypes" if keys_only else "keys, shapes, dtypes and values"
        verdict = "equal" if result.equal else f"{len(result.differences)} differences"
        click.echo(f"{result.compared} arrays compared by {what}: {verdict}")
    if not result.equal:
        sys.exit(1)


def _guarded(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except CompatError as error:
        raise Failure(str(error)) from None


def _pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        old, found, new = text.partition("=")
        if not found or not old:
            raise click.BadParameter(f"{text!r} is not OLD=NEW", param_hint=option)
        pairs[old] = new
    return pairs


def load_function(text: str) -> Callable[[], Any]:
    """The user's function `module:name`, looked up from the working directory.

    Raises:
        Failure: no such module or function.
    """
    module, _, name = text.partition(":")
    if not name:
        raise Failure(f"--create {text!r}: write module:function")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise Failure(f"--create {text!r}: {error}") from None
    if not callable(function):
        raise Failure(f"--create {text!r}: is no function")
    return function  # type: ignore[no-any-return]


class _Bar:
    """Progress with an estimate of the time left, on standard error, only on a terminal."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.at = 0

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            self.bar = click.progressbar(length=total, label="converting", show_eta=True, file=sys.stderr)
            self.bar.__enter__()
        self.bar.update(done - self.at)
        self.at = done

    def close(self) -> None:
        if self.bar is not None:
            self.bar.__exit__(None, None, None)
