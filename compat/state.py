"""Linen variables and TrainStates ↔ NNX models and optimizers, in memory."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from . import boxes
from .errors import MismatchError, RestoreWarning
from .formats.base import Checkpoint, Key, Leaf
from .keys import Plan, Rename, bare_numbers, match, unbox_key
from .layouts import Restack, Restacks
from .target import (
    Path,
    Slot,
    is_tree,
    is_typed_key,
    is_variable,
    key_impl,
    linen_key,
    parts,
    raw,
    slots_of,
    tree_target,
    with_parts,
)


def memory_checkpoint(variables: Any) -> tuple[Checkpoint, dict[Key, tuple[Any, boxes.Box | None]]]:
    """In-memory variables behind the interface of checkpoints; values are not copied."""
    entries = boxes.flatten(variables)
    leaves = {}
    for key, (value, _) in entries.items():
        dtype = getattr(value, "dtype", None)
        typed = dtype is not None and is_typed_key(dtype)
        data = np.dtype("uint32") if typed else np.dtype(dtype) if dtype is not None else np.asarray(value).dtype
        shape = tuple(np.shape(value))
        weak = dtype is None
        leaves[key] = Leaf(key, shape, data, "the variables", _reader(value), weak=weak, key_impl="typed" if typed else None)
    return Checkpoint(FilePath("<variables>"), "memory", "Linen variables", leaves), entries


def _reader(value: Any) -> Any:
    return lambda index: lambda: np.asarray(value)[index]


def check_shapes(found: Sequence[Slot], plan: Plan, dtype: Any = None) -> tuple[dict[Path, Any], list[str]]:
    """The dtype that every slot gets, and all that do not fit.

    Args:
        dtype: None demands equal dtypes; 'target' casts to those of the target; a dtype casts all floating leaves to
            it.
    """
    import jax.numpy as jnp

    dtypes: dict[Path, Any] = {}
    problems = []
    cast = _dtype(dtype) if dtype is not None and not (isinstance(dtype, str) and dtype == "target") else None
    for slot in found:
        leaf = plan.sources.get(slot.path)
        if leaf is None:
            continue
        typed = is_typed_key(slot.dtype)
        shape = leaf.shape
        if typed and leaf.key_impl != "typed":
            wrong = _wrong_key(leaf, slot)
            if wrong is not None:
                problems.append(wrong)
                continue
            shape = shape[:-1]
        if shape != slot.shape:
            problems.append(f"{slot.name}: the target has shape {slot.shape}, {leaf.name} has {leaf.shape} ({leaf.file})")
            continue
        if typed:
            dtypes[slot.path] = slot.dtype
            continue
        have, want = leaf.dtype, np.dtype(slot.dtype)
        if cast is not None and jnp.issubdtype(want, jnp.floating):
            want = cast
        counter = slot.group in ("optimizer", "tree") and not slot.shape and have.kind in "iu" and want.kind in "iu"
        if have != want and not (dtype is not None or leaf.weak or counter):
            problems.append(
                f"{slot.name}: the target has dtype {want}, {leaf.name} has {have} ({leaf.file}); pass "
                f"dtype='target' to cast"
            )
            continue
        inexact = jnp.issubdtype(have, jnp.inexact) and not jnp.issubdtype(want, jnp.inexact)
        if have != want and (inexact or (have.kind == "c" and want.kind != "c")):
            problems.append(f"{slot.name}: {leaf.name} is {have}, which {want} cannot hold")
            continue
        dtypes[slot.path] = want
    return dtypes, problems


def _dtype(given: Any) -> np.dtype[Any]:
    """The dtype of a `dtype=` argument, by name or as one: `"bfloat16"`, `jnp.bfloat16`."""
    import jax.numpy as jnp

    try:
        found: np.dtype[Any] = jnp.dtype(given)
    except TypeError:
        raise MismatchError("dtype= is not valid:", [f"{given!r}: give 'target', or a dtype such as 'bfloat16'"]) from None
    if not jnp.issubdtype(found, jnp.floating):
        raise MismatchError("dtype= is not valid:", [f"{found} is no floating dtype; the others are never cast"])
    return found


def _wrong_key(leaf: Leaf, slot: Slot) -> str | None:
    """Why the data of a key is not that of the target's kind of key; None where it may be."""
    import jax

    want = key_impl(slot.dtype)
    size = jax.random.key_data(jax.random.key(0, impl=want)).shape
    if leaf.key_impl not in (None, want):
        return f"{slot.name}: the target has a key of {want}, {leaf.name} is one of {leaf.key_impl} ({leaf.file})"
    if leaf.shape[-1:] != size:
        return f"{slot.name}: a key of {want} has {size[0]} words, {leaf.name} has shape {leaf.shape} ({leaf.file})"
    return None


def from_linen(
    variables: Any,
    model: Any,
    *,
    rename: Rename | None = None,
    restack: Restacks | None = None,
    ignore: Sequence[str] = (),
    strict: bool = True,
    dtype: Any = None,
) -> Any:
    """Puts Linen variables into an NNX model, in place; into a plain tree, such as a TrainState, by making a new one.

    Args:
        variables: a dict (or FrozenDict) of collections, boxed or not, parameters alone, or a whole TrainState when
            `model` is (model, optimizer). Never changed.
        model: an NNX model, or a tuple or dict of models and optimizers; or the TrainState of a program that keeps its
            variables outside of the model.
        rename: source names to target names: a dict of names or regular expressions, or a function.
        restack: layers to stack or unstack, as `{'Block_#': 'ScanBlock_0'}`.
        ignore: regular expressions of source keys to leave out.
        strict: False keeps the model's own values where the source has none, and warns with a list.
        dtype: None demands equal dtypes; 'target' casts to those of the model; a dtype casts all floating leaves.

    Returns:
        `model`; a new tree where it is a plain one.

    Raises:
        MismatchError: keys, shapes or dtypes that do not fit, all of them; the model is then unchanged.
        TypeError: `model` is a class or function, which `restore` takes.
    """
    if inspect.isroutine(model) or isinstance(model, type):
        raise TypeError(f"from_linen: {model!r} makes a model; give it a model that was made")
    source, entries = memory_checkpoint(variables)
    found = slots_of(model)
    plan = match(found, source, rename=rename, restack=Restack.parse(restack), ignore=ignore, strict=strict)
    dtypes, problems = check_shapes(found, plan, dtype)
    if problems:
        raise MismatchError("the variables do not fit the model:", problems)
    warn_about(plan, strict)
    updates = []
    for slot in found:
        leaf = plan.sources.get(slot.path)
        if leaf is not None:
            whole = leaf is source.leaves[leaf.key]
            updates.append((slot, _value(slot, leaf, dtypes[slot.path], entries[leaf.key][0] if whole else leaf.read())))
    if is_tree(model):
        target = tree_target(model)
        held = {slot.variable: slot.value for slot in found}
        new = {path: dict[Key, Any]() for path in held}
        for slot, value in updates:
            new[slot.variable][slot.inner] = value
        return target.build({path: _holding(value, with_parts(raw(value), new[path])) for path, value in held.items()})
    for slot, value in updates:
        if is_variable(slot.value):
            slot.value.set_raw_value(with_parts(raw(slot.value), {slot.inner: value}))
    fields = [slot for slot, _ in updates if not is_variable(slot.value)]
    if fields:
        raise MismatchError(
            "plain arrays cannot be changed in place:",
            [f"{s.name}: make it an nnx.Variable, or use restore, which builds a new target" for s in fields],
        )
    return model


def _holding(old: Any, value: Any) -> Any:
    """`value` as `old` is: a Variable with the same metadata, or itself."""
    return old.replace(value) if is_variable(old) else value


def _value(slot: Slot, leaf: Leaf, dtype: Any, value: Any) -> Any:
    """The array for a slot, where the slot's present value is."""
    import jax
    import jax.numpy as jnp

    given_typed = is_typed_key(getattr(value, "dtype", np.dtype("uint8")))
    if is_typed_key(slot.dtype):
        array = value if given_typed else jax.random.wrap_key_data(jnp.asarray(value), impl=key_impl(slot.dtype))
    elif given_typed:
        array = jax.random.key_data(value)
    else:
        array = jnp.asarray(value, dtype)
    present = parts(raw(slot.value)).get(slot.inner)
    sharding = getattr(present, "sharding", None)
    if isinstance(present, jax.Array) and sharding is not None and len(sharding.device_set) > 1:
        return jax.device_put(array, sharding)
    return array


def warn_about(plan: Plan, strict: bool) -> None:
    """Reports what was left out; silence would be a lost weight."""
    import warnings

    lines = []
    if not strict:
        lines += [f"not in the source, kept from create(): {s.name}" for s in plan.missing]
        lines += [f"in the source, not used: {'/'.join(k)}" for k in plan.extra]
    lines += [
        f"{'/'.join(k)} is a PRNG key and has no place in the target; give the target a field or Variable of that "
        f"name, "
        f"or pass ignore=({k[-1]!r},)"
        for k in plan.unplaced
    ]
    if lines:
        warnings.warn("\n  - ".join(["left out:", *lines]), RestoreWarning, stacklevel=3)
    # Orbax before 0.10 left chunks of zeros out of zarr3. In a database a lost one is noticed, in a directory it is not.
    zeros = [f"{leaf.name}: {leaf.absent} chunks ({leaf.file})" for leaf in plan.sources.values() if _may_be_lost(leaf)]
    if zeros:
        text = "chunks are not stored, by which this writer means zeros; a chunk that was lost looks the same:"
        warnings.warn("\n  - ".join([text, *zeros]), RestoreWarning, stacklevel=3)


def _may_be_lost(leaf: Leaf) -> bool:
    return leaf.absent > 0 and leaf.storage is not None and leaf.storage[0] == "directory"


def to_linen(model: Any, *, boxed: bool = False, like: Any = None) -> dict[str, Any]:
    """An NNX model as Linen variables; (model, optimizer) as the state dict of a TrainState.

    Args:
        model: an NNX model, or a tuple or dict with a model, an optimizer, and further fields; or a TrainState.
        boxed: wraps annotated arrays in `nn.Partitioned` (logical if the Variable carries rules).
        like: Linen variables, or their shapes (`jax.eval_shape(module.init, …)`), or a TrainState, whose spelling of the
            keys is wanted: `0` in place of `layers_0`, `in_` in place of `in`. Its values are not looked at.

    Returns:
        `{'params': …, 'batch_stats': …}`, with an optimizer also `step` and `opt_state` in the form of
        `flax.serialization.to_state_dict`. Arrays are shared with the model, not copied.

    Raises:
        MismatchError: two variables that come to one Linen key; keys that are not in `like`, or that only `like` has.
    """
    found = slots_of(model)
    spelling = _Spelling(like) if like is not None else None
    tree: dict[str, Any] = {}
    problems: list[str] = []
    layouts = packed_cells(model)
    for slot in found:
        if slot.group in ("rng", "array", "empty"):
            continue
        value = parts(raw(slot.value))[slot.inner]
        for mechanical, part in _linen_items(slot, value, layouts):
            key = mechanical if spelling is None else spelling.of(slot, mechanical)
            item = boxes.make_box(part, slot.metadata) if boxed else part
            node = tree
            for name in key[:-1]:
                node = node.setdefault(name, {})
                if not isinstance(node, dict):
                    break
            if not isinstance(node, dict) or key[-1] in node:
                problems.append(f"{slot.name}: another variable has the Linen key {'/'.join(key)}")
            else:
                node[key[-1]] = item
    if problems:
        raise MismatchError("two variables have the same Linen key:", problems)
    if spelling is not None:
        spelling.check()
    return tree


class _Spelling:
    """The keys of `like`, each to be used once. Several spellings of a Linen name come to one NNX name."""

    def __init__(self, like: Any) -> None:
        self.left = {unbox_key(key) for key in boxes.flatten(like)}
        self.heads: set[str] = set()
        self.unknown: list[str] = []

    def of(self, slot: Slot, mechanical: Key) -> Key:
        self.heads.add(mechanical[0])
        for key in (mechanical, *self.others(slot, mechanical)):
            if key in self.left:
                self.left.discard(key)
                return key
        self.unknown.append(f"{slot.name}: no key of `like` is {'/'.join(mechanical)}")
        return mechanical

    def others(self, slot: Slot, mechanical: Key) -> list[Key]:
        """Entries of lists by their numbers alone, and keywords with the underscore that they may have had in Linen."""
        path = slot.linen_param if slot.group == "optimizer" else slot.linen
        whole = linen_key(path[: len(path) - len(slot.inner)])
        # The name itself may be another one, of a cell's gate; then only the module's path is spelt otherwise.
        ends = len(mechanical) - len(whole) - len(slot.inner)
        head, tail = mechanical[:ends], mechanical[ends:]
        found = [*bare_numbers(path)] if tuple(map(_plain, whole)) == tuple(map(_plain, tail)) else []
        options = [tail, *found]
        return [(*head, *spelt) for option in options for spelt in _underscored(option)]

    def check(self) -> None:
        """Raises MismatchError where the keys are not those of `like`."""
        # Collections and fields that the model has nothing of (an optimizer's, keys) are not asked for.
        lines = [*self.unknown, *(f"only in `like`: {'/'.join(k)}" for k in sorted(self.left) if k[0] in self.heads)]
        if lines:
            raise MismatchError("the model's keys are not those of `like`:", lines)


def _plain(part: str) -> str:
    return part.removesuffix("_")


def _underscored(key: Key) -> list[Key]:
    """The spellings of a key whose keywords may have had an underscore in Linen too."""
    import itertools
    import keyword

    choices = [(p, f"{p}_") if keyword.iskeyword(p) else (p, p[:-1]) if keyword.iskeyword(p[:-1]) else (p,) for p in key]
    return [tuple(found) for found in itertools.islice(itertools.product(*choices), 64)]


def packed_cells(model: Any) -> dict[Path, str]:
    """Paths of modules that Linen stores in another way, by kind."""
    from flax import nnx

    kinds = ((nnx.OptimizedLSTMCell, "lstm"), (nnx.GRUCell, "gru"), (nnx.SimpleCell, "simple"))
    found = {}
    for path, node in nnx.iter_graph(model):
        for kind, name in kinds:
            if isinstance(node, kind):
                found[tuple(path)] = name
    return found


#: Linen's names of what NNX has in one layer, in the order of its last dimension, by the kind of the cell.
GATES: dict[str, dict[str, tuple[str, ...]]] = {
    "lstm": {"dense_i": ("ii", "if", "ig", "io"), "dense_h": ("hi", "hf", "hg", "ho")},
    "gru": {"dense_i": ("ir", "iz", "in"), "dense_h": ("hr", "hz", "hn")},
    "simple": {"dense_i": ("i",), "dense_h": ("h",)},
}


def _linen_items(slot: Slot, value: Any, layouts: Mapping[Path, str]) -> list[tuple[Key, Any]]:
    """The Linen keys of a slot, with their values."""
    keys = linen_pieces(slot, layouts)
    if len(keys) == 1:
        return [(keys[0], value)]
    import jax.numpy as jnp

    return list(zip(keys, jnp.split(value, len(keys), axis=-1)))


def linen_pieces(slot: Slot, layouts: Mapping[Path, str]) -> list[Key]:
    """The Linen keys of a slot: several where NNX packs what Linen keeps apart, in the order of the last dimension."""
    if slot.group in ("field", "tree"):
        return [tuple(map(str, slot.linen))]
    if slot.group == "optimizer":
        head: Key = tuple(map(str, slot.linen[: len(slot.linen) - len(slot.linen_param)]))
        path = slot.linen_param
    else:
        head, path = (slot.group,), slot.linen
    if not path:
        return [head]
    if slot.inner:
        return [(*head, *_names(path[: len(path) - len(slot.inner)]), *slot.inner)]
    module = (slot.param if slot.group == "optimizer" else slot.local)[:-2]
    kind = next((k for p, k in layouts.items() if p[len(p) - len(module) :] == module and len(path) >= 2), None)
    names = GATES[kind].get(str(path[-2])) if kind is not None else None
    if names is not None and (len(names) == 1 or (slot.shape and slot.shape[-1] % len(names) == 0)):
        return [(*head, *_names((*path[:-2], name, path[-1]))) for name in names]
    return [(*head, *_names(path))]


def _names(path: Sequence[Any]) -> Key:
    """Linen's names, with the keywords that Python made us suffix."""
    import keyword

    return tuple(p[:-1] if p.endswith("_") and keyword.iskeyword(p[:-1]) else p for p in linen_key(path))
