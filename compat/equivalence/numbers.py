"""Running both sides on the same weights, where a proof is out of reach."""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .models import Call, LinenSide, NnxSide
from .proof import Label, Program

#: More than this is not allocated for a comparison.
LIMIT = 4 << 30


@dataclasses.dataclass(frozen=True)
class Difference:
    """How far one output of the two sides is apart, over all seeds."""

    output: str
    bitwise: bool
    maximum: float
    scale: float
    tolerance: float
    histogram: tuple[int, ...] = ()  # counts of log10 |difference| in [-12, -11), …, [-1, 0), [0, ∞), exact ones apart

    @property
    def close(self) -> bool:
        return self.bitwise or self.maximum <= self.tolerance * max(self.scale, 1e-30)

    def to_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "close": self.close}


def weights(labels: Mapping[Label, Any], seed: int) -> dict[Label, np.ndarray]:
    """A value for each labelled array: the same label gets the same value on either side.

    Matrices are scaled by their fan-in, so that deep networks neither vanish nor explode; biases are not zero and
    scales
    not one, so that a forgotten or swapped one shows; variances are positive; integers count up from zero. Every third
    seed draws small ones, so that both sides of a threshold are seen (gradients that are clipped, and that are not).
    """
    values: dict[Label, np.ndarray] = {}
    factor = 0.1 if seed % 3 == 1 else 1.0
    for label, like in labels.items():
        shape, dtype = tuple(like.shape), like.dtype
        if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
            continue
        generator = np.random.default_rng([seed, zlib.crc32(repr(label).encode())])
        name = str(label[-1]) if isinstance(label, tuple) else str(label)
        if jnp.issubdtype(dtype, jnp.floating):
            drawn = generator.normal(size=shape)
            if label[0] == "opt_state":
                drawn = np.zeros(shape)  # as an optimizer starts; a negative second moment would make everything NaN
            elif "var" in name:
                drawn = np.abs(drawn) + 0.5
            elif "scale" in name:
                drawn = 1 + 0.1 * drawn
            elif len(shape) >= 2 and label[0] != "argument":
                drawn = factor * drawn / math.sqrt(max(1, math.prod(shape[-2:-1])))
            elif label[0] != "argument":
                drawn = factor * 0.1 * drawn
            else:
                drawn = factor * drawn
            values[label] = drawn.astype(np.float32).astype(dtype)
        elif dtype == np.bool_:
            values[label] = generator.integers(0, 2, shape).astype(np.bool_)
        elif label[0] == "argument":
            values[label] = generator.integers(0, _vocabulary(labels), shape).astype(dtype)
        else:
            values[label] = np.zeros(shape, dtype)
    return values


def _vocabulary(labels: Mapping[Label, Any]) -> int:
    """Integers that every embedding of the model takes."""
    tables = [like.shape[0] for label, like in labels.items() if str(label[-1]) == "embedding" and len(like.shape) == 2]
    return max(2, min(tables, default=8))


#: Runs both programs on their values; both lists of outputs.
Runner = Callable[[Any, Sequence[Any], Any, Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]]


def compiled() -> Runner:
    """Each program as a whole, compiled once."""
    functions: dict[int, Any] = {}

    def run(left: Any, values: Sequence[Any], right: Any, others: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        for program in (left, right):
            if id(program) not in functions:
                functions[id(program)] = jax.jit(jax.extend.core.jaxpr_as_fun(program))
        return functions[id(left)](*values), functions[id(right)](*others)

    return run


def compare_programs(
    left: Program,
    right: Program,
    given: Mapping[Label, Any],
    seeds: int,
    tolerance: float | None = None,
    runner: Runner | None = None,
) -> list[Difference]:
    """Run both programs on the same values for each label and compare their common outputs.

    Args:
        given: label → concrete value, for inputs that are not to be drawn.
        runner: how they are run, compiled by default; see `drawing` for programs that draw random numbers.
    """
    runner = runner or compiled()
    worst: dict[Label, Difference] = {}
    for seed in range(seeds):
        shapes = {n: v.aval for p in (right, left) for n, v in zip(p.inputs, p.jaxpr.jaxpr.invars)}
        drawn = {
            **weights(shapes, seed),
            **(given if seed == 0 else {k: v for k, v in given.items() if k[0] != "argument" or _whole(v)}),
        }
        operands = []
        for program in (left, right):
            values = []
            for name, variable in zip(program.inputs, program.jaxpr.jaxpr.invars):
                value = program.constants.get(name, drawn.get(name))
                if value is None:
                    value = any_key(variable.aval)
                values.append(value if not isinstance(value, np.ndarray) else jnp.asarray(value, variable.aval.dtype))
            operands.append(values)
        results = runner(left.jaxpr, operands[0], right.jaxpr, operands[1])
        outputs = [dict(zip(program.outputs, result)) for program, result in zip((left, right), results)]
        limit = tolerance if tolerance is not None else tolerance_of(left)
        for name in left.outputs:
            if name is None or name not in outputs[1]:
                continue
            found = difference(
                "/".join(map(str, name)) if isinstance(name, tuple) else str(name),
                outputs[0][name],
                outputs[1][name],
                limit,
            )
            before = worst.get(name)
            if before is None or (found.bitwise, -found.maximum) < (before.bitwise, -before.maximum):
                worst[name] = found
    return list(worst.values())


def any_key(aval: Any) -> Any:
    """Keys for inputs that hold some but from which nothing that is compared is drawn."""
    key = jax.random.key(0)
    return jax.random.split(key, aval.shape) if aval.shape else key


def _whole(value: Any) -> bool:
    """Integer arguments keep the values given: another seed has no business to invent token ids."""
    return not jnp.issubdtype(jnp.result_type(value), jnp.floating)


def difference(name: str, left: Any, right: Any, tolerance: float) -> Difference:
    """Compare two arrays. Another shape or dtype is an infinite difference, and so is NaN on one side only; where
    all is NaN
    on both sides nothing was compared, which counts as different too."""
    a, b = np.asarray(left), np.asarray(right)
    if a.shape != b.shape or a.dtype != b.dtype:
        return Difference(name, False, math.inf, 1.0, tolerance)
    if a.size and jnp.issubdtype(a.dtype, jnp.floating) and np.isnan(a).all():
        return Difference(name, False, math.inf, 1.0, tolerance)
    if a.tobytes() == b.tobytes():
        return Difference(name, True, 0.0, float(np.max(np.abs(a.astype(np.float64)), initial=0.0)), tolerance)
    x, y = a.astype(np.float64), b.astype(np.float64)
    if (np.isnan(x) != np.isnan(y)).any():
        return Difference(name, False, math.inf, 1.0, tolerance)
    apart = np.abs(np.nan_to_num(x - y))
    counts = np.histogram(np.log10(np.maximum(apart[apart > 0], 1e-12)), bins=[*range(-12, 1), 99])[0]
    scale = float(np.max(np.abs(np.nan_to_num(x)), initial=0.0))
    same = bool((apart == 0).all())
    return Difference(name, same, float(apart.max(initial=0.0)), scale, tolerance, tuple(map(int, counts)))


def tolerance_of(program: Program) -> float:
    """Relative tolerance: 8 units in the last place of the coarsest float in use, times the root of the number of
    reductions
    (errors of independent roundings add like a random walk)."""
    coarsest, reductions = 0.0, 0
    stack = [program.jaxpr.jaxpr]
    while stack:
        for equation in stack.pop().eqns:
            reductions += equation.primitive.name in ("dot_general", "conv_general_dilated", "reduce_sum", "cumsum")
            for variable in equation.outvars:
                dtype = getattr(variable.aval, "dtype", None)
                if dtype is not None and jnp.issubdtype(dtype, jnp.floating):
                    coarsest = max(coarsest, float(jnp.finfo(dtype).eps))
            for value in equation.params.values():
                for inner in value if isinstance(value, (tuple, list)) else (value,):
                    found = getattr(inner, "jaxpr", inner)
                    if hasattr(found, "eqns"):
                        stack.append(found)
    return 8 * (coarsest or 1.2e-7) * math.sqrt(max(1, reductions))


def size_of(linen: LinenSide, nnx_side: NnxSide | None, call: Call) -> int:
    """Bytes of the weights of one side."""
    leaves = [*jax.tree.leaves(linen.variables), *call.arrays()[0]]
    return sum(int(math.prod(leaf.shape)) * leaf.dtype.itemsize for leaf in leaves if hasattr(leaf, "dtype"))
