"""Constant folding: what is computed from constants alone is a constant.

Linen computes a causal mask, a table of positions or a scale anew in every call; an NNX module holds it as an array that
its constructor computed. A closed expression denotes one value, so each is put in the place of the expression: it is
evaluated here primitive by primitive, as the constructor does outside of `jit`, and compared by its bytes. (A compiler
may round a table of floats otherwise when it fuses what makes it; that is so of either program.)

Random draws are folded only where the program spells their key (`PRNGKey(42)`, as Fourier features have it): which other key
they take is what `randomness` compares. jax.random's own functions are run compiled, as they are where a constructor
calls them.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

#: Results of more elements stay expressions: a proof holds no arrays of a size that matters.
LIMIT = 1 << 22
_FOLDED = """
abs acos acosh add and argmax argmin asin asinh atan atan2 atanh broadcast_in_dim cbrt ceil clamp concatenate
convert_element_type cos cosh cumlogsumexp cummax cummin cumprod cumsum div dot_general dynamic_slice eq erf
erf_inv exp exp2 expand_dims expm1 floor gather ge gt integer_pow iota is_finite le lgamma log log1p logistic lt
max min mul ne neg not or pad pow reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum rem reshape
rev round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh slice sort sqrt
square squeeze sub tan tanh transpose xor
"""
#: Functions of the values of their operands alone: no draws, no collectives, no programs inside, nothing about layouts.
FOLDED = frozenset(_FOLDED.split())


_OF_KEYS = frozenset(
    {"random_seed", "random_wrap", "random_unwrap", "random_split", "random_fold_in", "random_bits"}
)  # fmt: skip
_COMPILED = frozenset({"jit", "pjit"})


def folded(equation: Any, values: list[Any]) -> list[Any] | None:
    """The results of an equation of `FOLDED` whose operands have these values; None where one is not known."""
    name, params = equation.primitive.name, equation.params
    avals = [v.aval for v in equation.outvars]
    if name not in FOLDED or any(value is None for value in values) or not all(map(_plain, avals)):
        return None
    if name == "broadcast_in_dim" and values[0].ndim == 0:  # without memory
        return [np.broadcast_to(values[0], avals[0].shape)]
    with jax.ensure_compile_time_eval():
        found = equation.primitive.bind(*(jnp.asarray(value) for value in values), **params)
    results = [np.asarray(r) for r in (found if equation.primitive.multiple_results else [found])]
    same = all(r.shape == a.shape and r.dtype == a.dtype for r, a in zip(results, avals, strict=True))
    return results if same else None


def drawn(equation: Any, values: list[Any]) -> list[Any] | None:
    """The results of drawing from a constant key, and of making one; None for anything else."""
    name, params = equation.primitive.name, equation.params
    if any(value is None for value in values) or any(math.prod(v.aval.shape) > LIMIT for v in equation.outvars):
        return None
    with jax.ensure_compile_time_eval():
        if name in _OF_KEYS:
            found = equation.primitive.bind(*(jnp.asarray(value) for value in values), **params)
            return list(found) if equation.primitive.multiple_results else [found]
        if name in _COMPILED and "random_bits" in str(params["jaxpr"]):
            return list(jax.jit(jaxpr_as_fun(params["jaxpr"]))(*(jnp.asarray(value) for value in values)))
    return None


def _plain(aval: Any) -> bool:
    dtype = getattr(aval, "dtype", None)
    if dtype is None or jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
        return False
    return bool(math.prod(aval.shape) <= LIMIT)
