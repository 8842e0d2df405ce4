"""From a path to the one saved tree that is meant: steps, items, and which reader.

Directories of flax (`checkpoint_3`), of managers (`<step>/<item>/`), composite items, JSON and array items, and
single files.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path

from ..errors import CheckpointError, IncompleteCheckpointError, MissingStepError, UnknownLayoutError
from . import files, orbax
from .base import Checkpoint
from .tensor import open_database

# `checkpoint_3`, `3`, `step_00000003`, `model3`, flax's `checkpoint_2.5`; a dot before the number may end a prefix.
_STEP = re.compile(r"(|.*[_-])(\d+(?:\.\d+)?)|(.*?\D)(\d+)")
_COMMITTED = "commit_success.txt"
_PREFERRED_ITEMS = ("default", "state", "items", "train_state", "model", "params")
_HF_NAMES = (
    "flax_model.msgpack", "flax_model.msgpack.index.json", "model.safetensors", "model.safetensors.index.json",
    "diffusion_flax_model.msgpack", "diffusion_flax_model.safetensors",
)  # fmt: skip

Fits = Callable[[Checkpoint], bool]


def open_checkpoint(
    path: str | os.PathLike[str], *, step: float | None = None, item: str | None = None, fits: Fits | None = None
) -> Checkpoint:
    """Opens a checkpoint of any layout; reads no array.

    Args:
        path: a file, one saved tree, or a directory of steps and items.
        step: which step; the latest finished one by default.
        item: which item of a composite checkpoint, or which part of a tree ('model' in `{'model': …, 'config': …}`).
        fits: decides among several items where `item` is not given.

    Raises:
        UnknownLayoutError, MissingStepError, CorruptCheckpointError, IncompleteCheckpointError, UnsafeCheckpointError
    """
    root = Path(path)
    try:
        if not root.exists():
            _explain_absence(root)
        if root.is_dir():
            os.listdir(root)
    except PermissionError as error:
        raise CheckpointError(root, f"cannot be read: {error.strerror}") from None
    steps = list_steps(root) if root.is_dir() and not _is_one(root) else {}
    if step is not None and not steps:
        if not re.fullmatch(rf"(.*\D)?0*{step}", root.name):
            raise MissingStepError(root, f"step {step} was asked for, but this is a single checkpoint without steps")
    if steps:
        chosen = max(steps) if step is None else step
        if chosen not in steps:
            have = ", ".join(map(str, sorted(steps)))
            unfinished = [p.name for p in _unfinished(root) if re.search(rf"(^|\D)0*{chosen}(\.orbax|$)", p.name)]
            unfinished += [path.name for found, path in _steps(root).items() if found == chosen]
            if unfinished:
                raise IncompleteCheckpointError(
                    root / unfinished[0], f"step {chosen} is still being written; there are {have}"
                )
            raise MissingStepError(root, f"has no step {chosen}; there are {have}")
        found = _open_one(steps[chosen], item, fits)
        return dataclasses.replace(found, step=chosen, steps=sorted(steps))
    return _open_one(root, item, fits)


def list_steps(root: Path) -> dict[float, Path]:
    """Finished steps of a directory, by number: flax's `checkpoint_3` or a manager's `3`, also with prefix or zeros.

    Raises:
        MissingStepError: several runs stand side by side (`run_3`, `ema_3`), so that a number does not name a step.
    """
    return _committed(_steps(root))


def _steps(root: Path) -> dict[float, Path]:
    runs: dict[str, dict[float, Path]] = {}
    for child in sorted(root.iterdir()):
        found = _STEP.fullmatch(child.name)
        if found is None or child.name.endswith("_gda"):
            continue
        prefix, number = found[1] or found[3] or "", found[2] or found[4]
        if ".orbax-checkpoint-tmp" in child.name or prefix.startswith("ocdbt"):
            continue
        separate = prefix.endswith(("_", "-", "."))
        if child.is_dir() and not (prefix and separate) and not _holds_something(child):
            continue
        if child.is_file() and prefix and not separate and not _looks_like_tree(child):
            continue
        runs.setdefault(prefix, {})[float(number) if "." in number else int(number)] = child
    if len(runs) > 1:
        solid = {prefix: steps for prefix, steps in runs.items() if any(_is_saved(p) for p in steps.values())}
        if len(solid) > 1:
            names = ", ".join(steps[max(steps)].name for steps in solid.values())
            raise MissingStepError(
                root, f"holds the checkpoints of several runs side by side (the last of each: {names}); name one by its path"
            )
        runs = solid or runs
    return next(iter(runs.values()), {})


def _committed(steps: dict[float, Path]) -> dict[float, Path]:
    """Where writers mark what is finished, as on object stores, a later step without the mark is not."""
    marked = [step for step, path in steps.items() if (path / _COMMITTED).is_file()]
    return {
        step: path
        for step, path in steps.items()
        if not marked or step < min(marked) or step in marked or path.is_file() or orbax.commit_time(path) is not None
    }


def _looks_like_tree(file: Path) -> bool:
    """A msgpack file whose top is a dict, as flax writes under any prefix."""
    try:
        with file.open("rb") as opened:
            head = opened.read(1)
    except OSError:
        return False
    return bool(head) and (0x80 <= head[0] <= 0x8F or head[0] in (0xDE, 0xDF))


def _is_saved(path: Path) -> bool:
    return _looks_like_tree(path) if path.is_file() else _holds_something(path)


def _holds_something(path: Path) -> bool:
    try:
        return _is_one(path) or any(_is_item(child) for child in path.iterdir() if child.is_dir())
    except PermissionError:
        return True  # opening it says what is wrong


def _explain_absence(path: Path) -> None:
    """Says of a path that does not exist whether its save is under way."""
    temporary = f"{path.name}.orbax-checkpoint-tmp"
    if path.parent.is_dir() and any(child.name.startswith(temporary) for child in path.parent.iterdir()):
        raise IncompleteCheckpointError(
            path,
            "is still being written, or its writer died (only its temporary directory is there); wait for the save "
            "(`wait_until_finished`) or take another checkpoint",
        )
    raise CheckpointError(path, "does not exist")


def _unfinished(root: Path) -> list[Path]:
    """What in a directory of steps, or of items, is not written to its end."""
    return [p for p in sorted(root.iterdir()) if _is_temporary(p) or (p.is_dir() and any(map(_is_temporary, p.iterdir())))]


def _is_temporary(path: Path) -> bool:
    """Orbax's `3.orbax-checkpoint-tmp-17`; flax's `checkpoint_tmp`, and `checkpoint_tmp_gda` or `3_gda` alone."""
    return ".orbax-checkpoint-tmp" in path.name or re.fullmatch(r"(|.*\D)tmp(_gda)?", path.name) is not None


def _is_one(path: Path) -> bool:
    """A directory with one tree in it, rather than of steps or items."""
    return orbax.looks_like(path) or any((path / name).is_file() for name in _HF_NAMES)


def _is_item(path: Path) -> bool:
    if _is_temporary(path):
        return False
    if orbax.looks_like(path) or (path / "metadata").is_file() or (path / orbax.AGGREGATE / ".zarray").is_file():
        return True
    return orbax.random_key(path) is not None


def _open_one(path: Path, item: str | None, fits: Fits | None) -> Checkpoint:
    """A file, a tree or a directory of items."""
    if path.is_file():
        gda = path.with_name(f"{path.name}_gda")
        return orbax.read_placeholder_file(path, gda) if gda.is_dir() else files.read_file(path)
    orbax.check_committed(path)
    for name in _HF_NAMES:
        if (path / name).is_file():
            return files.read_file(path / name)
    if orbax.looks_like(path):
        return orbax.read_array_item(path) or orbax.read(path)
    if (path / "metadata").is_file():
        return orbax.read_json_item(path)
    if (array := orbax.read_array_item(path) or orbax.read_key_item(path)) is not None:
        return array
    items = {p.name: p for p in sorted(path.iterdir()) if p.is_dir() and _is_item(p)}
    if not items:
        _explain(path)
    chosen: str | None
    if item is not None and item in items:
        chosen = item
    elif len(items) == 1:
        chosen = next(iter(items))
    elif item is not None and "/" not in item and not any(n in items for n in _PREFERRED_ITEMS):
        raise MissingStepError(path, f"has no item {item!r}; there are {', '.join(items)}")
    else:
        chosen = _choose(path, items, fits)
    if chosen is None:
        return dataclasses.replace(_together(path, items), items=sorted(items))
    found = _open_one(items[chosen], None, fits)
    return dataclasses.replace(found, item=chosen, items=sorted(items))


def _together(path: Path, items: dict[str, Path]) -> Checkpoint:
    """All items that hold arrays as one tree, below their names."""
    parts = {name: _open_one(child, None, None) for name, child in items.items()}
    first = next(part for part in parts.values() if part.layout != "json")
    whole = Checkpoint(path, first.layout, first.era, {}, notes=[f"the items {', '.join(parts)}, taken together"])
    for name, part in parts.items():
        alone = set(part.leaves) == {("array",)}
        for below, leaf in part.leaves.items():
            key = (name,) if alone else (name, *below)
            whole.leaves[key] = dataclasses.replace(leaf, key=key, aside=part.layout == "json")
        whole.others |= {(name, *k): v for k, v in part.others.items()}
        whole.sequences |= {(name, *k) for k in part.sequences}
    return whole


def _choose(path: Path, items: dict[str, Path], fits: Fits | None) -> str | None:
    """The one item that can be meant; None for all of them together, where none has all that is wanted."""
    trees = [n for n, p in items.items() if orbax.looks_like(p)]
    if fits is not None and len(trees) > 1:
        trees = [n for n in trees if fits(_open_one(items[n], None, None))]
        if not trees:
            return None
    elif fits is not None and len(trees) == 1 and len(items) > 1 and not fits(_open_one(items[trees[0]], None, None)):
        return None if fits(_together(path, items)) else trees[0]
    if len(trees) > 1:
        preferred = [n for n in _PREFERRED_ITEMS if n in trees]
        if preferred and fits is None:
            return preferred[0]
        raise MissingStepError(path, f"has several items that could be meant: {', '.join(trees)}; choose one with item=")
    return trees[0] if trees else next(iter(items))


def _explain(path: Path) -> None:
    """Says why nothing in a directory is a checkpoint."""
    unfinished = _unfinished(path)
    if unfinished:
        raise IncompleteCheckpointError(
            unfinished[0], "is a checkpoint still being written, or one whose writer died, and there is no finished one"
        )
    parts = [p.name for p in path.glob("ocdbt.process_*")]
    if parts or (path / orbax.SHARDING).is_file():
        open_database(path)
    pickles = [p.name for p in path.iterdir() if p.suffix in (".pkl", ".pickle", ".pt", ".pth")]
    if pickles:
        files.read_file(path / pickles[0])
    names = sorted(p.name for p in path.iterdir())
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "") if names else "nothing"
    raise UnknownLayoutError(
        path,
        f"is no checkpoint that we know (it holds {shown}). Known are: flax msgpack files, GDA directories, Orbax "
        f"0.1 to "
        "today, t5x, Hugging Face flax_model.msgpack, safetensors, npz",
    )
