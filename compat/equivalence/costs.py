"""What the compiled programs cost: FLOPs, memory, collectives, and where their outputs lie, side by side.

Figures for a person: they belong to this machine's compiler, and no verdict depends on them.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Mapping
from typing import Any

import jax

from .api import in_context
from .compare import label_text
from .models import Call, LinenSide, NnxSide, opened, programs
from .proof import Program
from .specs import linen_specs, nnx_specs

_COLLECTIVE = re.compile(r"= \S+ (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\(")


def compiled_costs(program: Program, shardings: Mapping[Any, Any] | None = None) -> dict[str, Any]:
    """Compile a program and read off its costs.

    Args:
        shardings: label → sharding of an input; the others are left to the compiler.

    Returns:
        `flops`, `bytes`, `peak` (bytes of arguments, results and temporaries, less what is shared), `collectives` (name →
        count) and `outputs` (label → PartitionSpec, where there is more than one device).
    """
    given = shardings or {}
    shapes = [
        jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, sharding=given.get(name))
        for name, v in zip(program.inputs, program.jaxpr.jaxpr.invars)
    ]
    compiled = jax.jit(jax.extend.core.jaxpr_as_fun(program.jaxpr)).lower(*shapes).compile()
    found = compiled.cost_analysis() or {}
    counted: Mapping[str, float] = found[0] if isinstance(found, (list, tuple)) else found
    memory = compiled.memory_analysis()
    costs: dict[str, Any] = {
        "flops": int(counted.get("flops", 0)),
        "bytes": int(counted.get("bytes accessed", 0)),
        "collectives": dict(collections.Counter(m[1] for m in _COLLECTIVE.finditer(compiled.as_text() or ""))),
    }
    if memory is not None:
        sizes = (memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.temp_size_in_bytes)
        costs["peak"] = int(sum(sizes) - memory.alias_size_in_bytes)
    places = jax.tree.leaves(compiled.output_shardings)
    costs["outputs"] = {
        label_text(name): str(place.spec)
        for name, place in zip(program.outputs, places)
        if name is not None and isinstance(place, jax.sharding.NamedSharding) and place.mesh.size > 1
    }
    return costs


def module_costs(
    linen_module: Any, variables: Any, nnx_module: Any, call: Call, *, mesh: Any = None, rules: Any = None
) -> dict[str, Any]:
    """Forward and gradient of both modules, compiled for `mesh` with every variable where its spec says."""
    found = {}
    with in_context(mesh, rules):
        linen = LinenSide(linen_module, variables)
        native = NnxSide(opened(nnx_module, call), list(linen.flat))
        places: Any = (None, None)
        if mesh is not None:
            axes = tuple(mesh.axis_names)
            one, two = linen_specs(linen, rules, axes), nnx_specs(native, rules, mesh)
            places = tuple({k: jax.sharding.NamedSharding(mesh, s) for k, s in specs.items()} for specs in (one, two))
        for kind in ("forward", "gradient"):
            found[kind] = side_by_side(*programs(linen, native, call, gradient=kind == "gradient"), places)
    return found


def side_by_side(left: Program, right: Program, shardings: tuple[Any, Any] = (None, None)) -> dict[str, Any]:
    """The costs of both programs; `{"error": …}` for one that does not compile here."""
    costs = {}
    for side, program, given in zip(("linen", "nnx"), (left, right), shardings):
        try:
            costs[side] = compiled_costs(program, given)
        except Exception as error:  # an abstract mesh, no kernel for this platform: the reason is what is told
            costs[side] = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
    return costs


__all__ = ["compiled_costs", "module_costs", "side_by_side"]
