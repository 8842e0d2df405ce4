"""Where every variable lies, on both sides, as Linen resolves logical names."""

from __future__ import annotations

from typing import Any

import jax

from ..boxes import read_box
from ..specs import partition_specs, resolve
from ..target import is_variable
from .freeze import spec_key
from .models import Label, LinenSide, NnxSide
from .proof import plain_path
from .report import Check, EquivalenceReport, Verdict


def linen_specs(linen: LinenSide, rules: Any, mesh_axes: Any) -> dict[Label, Any]:
    """Label → PartitionSpec of each boxed Linen variable; unboxed ones have an empty spec."""
    from flax.core import meta

    specs: dict[Label, Any] = {}
    named = _names_beside(linen.boxed)
    leaves = jax.tree_util.tree_flatten_with_path(linen.boxed, is_leaf=lambda v: isinstance(v, meta.AxisMetadata))[0]
    for path, leaf in leaves:
        box = read_box(leaf) if isinstance(leaf, meta.AxisMetadata) else None
        if box is None:
            names = named.get(plain_path(path))
            specs[plain_path(path)] = (
                jax.sharding.PartitionSpec()
                if names is None
                else resolve(names, rules, mesh_axes if rules else None, logical=bool(rules))
            )
            continue
        logical = type(leaf).__name__ == "LogicallyPartitioned"
        own = getattr(leaf, "rules", None) or rules
        specs[plain_path(path)] = resolve(
            leaf.names, own if logical else None, mesh_axes if logical and own else None, logical=logical and bool(own)
        )
    return specs


def _names_beside(variables: Any) -> dict[Label, tuple[Any, ...]]:
    """Logical names that `param_with_axes` keeps in a collection beside: `params_axes/kernel_axes` of `params/kernel`."""
    from flax import traverse_util

    found: dict[Label, tuple[Any, ...]] = {}
    for collection, tree in variables.items():
        if not collection.endswith("_axes") or collection.removesuffix("_axes") not in variables:
            continue
        for path, leaf in traverse_util.flatten_dict(dict(tree)).items():
            names = getattr(leaf, "names", None)
            if names is not None:
                own = (collection.removesuffix("_axes"), *path[:-1], str(path[-1]).removesuffix("_axes"))
                found[own] = tuple(names)
    return found


def nnx_specs(nnx_side: NnxSide, rules: Any, mesh: Any) -> dict[Label, Any]:
    """Label → PartitionSpec of each NNX Variable."""
    from flax import nnx

    flat = {tuple(p): s for p, s in nnx.to_flat_state(partition_specs(nnx_side.state, rules, mesh=mesh))}
    specs = {}
    for label, path in zip(nnx_side.labels, nnx_side.paths):
        value = flat.get(nnx_side.stored[path])
        if value is not None:
            specs[label] = value.get_value() if is_variable(value) else value
    return specs


def compare_specs(report: EquivalenceReport, linen: LinenSide, nnx_side: NnxSide, rules: Any, mesh: Any) -> Check | None:
    """Compare the spec of every variable that both sides have. None where neither side has any."""
    axes = tuple(mesh.axis_names) if mesh is not None else None
    try:
        left, right = linen_specs(linen, rules, axes), nnx_specs(nnx_side, rules, mesh)
    except Exception as error:
        return Check("specs", Verdict.UNCHECKED, f"{type(error).__name__}: {str(error)[:300]}")
    if not any(spec_key(s) for s in [*left.values(), *right.values()]):
        return None
    wrong = []
    for row in report.variables:
        label = tuple(row["linen"].split("/")) if row["linen"] else None
        label = next((k for k in left if "/".join(map(str, k)) == row["linen"]), label)
        if label is None or label not in right or label not in left:
            continue
        row["linen_spec"], row["nnx_spec"] = str(left[label]), str(right[label])
        if spec_key(left[label]) != spec_key(right[label]):
            wrong.append(f"{row['linen']}: {row['linen_spec']} in Linen, {row['nnx_spec']} in NNX")
    return Check("specs", Verdict.DIFFERENT if wrong else Verdict.PROVED, "; ".join(wrong) or f"{len(left)} specs")
