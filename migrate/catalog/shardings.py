"""Linen's sharding functions and what stands for them: the same call on another function, in most cases.

`linen_parity.` names are helpers of the generated module, which resolve logical rules as Linen does. Sources: flax
0.12.8, `flax/linen/spmd.py`, `flax/linen/partitioning.py`, `flax/core/meta.py`.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Move:
    """`target` takes the same arguments; `keywords` are those that are called otherwise there."""

    target: str
    keywords: dict[str, str] = dataclasses.field(default_factory=dict)


_CONSTRAINT = Move("linen_parity.with_logical_constraint", {"logical_axis_resources": "names"})
_AXES = Move("linen_parity.logical_to_mesh_axes", {"array_dim_names": "names"})
_RULES = Move("flax.nnx.logical_axis_rules")
_SET = Move("flax.core.spmd.set_logical_axis_rules")
_GET = Move("flax.core.spmd.get_logical_axis_rules")

MOVES: dict[str, Move] = {
    "flax.linen.with_logical_constraint": _CONSTRAINT,
    "flax.linen.partitioning.with_sharding_constraint": _CONSTRAINT,
    "flax.linen.partitioning.with_logical_constraint": _CONSTRAINT,
    "flax.linen.logical_to_mesh_axes": _AXES,
    "flax.linen.partitioning.logical_to_mesh_axes": _AXES,
    "flax.linen.logical_to_mesh": Move("linen_parity.logical_to_mesh"),
    "flax.linen.partitioning.logical_to_mesh": Move("linen_parity.logical_to_mesh"),
    "flax.linen.logical_to_mesh_sharding": Move("linen_parity.logical_to_mesh_sharding"),
    "flax.linen.logical_axis_rules": _RULES,
    "flax.linen.partitioning.axis_rules": _RULES,
    "flax.linen.set_logical_axis_rules": _SET,
    "flax.linen.partitioning.set_axis_rules": _SET,
    "flax.linen.get_logical_axis_rules": _GET,
    "flax.linen.partitioning.get_axis_rules": _GET,
    "flax.linen.RulesFallback": Move("linen_parity.RulesFallback"),
    "flax.linen.partitioning.RulesFallback": Move("linen_parity.RulesFallback"),
    "flax.linen.get_partition_spec": Move("linen_parity.get_partition_spec"),
    "flax.linen.partitioning.get_axis_names": Move("linen_parity.get_axis_names", {"axes_metadata": "axes"}),
    "flax.linen.partitioning.AxisMetadata": Move("linen_parity.AxisMetadata"),
    "flax.linen.meta.replace_boxed": Move("linen_parity.replace_boxed"),
    "flax.linen.meta.add_axis": Move("linen_parity.add_axis"),
    "flax.linen.meta.remove_axis": Move("linen_parity.remove_axis"),
    "flax.linen.get_sharding": Move("linen_parity.get_sharding"),
    "flax.linen.PARTITION_NAME": Move("flax.nnx.PARTITION_NAME"),
}
# Functions over trees of variables, which only mean the same where these hold no Linen boxes.
OF_TREES = frozenset(
    {
        "flax.linen.get_partition_spec",
        "flax.linen.get_sharding",
        "flax.linen.meta.replace_boxed",
        "flax.linen.meta.add_axis",
        "flax.linen.meta.remove_axis",
        "flax.linen.partitioning.get_axis_names",
        "flax.linen.partitioning.AxisMetadata",
    }
)
# Where no variable has logical names, these are enough.
PLAIN: dict[str, str] = {
    "flax.linen.get_partition_spec": "flax.nnx.get_partition_spec",
    "flax.linen.get_sharding": "flax.nnx.get_named_sharding",
}

# Left to a person, with what to do.
MANUAL: dict[str, str] = {
    "flax.linen.Partitioned": "an NNX variable carries its names as out_sharding: nnx.Param(value, out_sharding=names)",
    "flax.linen.LogicallyPartitioned": "make the variable through linen_parity.with_logical_partitioning",
    "flax.linen.meta.AxisMetadata": "keep what the box says as metadata of an nnx.Variable subclass",
    "flax.linen.meta.map_axis_meta": "use jax.tree.map with is_leaf=lambda x: isinstance(x, nnx.Variable)",
    "flax.linen.partitioning.scan_with_axes": "use nnx.scan with transform_metadata",
    "flax.linen.partitioning.vmap_with_axes": "use nnx.vmap with transform_metadata",
    "flax.linen.partitioning.param_with_axes": "make the parameter through linen_parity.with_logical_partitioning",
    "flax.linen.partitioning.variable_with_axes": "give the nnx.Variable its names as out_sharding",
}
