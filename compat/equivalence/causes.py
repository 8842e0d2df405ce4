"""What a divergence most likely comes from: the known places where Linen and NNX differ, recognised by their marks.

These are hints for a person, added to what was found; no verdict depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .models import NnxSide
    from .proof import Program, Proof

NORM = (
    "a norm with `dtype`: NNX casts inputs and parameters before the statistics, Linen only the result; "
    "pass a `promote_dtype` that keeps dtypes"
)
ATTENTION = (
    "NNX attention without dropout takes another kernel, and ignores `precision`; "
    "pass an `attention_fn` that multiplies out the weights as Linen does"
)
TRAINS = (
    "running statistics are updated where Linen only reads them: `use_running_average` is unset, and NNX then trains; "
    "pass it or call `model.eval()`"
)
LOST = "running statistics that Linen updates stay as they were: a scan, grad or merge dropped the update"
DROPOUT = (
    "random numbers are drawn on one side only: `deterministic` is unset, and NNX's Dropout is then active; "
    "pass it or call `model.eval()`"
)
GROWS = "the call leaves new state behind (`sow` without `nnx.pop`?): it grows, and retraces, with every call"
CONSTRAINT = (
    "a sharding constraint is lost: made without a mesh in force (`with mesh:` in place of `jax.set_mesh`), or without rules"
)
GRU = "NNX's GRUCell has no bias `hn`: trained weights do not fit it; write the cell out"
WEIGHT_NORM = "NNX's WeightNorm holds its scales as plain arrays, which are never trained; write the wrapper out"


def of_proof(proof: Proof, left: Program, right: Program) -> str:
    """The likely cause of a failed proof, "" where none is recognised."""
    if any(name.startswith("new state/") for name in proof.extra):
        return GROWS
    if any(d.output == "random state" for d in proof.divergences):
        return "a bare `jax.lax.scan` (or a copy of the model) lets no stream advance"
    for divergence in proof.divergences:
        if divergence.output.startswith("batch_stats/"):
            if divergence.left.what.startswith("input"):
                return TRAINS
            if divergence.right.what.startswith("input"):
                return LOST
    draws = ["random_bits" in str(p.jaxpr) for p in (left, right)]
    if draws[0] != draws[1]:
        return DROPOUT
    for divergence in proof.divergences:
        places = (divergence.left.via, divergence.right.via)
        if any("attention" in p for p in places) or "dot_product_attention" in divergence.right.what:
            return ATTENTION
        if any("normalization" in p for p in places) and ("bfloat16" in str(divergence) or "float16" in str(divergence)):
            return NORM
        if "constraint" in divergence.reason:
            return CONSTRAINT
    return ""


def of_keys(missing: Sequence[tuple[Any, ...]], extra: Sequence[tuple[Any, ...]], nnx_side: NnxSide) -> str:
    """The likely cause of keys that do not match."""
    if any(key[-2:] == ("hn", "bias") for key in missing) or any(key[-2:] == ("hn", "kernel") for key in missing):
        return GRU
    held = [label for label, kind in zip(nnx_side.labels, nnx_side.kinds) if kind == "array"]
    if any("scale" in str(key[-1]) for key in missing) and held:
        return WEIGHT_NORM
    del extra
    return ""
