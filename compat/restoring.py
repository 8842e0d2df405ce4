"""A legacy checkpoint, of any layout, straight into what `create()` makes, born sharded.

Not called `restore.py`: importing a submodule of that name would hide the function `compat.restore`.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import MismatchError, MissingStepError
from .formats import Checkpoint, open_checkpoint
from .keys import Plan, Rename, fitting, match, mismatch
from .layouts import Restack, Restacks
from .load import load
from .specs import Placement, Rules, placement
from .state import check_shapes, warn_about
from .target import Path, Slot, Target, abstract, is_variable, parts, raw, with_parts


@dataclasses.dataclass
class RestoreReport:
    """What a restore did: `restored` and `fresh` are variables of the target, `ignored` and `extra` keys of the
    checkpoint.
    """

    path: str
    layout: str
    era: str
    step: float | None
    item: str | None
    restored: list[str]
    fresh: list[str]
    missing: list[str]
    extra: list[str]
    ignored: list[str]
    bytes_read: int


def restore(
    path: str | os.PathLike[str],
    create: Callable[[], Any],
    *,
    mesh: Any = None,
    rules: Rules | None = None,
    step: float | None = None,
    item: str | None = None,
    specs: Any = None,
    rename: Rename | None = None,
    restack: Restacks | None = None,
    ignore: Sequence[str] = (),
    only: str | Sequence[str] | None = None,
    strict: bool = True,
    dtype: Any = None,
    on_report: Callable[[RestoreReport], None] | None = None,
) -> Any:
    """Restores a checkpoint of any layout into what `create()` makes.

    Args:
        path: file or directory; see the documentation for the layouts.
        create: makes the model, (model, optimizer), or a dict of these and of further fields such as a PRNG key; or
            the plain TrainState of a program that keeps its variables outside of the model. It is only traced: nothing
            is allocated.
        mesh: where to put the arrays; that of `jax.set_mesh` by default, else the default device.
        rules: logical axis rules, resolved as Linen does; those of the context by default.
        step, item: which step (the latest by default) and which part of the checkpoint; the part is found by itself
            where only one fits.
        specs: the Linen program's own spec tree, used in place of the annotations (see `specs_from_linen`).
        rename: source names to target names: a dict of names or regular expressions, or a function.
        restack: layers to stack or unstack, as `{'Block_#': 'ScanBlock_0'}`.
        ignore: regular expressions of checkpoint keys to leave out.
        only: restores only what these name, a collection ('params') or regular expressions of target paths; everything
            else comes from `create()`.
        strict: False takes values that the checkpoint lacks from `create()` and skips extra keys, and warns with a
            list.
        dtype: None demands equal dtypes; 'target' casts to those of the target; a dtype casts all floating leaves.
        on_report: is given the report.

    Returns:
        What `create()` returns, with the checkpoint's values, every array sharded from the beginning.

    Raises:
        MismatchError: keys, shapes, dtypes or shardings that do not fit, all of them.
        CheckpointError: what the checkpoint itself is guilty of; see `errors`.
    """
    target = abstract(create)
    found = target.slots
    wanted, rest = _select([s for s in found if s.group != "empty"], only)
    checkpoint = _open(path, step, item, wanted, rename, restack, ignore)
    rules_of_layers = Restack.parse(restack)
    plan = match(wanted, checkpoint, rename=rename, restack=rules_of_layers, ignore=ignore, strict=strict and only is None)
    if only is not None:  # the rest of the checkpoint was not asked for, but what was asked for must be there
        plan.extra, plan.unplaced = [], []
        if strict and plan.missing:
            raise mismatch(plan, checkpoint)
    dtypes, problems = check_shapes(wanted, plan, dtype)
    if problems:
        raise MismatchError(f"{checkpoint.path} does not fit the target:", problems)
    where = placement(found, mesh, rules, specs)
    warn_about(plan, strict)
    values = load(
        (slot, plan.sources[slot.path], dtypes[slot.path], where.shardings.get(slot.path))
        for slot in sorted(wanted, key=lambda s: -plan.sources[s.path].nbytes if s.path in plan.sources else 0)
        if slot.path in plan.sources
    )
    fresh = [*rest, *plan.fresh, *plan.missing]
    values.update(created(create, target, fresh, where))
    result = target.build(_filled(found, values, where))
    if on_report is not None:
        on_report(_report(checkpoint, plan, found, fresh))
    return result


def _select(found: Sequence[Slot], only: str | Sequence[str] | None) -> tuple[list[Slot], list[Slot]]:
    if only is None:
        return list(found), []
    patterns = [only] if isinstance(only, str) else list(only)

    def chosen(slot: Slot) -> bool:
        return any(slot.group == p or re.search(p, slot.name) for p in patterns)

    wanted = [s for s in found if chosen(s)]
    if not wanted:
        groups = ", ".join(sorted({s.group for s in found}))
        raise MismatchError("only= selects nothing:", [f"{patterns} matches no variable; collections are: {groups}"])
    return wanted, [s for s in found if not chosen(s)]


def _open(
    path: str | os.PathLike[str],
    step: float | None,
    item: str | None,
    wanted: Sequence[Slot],
    rename: Rename | None,
    restack: Restacks | None,
    ignore: Sequence[str],
) -> Checkpoint:
    """The checkpoint, narrowed to `item` where that names a part of the tree."""

    fits = fitting(wanted, rename, Restack.parse(restack), ignore)
    checkpoint = open_checkpoint(path, step=step, item=item, fits=fits)
    if item is None or item == checkpoint.item:
        return checkpoint
    prefix = tuple(item.split("/"))
    if checkpoint.item is not None and prefix[0] == checkpoint.item:
        prefix = prefix[1:]
    part = checkpoint.under(prefix)
    if not part.leaves:
        heads = ", ".join(sorted({k[0] for k in checkpoint.leaves if k}))
        raise MissingStepError(checkpoint.path, f"has no item {item!r}; it holds {heads}")
    return part


def created(create: Callable[[], Any], target: Target, fresh: Sequence[Slot], where: Placement) -> dict[Path, Any]:
    """Values that come from `create()` itself, computed under jit so that what is not asked for is never built."""
    if not fresh:
        return {}
    import jax
    from flax import nnx

    paths = [slot.path for slot in fresh]

    def make() -> list[Any]:
        with nnx.use_eager_sharding(False):
            leaves = target.leaves(create())
        return [parts(raw(leaves[slot.variable]))[slot.inner] for slot in fresh]

    shardings = [where.shardings.get(p) for p in paths]
    if where.mesh is None:
        values = jax.jit(make)()
    else:
        with jax.set_mesh(where.mesh):
            values = jax.jit(make, out_shardings=shardings)()
    return dict(zip(paths, values))


def _filled(found: Sequence[Slot], values: Mapping[Path, Any], where: Placement) -> dict[Path, Any]:
    """What every Variable of the state, or plain leaf of it, becomes."""
    members: dict[Path, list[Slot]] = {}
    for slot in found:
        members.setdefault(slot.variable, []).append(slot)
    return {path: _filled_variable(slots, values, where) for path, slots in members.items()}


def _filled_variable(slots: Sequence[Slot], values: Mapping[Path, Any], where: Placement) -> Any:
    """The Variable around its values, with the metadata that `create()` gives it outside of our tracing."""
    slot = slots[0]
    if slot.group == "empty":
        return slot.value
    value = with_parts(raw(slot.value), {s.inner: values[s.path] for s in slots})
    if not is_variable(slot.value):
        return value
    from flax import nnx

    variable = slot.value.replace(value)
    if slot.value.has_metadata("eager_sharding"):
        variable.set_metadata(eager_sharding=nnx.using_eager_sharding())
    names = slot.metadata.get("out_sharding")
    if names and len(tuple(getattr(names, "spec", names))) > len(slot.shape):
        # A factored optimizer slot: it inherited the names of a parameter of higher rank.
        sharding = where.shardings.get(slot.path) if not slot.inner else None
        variable.set_metadata(out_sharding=tuple(sharding.spec) if sharding is not None else None)
    return variable


def _report(checkpoint: Checkpoint, plan: Plan, found: Sequence[Slot], fresh: Sequence[Slot]) -> RestoreReport:
    return RestoreReport(
        str(checkpoint.path),
        checkpoint.layout,
        checkpoint.era,
        checkpoint.step,
        checkpoint.item,
        restored=[s.name for s in found if s.path in plan.sources],
        fresh=[s.name for s in fresh],
        missing=[s.name for s in plan.missing],
        extra=["/".join(k) for k in plan.extra],
        ignored=["/".join(k) for k in (*plan.ignored, *plan.unplaced)],
        bytes_read=int(np.sum([leaf.nbytes for leaf in plan.sources.values()])),
    )
