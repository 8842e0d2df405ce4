"""Whole training steps: parameters, optimizer state, collections and metrics after a step, proved or run.

Both steps are plain functions `step(state, *batch) -> (state, metrics)`. States are matched leaf by leaf:

* Linen: a TrainState, or any pytree that holds `params` and, where there is one, `opt_state`.
* NNX: a model with its optimizer, as a tuple in either order, or one `nnx.Module` that holds both. The step may update
  them in place and return only metrics.

A leaf that is kept per parameter (`mu`, `nu`, an average) is labelled by what stands before the parameter's path
and by the
parameter's Linen name, so the way in which optax nests its states decides, not the class that carries them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..sharing import Path, linen_paths
from ..target import group_of
from . import drawing
from .api import UNMATCHED, in_context, judge
from .models import Label, _leaves, abstract, linen_label, linen_path, make_abstract
from .numbers import Runner, any_key, compiled, difference, tolerance_of, weights
from .packed import Packing
from .proof import Program, plain_path, trace
from .report import Check, EquivalenceReport, Verdict

#: Leaves of a Linen train state that are random state.
_RANDOM = ("rng", "key", "dropout_rng", "dropout_key", "rngs")


def check_steps(
    linen_step: Callable[..., Any],
    linen_state: Any,
    nnx_step: Callable[..., Any],
    nnx_target: Any,
    *batch: Any,
    keys: Sequence[Any] = (),
    mesh: Any = None,
    rules: Any = None,
    run: bool = True,
    tolerance: float | None = None,
    name: str = "train step",
) -> EquivalenceReport:
    """Compare one training step of both sides.

    Args:
        linen_step: `linen_step(state, *batch, *keys) -> state` or `(state, metrics)`.
        linen_state: a TrainState, boxed or not, concrete or of shapes (`jax.eval_shape`).
        nnx_step: `nnx_step(*target, *batch) -> metrics`, which updates the target in place; or one that returns
            nothing.
        nnx_target: the tuple `(model, optimizer)` that `nnx_step` takes, or a function that makes it (then only
            traced).
        batch: arguments of both; arrays, or `jax.ShapeDtypeStruct`s of the same shapes.
        keys: random keys that only the Linen step takes, after the batch.
        mesh: in force on both sides while they are traced; an `AbstractMesh` will do for a proof.
        rules: logical axis rules, in force on both sides.
        run: run both on the same values where the proof fails.
        tolerance: relative to the largest value of each output; by default it follows from dtype and depth.
        name: what the report calls the step.

    Returns:
        A report with the checks `keys` (every leaf of the two states has its counterpart) and `step` (the new state
        and the metrics).

    Raises:
        Whatever one of the steps raises while it is traced.
    """
    started = time.perf_counter()
    report = EquivalenceReport(name)
    with in_context(mesh, rules):
        left, right = step_programs(linen_step, linen_state, nnx_step, nnx_target, batch, keys)
        one = {n for n in left.inputs if _is_state(n)}
        two = {n for n in right.inputs if _is_state(n)}
        wrong = [f"missing in NNX: {_text(n)}" for n in sorted(one - two, key=str)]
        wrong += [f"only in NNX: {_text(n)}" for n in sorted(two - one, key=str)]
        detail = "; ".join(wrong) or f"{len(one)} leaves of the state"
        report.checks.append(Check("keys", Verdict.DIFFERENT if wrong else Verdict.PROVED, detail))
        size = sum(_bytes(v.aval) for v in left.jaxpr.jaxpr.invars)
        report.checks += judge("step", left, right, {}, run=run, tolerance=tolerance, size=size, random=bool(keys))
    if mesh is not None:
        report.mesh = dict(mesh.shape)
    report.seconds = time.perf_counter() - started
    return report


def compare_steps(
    left: Program,
    right: Program,
    steps: int,
    *,
    seed: int = 0,
    tolerance: float | None = None,
    losses: dict[str, list[float]] | None = None,
) -> Check:
    """Run `steps` steps of both programs, each on its own state, from the same weights on the same batches.

    Args:
        left, right: programs as `step_programs` makes them: outputs that are also inputs are fed back.
        steps: how many.
        seed: of the weights and batches.
        tolerance: relative to the largest value of each output, for one step; by default it follows from dtype and depth.
        losses: filled with the first scalar metric of each step, for `EquivalenceReport.losses`.

    Returns:
        A check. Programs that draw random numbers are given Linen's key at the draw of the same turn; where that gives
        other numbers, and one key for all draws of a kind does not, it cannot be told which draw answers to which:
        `unchecked`.
    """
    drawn_keys = drawing.draws_at_all(left.jaxpr) and drawing.draws_at_all(right.jaxpr)
    if not drawn_keys:
        return _run_steps(left, right, steps, seed, tolerance, losses, compiled())
    found = _run_steps(left, right, steps, seed, tolerance, losses, drawing.handed_over)
    if found.verdict is Verdict.DIFFERENT:
        alike = _run_steps(left, right, steps, seed, tolerance, None, drawing.alike)
        if alike.verdict in (Verdict.BITWISE, Verdict.CLOSE):
            return Check("steps", Verdict.UNCHECKED, UNMATCHED)
    return found


def _run_steps(
    left: Program,
    right: Program,
    steps: int,
    seed: int,
    tolerance: float | None,
    losses: dict[str, list[float]] | None,
    runner: Runner,
) -> Check:
    shapes = {n: v.aval for p in (right, left) for n, v in zip(p.inputs, p.jaxpr.jaxpr.invars)}
    drawn = weights(shapes, seed)
    states: list[dict[Label, Any]] = [dict(drawn), dict(drawn)]
    limit = (tolerance if tolerance is not None else tolerance_of(left)) * max(1, steps)
    for _ in range(steps):
        operands = []
        for program, state in zip((left, right), states):
            for name, variable in zip(program.inputs, program.jaxpr.jaxpr.invars):
                if name not in state:
                    state[name] = any_key(variable.aval)
            operands.append([
                state[n] if n in program.roots else jnp.asarray(state[n], v.aval.dtype)
                for n, v in zip(program.inputs, program.jaxpr.jaxpr.invars)
            ])  # fmt: skip
        try:
            results = runner(left.jaxpr, operands[0], right.jaxpr, operands[1])
        except drawing.OtherDraws as error:
            return Check("steps", Verdict.DIFFERENT, str(error))
        except drawing.CannotRun as error:
            return Check("steps", Verdict.UNCHECKED, f"random draws, and Linen's keys cannot be handed to NNX: {error}")
        for side, program, state, result in zip(("linen", "nnx"), (left, right), states, results):
            state.update({n: v for n, v in zip(program.outputs, result) if n is not None})
            metric = next((n for n in program.outputs if n and n[0] == "metrics" and np.ndim(state[n]) == 0), None)
            if losses is not None and metric is not None:
                losses.setdefault(side, []).append(float(state[metric]))
    found = [difference(_text(n), states[0][n], states[1][n], limit) for n in left.outputs if n in states[1]]
    worst = max(found, key=lambda d: (not d.close, not d.bitwise, d.maximum))
    verdict = (
        Verdict.BITWISE
        if all(d.bitwise for d in found)
        else Verdict.CLOSE
        if all(d.close for d in found)
        else Verdict.DIFFERENT
    )
    text = f"{steps} steps, largest difference {worst.maximum:.3g} at {worst.output}"
    return Check("steps", verdict, text, differences=[d.to_dict() for d in found])


def step_programs(
    linen_step: Callable[..., Any],
    linen_state: Any,
    nnx_step: Callable[..., Any],
    nnx_target: Any,
    batch: Sequence[Any],
    keys: Sequence[Any] = (),
) -> tuple[Program, Program]:
    """Both steps traced, states labelled alike."""
    from flax import nnx
    from flax.core import meta

    unboxed = jax.tree.map(
        lambda v: v.unbox(apply_constraint=False) if isinstance(v, meta.Partitioned) else meta.unbox(v),
        linen_state,
        is_leaf=lambda v: isinstance(v, meta.AxisMetadata),
    )
    arrays, rebuild = _leaves(tuple(batch))
    shapes = [abstract(a) for a in arrays]
    linen_shapes = jax.tree_util.tree_map_with_path(_state_leaf, unboxed)
    params = linen_params(linen_shapes)

    def linen(state: Any, arrays: Any, keys: Any) -> Any:
        out = linen_step(state, *rebuild(arrays), *keys)
        new, metrics = out if _is_pair(out, state) else (out, None)
        return new, metrics

    def label_left(path: tuple[Any, ...]) -> Label | None:
        if path[0] == 0:
            return _state_label(path[1:], params)
        return ("batch" if path[0] == 1 else "rng", *path[1:])

    def label_left_out(path: tuple[Any, ...]) -> Label | None:
        if path[0] == 1:
            return ("metrics", *path[1:])
        label = _state_label(path[1:], params)
        return None if label[0] == "rng" else label

    key_shapes = [abstract(k) for k in keys]
    left = trace(
        linen,
        linen_shapes,
        shapes,
        key_shapes,
        label=label_left,
        label_output=label_left_out,
        roots=lambda n: n[0] == "rng",
    )
    if callable(nnx_target) and not isinstance(nnx_target, nnx.Module):
        graphdef, state, shared = make_abstract(nnx_target)
    else:
        graphdef, state = nnx.split(nnx_target)
        shared = linen_paths(nnx_target)
    packing = Packing(graphdef, state, {("params", *p) for p in params})
    labels = nnx_labels(state, packing, params, shared)
    by_path = dict(zip(map(repr, packing.paths), labels))
    leaves = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in packing.leaves]

    def native(leaves: Any, arrays: Any) -> Any:
        joined, apart = packing.join(leaves)
        target = nnx.merge(graphdef, joined, copy=True)
        parts = target if isinstance(target, (tuple, list)) else (target,)
        metrics = nnx_step(*parts, *rebuild(arrays))
        after = nnx.split(target)[1]
        return {repr(path): value for path, value in apart(after)}, metrics

    def label_right_out(path: tuple[Any, ...]) -> Label | None:
        if path[0] == 1:
            return ("metrics", *path[1:])
        label = by_path.get(path[1], ("new state", path[1]))
        return None if label[0] == "nnx" else label

    right = trace(
        native,
        leaves,
        shapes,
        label=lambda path: labels[path[1]] if path[0] == 0 else ("batch", *path[1:]),
        label_output=label_right_out,
        roots=lambda n: n[:2] == ("nnx", "rng"),
    )
    shape = jax.eval_shape(native, leaves, shapes)
    right.advances = {
        by_path[path[1]]: i
        for i, path in enumerate(plain_path(p) for p, _ in jax.tree_util.tree_flatten_with_path(shape)[0])
        if path[0] == 0 and path[1] in by_path and by_path[path[1]][:2] == ("nnx", "rng") and "count" in path[1]
    }
    return left, right


def linen_params(state: Any) -> set[Label]:
    """Paths of the parameters of a Linen state."""
    found = set()
    for path, _ in jax.tree_util.tree_flatten_with_path(state)[0]:
        plain = plain_path(path)
        if plain and plain[0] == "params":
            found.add(plain[1:] if len(plain) > 1 and plain[1] != "params" else plain[2:])
    return found


def nnx_labels(state: Any, packing: Packing, params: set[Label], shared: Mapping[Path, Path]) -> list[Label]:
    """A label for each leaf of the state of a model and its optimizer, packed ones in pieces.

    `shared` has Linen's paths of the variables that Linen stores elsewhere, within (model, optimizer) or the model.
    """
    from flax import nnx
    from flax.nnx.training.optimizer import OptState

    values = {tuple(p): v for p, v in nnx.to_flat_state(state)}
    known = {("params", *p) for p in params}
    # The optimizer knows a parameter by its path within the model.
    within = {(p[1:] if isinstance(p[0], int) else p): (q[1:] if isinstance(p[0], int) else q) for p, q in shared.items()}
    labels: list[Label] = []
    for plain in packing.paths:
        stored = packing.stored[plain]
        value = next((values[stored[:i]] for i in range(len(stored), 0, -1) if stored[:i] in values), None)
        group = group_of(value)
        if group in ("rng", "array"):
            labels.append(("nnx", group, *plain))
        elif isinstance(value, OptState):
            at = next((i for i, part in enumerate(plain) if part in ("opt_state", "step")), 0)
            labels.append(_suffix(plain[at:], known, within))
        else:
            labels.append(_model_label(group, linen_path(plain, shared), known))
    return labels


def _model_label(group: str, path: tuple[Any, ...], known: set[Label]) -> Label:
    """Drop the position of the model within the target."""
    for start in range(len(path)):
        label = linen_label(group, path[start:], known)
        if label in known:
            return label
    return linen_label(group, path[1:] if isinstance(path[0], int) else path, known)


def _suffix(path: tuple[Any, ...], known: set[Label], within: Mapping[Path, Path]) -> Label:
    """Label of an optimizer's leaf: the parameter's Linen name at its end, where it is kept per parameter."""
    for start in range(1, len(path)):
        label = linen_label("params", linen_path(path[start:], within), known)
        if label in known:
            return (*map(str, path[:start]), *label)
    return tuple(map(str, path))


def _state_label(path: tuple[Any, ...], params: set[Label]) -> Label:
    """Label of a leaf of a Linen train state."""
    if path and path[0] in _RANDOM:
        return ("rng", "state", *path)
    if path and path[0] == "params":
        return ("params", *(path[2:] if path[1:2] == ("params",) else path[1:]))
    if path and path[0] in ("opt_state", "step"):
        for start in range(1, len(path)):
            tail = path[start + 1 :] if path[start] == "params" and path[start + 1 :] in params else path[start:]
            if tail in params:
                return (*map(str, path[:start]), "params", *tail)
        return tuple(map(str, path))
    return path


def _state_leaf(path: Any, leaf: Any) -> Any:
    """Shape of a state's leaf. `TrainState.step`, a Python int or int32, counts as the uint32 that NNX counts in:
    both are
    incremented by one, so they agree until either overflows."""
    if plain_path(path) == ("step",):
        return jax.ShapeDtypeStruct((), jnp.uint32)
    return abstract(leaf)


def _is_pair(out: Any, state: Any) -> bool:
    return isinstance(out, tuple) and len(out) == 2 and isinstance(out[0], type(state))


def _is_state(label: Label) -> bool:
    return label[0] not in ("batch", "rng", "nnx")


def _bytes(aval: Any) -> int:
    size = getattr(aval, "size", 1) or 1
    return int(size) * int(getattr(aval.dtype, "itemsize", 4))


def _text(label: Any) -> str:
    return "/".join(map(str, label)) if isinstance(label, tuple) else str(label)


__all__ = ["check_steps", "compare_steps", "step_programs"]
