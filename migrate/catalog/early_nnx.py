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
_LIFTED = "it is a function today: "
# Names that are gone, without a drop-in successor: what to do.
GONE = {
    "flax.nnx.Scan": _LIFTED
    + "make the layers with nnx.vmap over split rngs in the constructor, and go through them with nnx.scan in the call",
    "flax.nnx.Vmap": _LIFTED
    + "make the members with nnx.vmap over split rngs in the constructor, and call them with nnx.vmap",
    "flax.nnx.Remat": _LIFTED + "construct the module itself, and call nnx.remat(type(module).__call__)(module, x)",
    "flax.nnx.Jit": _LIFTED + "construct the module itself, and call it in a function under nnx.jit",
    "flax.nnx.Pmap": _LIFTED + "make the members with nnx.vmap over split rngs, and call them with nnx.pmap",
    "flax.nnx.fork": "decorate the function with nnx.split_rngs(splits=n), or give it rngs.fork(split=n)",
    "flax.nnx.ForkStates": "nnx.split_rngs keeps what it has split by itself",
    "flax.nnx.with_sharding_constraint": "jax.lax.with_sharding_constraint(x, spec) under jax.set_mesh; it takes mesh axes, "
    "and raises without a mesh, where nnx's did nothing",
    "flax.nnx.EMPTY": "write None, or leave the attribute out",
    "flax.nnx.Empty": "write None, or leave the attribute out",
}
# Methods of flax 0.8.0 to 0.8.2 (flax.experimental.nnx) that modules, structures, states and streams had: what to write.
GONE_METHODS = {
    "split": "nnx.split(module, ...), which gives the structure first and the states after it",
    "merge": "nnx.merge(graphdef, state, ...)",
    "apply": "today it gives (out, (graphdef, state)): the structure comes first",
    "update": "nnx.update(module, state)",
    "get_state": "nnx.state(module)",
    "extract": "nnx.state(module, filter) of a module, state.filter(filter) of a state",
    "partition": "nnx.split(module, ...) of a module, state.split(...) of a state",
    "fork": "rngs.fork(split=n), or nnx.split_rngs(splits=n) around the function",
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
