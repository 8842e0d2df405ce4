"""Checkpoint → checkpoint, by key: Linen's names and nesting to NNX's, and back."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import CheckpointError, MismatchError
from .formats import Checkpoint, Key, Leaf, open_checkpoint
from .formats.base import array_leaf
from .keys import Rename, Renamer, fitting, match, unbox_key
from .layouts import Restack, Restacks, part_of
from .state import check_shapes, linen_pieces, packed_cells
from .target import Slot, Target, abstract, is_typed_key, key_impl
from .write import Entry, Progress, Written, write

COLLECTIONS = ("params", "batch_stats", "cache", "intermediates", "perturbations")
# What identifies our own metadata in a converted tree, so that it can be converted back without a model.
NOTE = "nnx_migrate"


def convert_checkpoint(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    to: str = "nnx",
    create: Callable[[], Any] | None = None,
    step: float | None = None,
    item: str | None = None,
    rename: Rename | None = None,
    restack: Restacks | None = None,
    ignore: Sequence[str] = (),
    dtype: Any = None,
    as_step: int | None = None,
    progress: Progress | None = None,
) -> Written:
    """Converts a checkpoint so that plain Orbax restores it, with no help from this package.

    To NNX, a tree of variables becomes what `nnx.state(model)` wants; a TrainState becomes `{'model': nnx.state(model),
    'optimizer': nnx.state(optimizer)}`, further fields beside them. To Linen, the other way round.

    Without `create`, keys are translated by themselves: collections are merged, boxes are dropped, names are kept. With
    `create`, the target's own structure decides: `nnx.List` entries, packed cells, and rng streams are right too, and
    keys, shapes and dtypes are checked.

    Args:
        source: a checkpoint of any layout; never modified.
        destination: a directory that does not exist yet; it appears when it is complete.
        to: 'nnx' or 'linen'.
        create: makes the NNX model, (model, optimizer), or a dict of these; only traced.
        step, item: which part of the source.
        rename, restack, ignore, dtype: as in `restore`; `restack` and `dtype` need `create`.
        as_step: writes `<destination>/<as_step>/default`, for a CheckpointManager.
        progress: is told (bytes done, bytes in all).

    Raises:
        MismatchError: keys that clash or, with `create`, do not fit.
        CheckpointError: source or destination cannot be used.
    """
    if to not in ("nnx", "linen"):
        raise CheckpointError(destination, f"to={to!r}: choose 'nnx' or 'linen'")
    fits = None
    if create is not None:
        fits = fitting([s for s in abstract(create).slots if s.group != "empty"], rename, Restack.parse(restack), ignore)
    checkpoint = open_checkpoint(source, step=step, item=item, fits=fits)
    if item is not None and item != checkpoint.item:
        checkpoint = checkpoint.under(tuple(item.split("/")))
    if not checkpoint.leaves:
        raise CheckpointError(source, "holds no arrays" + (f" under item {item!r}" if item else ""))
    empties: list[tuple[Key, frozenset[int]]] = []
    custom: dict[str, Any] | None = None
    if create is not None:
        entries = _by_target(checkpoint, create, to, rename, restack, ignore, dtype)
    elif restack is not None or dtype is not None:
        raise MismatchError("restack= and dtype= need create=:", ["the target's shapes decide what is stacked and cast"])
    elif to == "nnx":
        entries, custom = _to_nnx(checkpoint, Renamer(rename), ignore)
    else:
        entries = _to_linen(checkpoint, Renamer(rename), ignore)
    if to == "linen":
        entries, empties = _as_lists(entries)
    return write(checkpoint, entries, Path(destination), empties=empties, step=as_step, custom=custom, progress=progress)


# -- by key alone ------------------------------------------------------------------------------------------------------


def _kept(checkpoint: Checkpoint, ignore: Sequence[str]) -> list[tuple[Key, Leaf]]:
    import re

    return [(k, leaf) for k, leaf in checkpoint.leaves.items() if not any(re.search(p, "/".join(k)) for p in ignore)]


def _to_nnx(checkpoint: Checkpoint, renamer: Renamer, ignore: Sequence[str]) -> tuple[list[Entry], dict[str, Any]]:
    leaves = _kept(checkpoint, ignore)
    heads = {key[0] for key, _ in leaves}
    if "model" in heads and "params" not in heads and any(k[:2] == ("model", "params") for k, _ in leaves):
        others = sorted(heads - {"model"})
        raise MismatchError(
            f"{checkpoint.path} holds several parts:",
            [f"pass item='model' to convert that one (beside {', '.join(others)})"],
        )
    if "params" not in heads and heads & {"opt_state", "optimizer"}:
        raise MismatchError(
            f"{checkpoint.path} has no `params` beside its optimizer state:",
            ["it may be an NNX checkpoint already; `checkpoint inspect` shows its keys"],
        )
    state = bool(heads & {"opt_state", "step"})
    bare = "params" not in heads
    collections = {h for h in heads if h in COLLECTIONS or (h not in ("opt_state", "step") and not state)}
    entries: list[Entry] = []
    origin: dict[Key, Key] = {}
    table: dict[str, str] = {}
    problems = []
    params = {unbox_key(k)[1:] for k, _ in leaves if k[0] == "params"}
    for key, leaf in leaves:
        bared = unbox_key(key)
        if bare:
            local, collection = bared, "params"
        else:
            local, collection = bared[1:], bared[0]
        if collection == "opt_state":
            at = next((i for i in range(len(local)) if local[i:] in params), len(local))
            new: Key = ("optimizer", "opt_state", *local[:at], *_python(renamer(local[at:]) if at < len(local) else ()))
        elif collection == "step" and not local:
            new = ("optimizer", "step")
        elif bare or collection in collections:
            if local[:1] == (collection,):
                local = local[1:]  # TrainState.params held {'params': ...}
            path = _python(renamer(local))
            table["/".join(path)] = collection
            new = ("model", *path) if state else path
        else:
            new = bared  # a field of the TrainState: a plain array, as NNX users keep it beside the model
            entries.append(Entry(new, leaf))
            continue
        if new in origin:
            problems.append(f"{'/'.join(new)}: from {'/'.join(origin[new])} and from {'/'.join(key)}")
        origin[new] = key
        entries.append(Entry((*new, "value"), leaf))
    if problems:
        raise MismatchError("two keys map to one (collections share their names in NNX); use rename=:", problems)
    return entries, {NOTE: {"collections": {p: c for p, c in sorted(table.items()) if c != "params"}, "state": state}}


def _python(key: Key) -> Key:
    """Keywords cannot be attributes: `if` becomes `if_`."""
    import keyword

    return tuple(f"{p}_" if keyword.iskeyword(p) else p for p in key)


def _linen(key: Iterable[str]) -> Key:
    import keyword

    return tuple(p[:-1] if p.endswith("_") and keyword.iskeyword(p[:-1]) else p for p in key)


def _to_linen(checkpoint: Checkpoint, renamer: Renamer, ignore: Sequence[str]) -> list[Entry]:
    note = (checkpoint.metadata.get("custom_metadata") or {}).get(NOTE)
    if note is None:
        raise MismatchError(
            f"{checkpoint.path} does not say which variables belong to which collection:",
            ["pass create= (on the command line: --create module:function), which makes the NNX model"],
        )
    table, state = note["collections"], note["state"]
    entries = []
    for key, leaf in _kept(checkpoint, ignore):
        local = unbox_key(key)
        if state and local[0] == "optimizer":
            entries.append(Entry(_linen(local[1:]), leaf))
            continue
        if state and local[0] != "model":
            entries.append(Entry(key, leaf))
            continue
        local = local[1:] if state else local
        collection = table.get("/".join(local), "params")
        entries.append(Entry((collection, *_linen(renamer(local))), leaf))
    return entries


# -- by the target's structure -----------------------------------------------------------------------------------------


def _by_target(
    checkpoint: Checkpoint,
    create: Callable[[], Any],
    to: str,
    rename: Rename | None,
    restack: Restacks | None,
    ignore: Sequence[str],
    dtype: Any,
) -> list[Entry]:
    target = abstract(create)
    if target.graphdef is None:
        hint = "it makes a plain tree; return the model, or (model, optimizer)"
        raise MismatchError("create= must make an NNX model:", [hint])
    found = [s for s in target.slots if s.group != "empty"]
    plan = match(found, checkpoint, rename=rename, restack=Restack.parse(restack), ignore=ignore)
    dtypes, problems = check_shapes(found, plan, dtype)
    if problems:
        raise MismatchError(f"{checkpoint.path} does not fit the target:", problems)
    if to == "nnx":
        return _nnx_entries(found, plan.sources, dtypes, create, target)
    from flax import nnx

    layouts = packed_cells(nnx.merge(target.graphdef, target.state))
    entries = []
    for slot in found:
        leaf = plan.sources.get(slot.path)
        if leaf is None or slot.group in ("rng", "array"):
            continue
        pieces = linen_pieces(slot, layouts)
        for i, key in enumerate(pieces):
            part = leaf if len(pieces) == 1 else part_of(leaf, -1, i, len(pieces))
            entries.append(Entry(key, part, dtype=_plain(slot, dtypes)))
    return entries


def _plain(slot: Slot, dtypes: dict[Any, Any]) -> Any:
    return None if is_typed_key(slot.dtype) else dtypes.get(slot.path)


def _nnx_entries(
    found: Sequence[Slot],
    sources: dict[Any, Leaf],
    dtypes: dict[Any, Any],
    create: Callable[[], Any],
    target: Target,
) -> list[Entry]:
    """Entries as `nnx.state` of the target has them: the model alone, or model and optimizer by these names."""
    from .restoring import created
    from .specs import Placement
    from .target import is_variable, raw, sequence_positions

    fresh = [slot for slot in found if slot.path not in sources]
    values = created(create, target, fresh, Placement({}, None))
    owners = {slot.owner for slot in found}
    entries = []
    for slot in found:
        head: Key = ()
        if len(owners) > 1 or slot.owner:
            name = str(slot.owner[-1]) if slot.owner else "model"
            if name.isdigit():
                name = "optimizer" if slot.group == "optimizer" else "model"
            head = () if slot.group == "field" else (name,)
        local = map(str, slot.local[: len(slot.local) - len(slot.inner)])
        key = (*head, *local, *(("value",) if is_variable(slot.value) else ()), *slot.inner)
        typed = is_typed_key(slot.dtype)
        leaf = sources.get(slot.path)
        if leaf is None:
            leaf = _fresh_leaf(key, values[slot.path], typed)
        impl = key_impl(slot.dtype) if typed else None
        first = len(key) - len(slot.inner)
        lists = frozenset(first + i for i in sequence_positions(raw(slot.value), slot.inner))
        entries.append(Entry(key, leaf, key_impl=impl, dtype=_plain(slot, dtypes), lists=lists))
    return entries


def _fresh_leaf(key: Key, value: Any, typed: bool) -> Leaf:
    import jax

    return array_leaf(key, np.asarray(jax.random.key_data(value) if typed else value), "create()")


def _as_lists(entries: Sequence[Entry]) -> tuple[list[Entry], list[tuple[Key, frozenset[int]]]]:
    """Marks the indices of optax states as list entries and names the empty ones between them."""
    children: dict[Key, set[str]] = {}
    for entry in entries:
        if entry.key[:1] == ("opt_state",):
            for i in range(1, len(entry.key)):
                children.setdefault(entry.key[:i], set()).add(entry.key[i])
    lists = {prefix for prefix, names in children.items() if all(n.isdigit() for n in names)}
    marked = [
        dataclasses.replace(e, lists=frozenset(i for i in range(1, len(e.key)) if e.key[:i] in lists)) for e in entries
    ]
    empties = []
    for prefix in lists:
        for i in range(max(map(int, children[prefix]))):
            if str(i) not in children[prefix]:
                at = frozenset(j for j in range(1, len(prefix) + 1) if prefix[:j] in lists)
                empties.append(((*prefix, str(i)), at))
    return marked, empties
