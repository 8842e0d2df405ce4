"""Names and idioms of flax.nnx 0.8 to 0.11 that flax 0.12.8 has renamed, changed or dropped.

Sources: the flax changelog and the installed flax 0.12.8; `tests/migrate/rules/test_early_nnx.py` looks the names up.
"""

from __future__ import annotations

# Old name → new name, drop-in.
RENAMED = {
    "flax.nnx.VariableState": "flax.nnx.Variable",
    "flax.nnx.GraphNode": "flax.nnx.Pytree",
    "flax.nnx.Metrics": "flax.nnx.MultiMetric",
    "flax.nnx.register_variable_name_type_pair": "flax.nnx.register_variable_name",
    "flax.nnx.ToNNX": "flax.nnx.bridge.ToNNX",
    "flax.nnx.ToLinen": "flax.nnx.bridge.ToLinen",
    "flax.nnx.functional": "flax.nnx.bridge.functional",
    "flax.nnx.abstract_with_sharding": "flax.nnx.as_abstract",
}
# Modules that flax.nnx used to live in.
MOVED_MODULES = {"flax.experimental.nnx": "flax.nnx"}

_VARIABLES = "Variable VariableState Param BatchStat Cache Intermediate Perturbation RngState RngKey RngCount LoRAParam"
VARIABLE_TYPES = frozenset(f"flax.nnx.{name}" for name in _VARIABLES.split())
# Keywords of a variable or of with_metadata that named its sharding.
SHARDING_KEYWORDS = ("sharding", "sharding_names")
# Functions of flax.nnx: what kind of thing they answer.
ANSWERS = {
    "flax.nnx.state": "state",
    "flax.nnx.variables": "state",
    "flax.nnx.merge": "model",
    "flax.nnx.clone": "model",
    "flax.nnx.Optimizer": "optimizer",
    "flax.nnx.ModelAndOptimizer": "optimizer",
}
# Attributes of nnx layers that are variables.
LAYER_VARIABLES = frozenset({"kernel", "bias", "scale", "embedding", "mean", "var", "cached_key", "cached_value"})
# Own attributes of a Variable: assigning any other one sets metadata.
VARIABLE_ATTRIBUTES = frozenset({"value", "raw_value"})
