"""Programs that are the same but for a constant: an epsilon, a momentum, a scale.

Running them says little: another epsilon may hide within any tolerance. So the constant at which a proof parts is put in
the place of the other one, and where the proof then holds, that constant is the whole difference.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from .proof import Program, Proof, prove

#: Constants nearer than this are one number, rounded on the way: `1 / sqrt(64)` in double precision here, in single there.
_ROUNDING = 1e-6


def only_constant(proof: Proof, left: Program, right: Program) -> str:
    """The constants in which alone the programs differ, as text; "" where there is more, or nothing, of the kind."""
    changed: list[tuple[float, float]] = []
    fixed = right
    for _ in range(4):
        pair = _constants(proof)
        if pair is None or pair in changed:
            return ""
        changed.append(pair)
        fixed = dataclasses.replace(fixed, jaxpr=_replaced(fixed.jaxpr, pair[1], pair[0]))
        proof = prove(left, fixed)
        if proof.values_proved:
            apart = [(a, b) for a, b in changed if abs(a - b) > _ROUNDING * max(abs(a), abs(b))]
            return "; ".join(f"{a:g} in Linen, {b:g} in NNX" for a, b in apart)
    return ""


def _constants(proof: Proof) -> tuple[float, float] | None:
    for divergence in proof.divergences:
        if divergence.reason == "another constant":
            try:
                return _number(divergence.left.what), _number(divergence.right.what)
            except ValueError:
                return None
    return None


def _number(text: str) -> float:
    """`1e-06:float32` → the number."""
    return float(text.rpartition(":")[0])


def _replaced(closed: Any, old: float, new: float) -> Any:
    return ClosedJaxpr(_within(closed.jaxpr, old, new), closed.consts)


def _within(jaxpr: Any, old: float, new: float) -> Any:
    def operand(value: Any) -> Any:
        if not isinstance(value, Literal) or np.shape(value.val) != ():
            return value
        dtype = value.aval.dtype
        if not np.issubdtype(dtype, np.floating) or dtype.type(value.val) != dtype.type(old):
            return value
        return Literal(dtype.type(new), value.aval)

    def parameter(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return _replaced(value, old, new)
        if isinstance(value, Jaxpr):
            return _within(value, old, new)
        if isinstance(value, (tuple, list)):
            return type(value)(parameter(v) for v in value) if not hasattr(value, "_fields") else value
        return value

    equations = [
        e.replace(invars=[operand(v) for v in e.invars], params={k: parameter(v) for k, v in e.params.items()})
        for e in jaxpr.eqns
    ]
    return jaxpr.replace(eqns=equations, outvars=[operand(v) for v in jaxpr.outvars])


__all__ = ["only_constant"]
