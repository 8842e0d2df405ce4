"""PartitionSpecs as Linen resolves them, for NNX models and optimizers.

Linen reads logical rules in order: a rule applies to a dimension that has no mesh axis yet, if its mesh axes are not
used by the array already; names without a rule stay unsharded (`flax/linen/spmd.py`, `_logical_to_mesh_axes`). NNX
0.12 looks names up in a
dict: the last rule wins, mesh axes may be used twice, unknown names reach the mesh. Here Linen's way is used
throughout.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import MismatchError, SpecError
from .formats.base import Key
from .target import Path, Slot, abstract, is_tree, linen_key, slots_of, tree_target

Rules = Sequence[tuple[str, Any]]


def _axes(entry: Any) -> tuple[Any, ...]:
    """Mesh axes of one entry of a spec; nested tuples are flattened, None and UNCONSTRAINED count for nothing."""
    if isinstance(entry, (tuple, list)):
        return tuple(a for e in entry for a in _axes(e))
    return (entry,) if isinstance(entry, str) else ()


def resolve(
    names: Sequence[Any] | None, rules: Rules | None, mesh_axes: Iterable[str] | None = None, *, logical: bool = False
) -> Any:
    """The PartitionSpec of an array with these axis names.

    Args:
        names: one name for each dimension; None, tuples of mesh axes and UNCONSTRAINED pass through.
        rules: pairs of logical name and mesh axes in order of precedence; None where names are mesh axes already.
        mesh_axes: the axes of the mesh, where known. A name without a rule is a mesh axis if it is one of them.
        logical: names are logical for sure, so one without a rule stays unsharded whatever the mesh is called.

    Raises:
        SpecError: a name that occurs twice, as in Linen.
    """
    from jax.sharding import PartitionSpec

    if names is None:
        return PartitionSpec()
    twice = [n for n, count in Counter(n for n in names if isinstance(n, str)).items() if count > 1]
    if twice:
        raise SpecError(f"axis names {tuple(names)}: {', '.join(twice)} occur more than once; every name may stand once")
    if rules is None:
        if mesh_axes is not None:
            allowed = set(mesh_axes)
            unknown = [a for n in names for a in _axes(n) if a not in allowed]
            if unknown:
                raise SpecError(
                    f"axis names {tuple(names)}: {', '.join(unknown)} are no axes of the mesh "
                    f"({', '.join(sorted(allowed))}); "
                    "if they are logical names, pass rules="
                )
        return PartitionSpec(*names)
    known = {name for name, _ in rules}
    physical = set(mesh_axes) if mesh_axes is not None else {a for _, target in rules for a in _axes(target)}
    result: list[Any] = [_FREE if isinstance(n, str) else n for n in names]
    for name, target in rules:
        if name in names:
            at = list(names).index(name)
            used = {a for entry in result if entry is not _FREE for a in _axes(entry)}
            if result[at] is _FREE and not used & set(_axes(target)):
                result[at] = target if not isinstance(target, list) else tuple(target)
    for at, name in enumerate(names):
        if result[at] is _FREE:
            used = {a for entry in result if entry is not _FREE for a in _axes(entry)}
            direct = not logical and name not in known and name in physical and name not in used
            result[at] = name if direct else None
    return PartitionSpec(*result)


class _Free:
    """Marks a dimension that no rule has claimed yet."""


_FREE = _Free()


def context_rules() -> Rules | None:
    """The rules set with `logical_axis_rules`, None where there are none."""
    from flax.core.spmd import get_logical_axis_rules

    return tuple(get_logical_axis_rules()) or None


def context_mesh() -> Any:
    """The concrete mesh set with `jax.set_mesh`, None where there is none."""
    import jax

    mesh = jax.sharding.get_mesh()
    return None if mesh is None or mesh.empty else mesh


def slot_spec(slot: Slot, rules: Rules | None, mesh_axes: Iterable[str] | None, params: Mapping[Path, Slot]) -> Any:
    """The spec of one slot. Factored optimizer slots lose the dimension that they are averaged over."""
    from jax.sharding import NamedSharding, PartitionSpec

    metadata = slot.metadata
    names = metadata.get("out_sharding")
    if isinstance(names, NamedSharding):
        names = tuple(names.spec)
    if not names:
        return PartitionSpec()
    own = metadata.get("sharding_rules")
    merged = rules if rules is not None else tuple(own) if own else context_rules()
    linen_type = getattr(metadata.get("linen_meta_type"), "__name__", "")
    if linen_type == "Partitioned":
        merged = None
    spec = resolve(tuple(names), merged, mesh_axes, logical=linen_type == "LogicallyPartitioned" or bool(own))
    return fit_rank(spec, slot, params)


def fit_rank(spec: Any, slot: Slot, params: Mapping[Path, Slot]) -> Any:
    """`spec`, made for a parameter, for a slot of that parameter that may have another rank."""
    from jax.sharding import PartitionSpec

    parameter = params.get(slot.param) if slot.param else None
    if parameter is None or parameter.shape == slot.shape:
        if len(spec) > len(slot.shape):
            if any(e is not None for e in tuple(spec)[len(slot.shape) :]):
                raise SpecError(f"{slot.name}: the spec {spec} has more entries than the shape {slot.shape} has dimensions")
            return PartitionSpec(*tuple(spec)[: len(slot.shape)])
        return spec
    full = tuple(spec) + (None,) * (len(parameter.shape) - len(spec))
    dropped = _dropped_dimension(slot, parameter.shape)
    if dropped is None:
        return PartitionSpec()
    return PartitionSpec(*(e for i, e in enumerate(full) if i != dropped))


def _dropped_dimension(slot: Slot, shape: tuple[int, ...]) -> int | None:
    """Which dimension of the parameter a factored slot (optax.adafactor) lacks, None where that cannot be told."""
    if len(slot.shape) != len(shape) - 1:
        return None
    options = [i for i in range(len(shape)) if shape[:i] + shape[i + 1 :] == slot.shape]
    if len(options) > 1:  # equal sizes: optax averages rows over the largest, columns over the second largest dimension
        order = np.argsort(shape)
        wanted = int(order[-1] if "v_row" in slot.local else order[-2])
        return wanted if wanted in options else options[0]
    return options[0] if options else None


def param_slots(found: Sequence[Slot]) -> dict[Path, Slot]:
    trees = {slot.local[1:]: slot for slot in found if slot.group == "tree" and slot.local[:1] == ("params",)}
    return {**trees, **{slot.local: slot for slot in found if slot.group == "params"}}


def specs_of(found: Sequence[Slot], rules: Rules | None, mesh_axes: Iterable[str] | None) -> dict[Path, Any]:
    """The spec of every slot by path; all that do not fit are listed in one error."""
    params, specs, problems = param_slots(found), {}, []
    axes = None if mesh_axes is None else tuple(mesh_axes)
    for slot in found:
        if slot.group == "empty":
            continue
        try:
            specs[slot.path] = slot_spec(slot, rules, axes, params)
        except SpecError as error:
            problems.append(f"{slot.name}: {error}")
    if problems:
        raise MismatchError("some variables have no valid sharding:", problems)
    return specs


def partition_specs(target: Any, rules: Rules | None = None, *, mesh: Any = None) -> Any:
    """The PartitionSpec of every variable of a model, or of (model, optimizer), as Linen resolves them.

    Args:
        target: an NNX model, a tuple or dict of models and optimizers (concrete or from `nnx.eval_shape`), or their
            state; or the TrainState of a program that keeps its variables outside of the model.
        rules: logical axis rules; those of the context by default.
        mesh: decides which names are mesh axes already; that of `jax.set_mesh` by default.

    Returns:
        An `nnx.State` shaped as `nnx.state(target)` with a `PartitionSpec` in place of each array; for a TrainState one
        like it.

    Raises:
        MismatchError: specs that cannot be, all of them.
    """
    mesh = mesh if mesh is not None else context_mesh()
    specs = specs_of(slots_of(target), rules, mesh.axis_names if mesh is not None and rules is not None else None)
    return _shaped(specs, target)


def _shaped(specs: Mapping[Path, Any], target: Any) -> Any:
    """Specs by path as `nnx.state(target)` has its variables; as the tree itself where the target is one."""
    from flax import nnx

    if not is_tree(target):
        return nnx.from_flat_state(list(specs.items()))
    tree = tree_target(target)
    held: dict[Path, Any] = {slot.variable: slot.value for slot in tree.slots if slot.group == "empty"}
    for slot in tree.slots:
        if slot.group != "empty":
            held[slot.variable] = specs[slot.path]
    return tree.build(held)


def specs_from_linen(state_spec: Any, target: Any) -> Any:
    """A Linen TrainState's spec tree as the specs of an NNX model and optimizer.

    Args:
        state_spec: what the pjit program built with `nn.get_partition_spec`, `logical_to_mesh` or
            `logical_to_mesh_sharding`: a TrainState, or a dict of collections, with PartitionSpecs or NamedShardings as
            leaves, boxed or not. None stands for a replicated leaf, as in pjit.
        target: the NNX model, or (model, optimizer), concrete or abstract, or the function that makes them (it is only
            traced).

    Returns:
        An `nnx.State` shaped as `nnx.state(target)` with the given specs or shardings; for a TrainState one like it.

    Raises:
        MismatchError: keys on either side without a partner.
    """
    from flax import nnx

    if inspect.isroutine(target) or isinstance(target, functools.partial):  # models can be called too
        made = abstract(target)
        found = match_specs(state_spec, made.slots)
        return made.build(found) if made.graphdef is None else nnx.from_flat_state(list(found.items()))
    return _shaped(match_specs(state_spec, slots_of(target)), target)


def match_specs(state_spec: Any, found: Sequence[Slot]) -> dict[Path, Any]:
    """`specs_from_linen`, by path."""
    from jax.sharding import NamedSharding, PartitionSpec

    from .formats.base import Checkpoint, Leaf
    from .keys import match

    entries = _spec_entries(state_spec)
    leaves = {
        key: Leaf(key, (), np.dtype("uint8"), "the spec tree", lambda index: lambda: np.zeros((), "uint8"))
        for key in entries
    }
    from pathlib import Path as FilePath

    wanted = [slot for slot in found if slot.group not in ("rng", "array", "empty")]
    plan = match(wanted, Checkpoint(FilePath("<specs>"), "memory", "spec tree", leaves), strict=False)
    result: dict[Path, Any] = {}
    params = param_slots(found)
    missing = []
    sample = next((s for s in entries.values() if isinstance(s, NamedSharding)), None)
    for slot in found:
        if slot.group == "empty":
            continue
        leaf = plan.sources.get(slot.path)
        if leaf is None:
            if slot.group in ("rng", "array") or (slot.group == "optimizer" and not slot.param):
                result[slot.path] = PartitionSpec() if sample is None else NamedSharding(sample.mesh, PartitionSpec())
            else:
                missing.append(slot)
            continue
        spec = entries[leaf.key]
        if isinstance(spec, NamedSharding):
            result[slot.path] = NamedSharding(spec.mesh, fit_rank(spec.spec, slot, params))
        else:
            result[slot.path] = fit_rank(spec if spec is not None else PartitionSpec(), slot, params)
    extra = ["/".join(k) for k in plan.extra]
    if missing or extra:
        raise MismatchError(
            "the spec tree does not fit the target:",
            [f"{s.name}: no spec (looked for {'/'.join(linen_key(s.linen))})" for s in missing]
            + [f"{name}: a spec, but no variable of the target" for name in extra],
            missing=[s.name for s in missing],
            extra=extra,
        )
    return result


def _spec_entries(tree: Any) -> dict[Key, Any]:
    """Specs by key. A PartitionSpec is a tuple to some versions of jax, hence the leaf test."""
    import jax
    from flax.core import meta
    from jax.sharding import PartitionSpec, Sharding

    from .boxes import key_of

    def leaf(x: Any) -> bool:
        return isinstance(x, (PartitionSpec, Sharding, meta.AxisMetadata)) or x is None

    entries: dict[Key, Any] = {}
    for path, value in jax.tree_util.tree_flatten_with_path(tree, is_leaf=leaf)[0]:
        if isinstance(value, meta.Partitioned):
            inner = value.value
            value = inner if isinstance(inner, (PartitionSpec, Sharding)) else PartitionSpec(*value.names)
        if value is None or isinstance(value, (PartitionSpec, Sharding)):
            entries[key_of(path)] = value
    return entries


@dataclasses.dataclass(frozen=True)
class Placement:
    """The sharding of every slot, by path; None for the default device."""

    shardings: dict[Path, Any]
    mesh: Any


def placement(found: Sequence[Slot], mesh: Any, rules: Rules | None, specs: Any) -> Placement:
    """Where every slot goes.

    Args:
        mesh: None takes that of `jax.set_mesh`, or that of NamedShardings in `specs`; without any, the default device.
        specs: a spec tree of the Linen program, or what `specs_from_linen` made of it; replaces the annotations.

    Raises:
        MismatchError: dimensions that their mesh axes do not divide, unknown mesh axes, specs that do not fit.
    """
    from flax import nnx
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = mesh if mesh is not None else context_mesh()
    by_path: dict[Path, Any]
    if specs is not None:
        if isinstance(specs, nnx.State):
            by_path = {tuple(p): s for p, s in nnx.to_flat_state(specs)}
        else:
            by_path = match_specs(specs, found)
        if mesh is None:
            mesh = next((s.mesh for s in by_path.values() if isinstance(s, NamedSharding)), None)
        if mesh is None:
            raise SpecError("specs= holds PartitionSpecs, which need a mesh: pass mesh= or call under jax.set_mesh(mesh)")
    elif mesh is None:
        return Placement({}, None)
    else:
        by_path = specs_of(found, rules, mesh.axis_names)
    shardings, problems = {}, []
    sizes = dict(zip(mesh.axis_names, mesh.devices.shape))
    for slot in found:
        if slot.group == "empty":
            continue
        spec = by_path.get(slot.path, PartitionSpec())
        if isinstance(spec, NamedSharding):
            spec = spec.spec
        spec = PartitionSpec() if spec is None else spec
        problem = _check(spec, slot, sizes)
        if problem:
            problems.append(problem)
        else:
            shardings[slot.path] = NamedSharding(mesh, spec)
    if problems:
        raise MismatchError("some variables cannot be sharded this way:", problems)
    return Placement(shardings, mesh)


def _check(spec: Any, slot: Slot, sizes: Mapping[str, int]) -> str | None:
    used: set[str] = set()
    for i, entry in enumerate(spec):
        axes = _axes(entry)
        unknown = [a for a in axes if a not in sizes]
        if unknown:
            return f"{slot.name}: {spec} names {', '.join(unknown)}, but the mesh has {', '.join(map(str, sizes))}"
        if used & set(axes):
            return f"{slot.name}: {spec} uses a mesh axis twice"
        used |= set(axes)
        if i >= len(slot.shape):
            return f"{slot.name}: {spec} has more entries than the shape {slot.shape}"
        parts = int(np.prod([sizes[a] for a in axes], dtype=np.int64))
        if slot.shape[i] % parts:
            axis = "*".join(axes)
            return f"{slot.name}: dimension {i} of {slot.shape} is not divisible by {parts}, the size of {axis}"
    return None
