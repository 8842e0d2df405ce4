"""`check_equivalence` and what is built on it."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from . import causes, constants, drawing, numbers
from .models import Call, LinenSide, NnxSide, abstract, abstract_key, is_array, leaks, opened, programs
from .proof import Program, Proof, prove
from .report import Check, EquivalenceReport, NotEquivalent, Verdict
from .specs import compare_specs

#: What is said of a side whose traces differ from one another.
NOT_DETERMINISTIC = "is not deterministic"
#: Where numbers agree only as long as all draws of a kind share a key.
UNMATCHED = "the same where all draws share a key; which draw of NNX answers to which of Linen cannot be told"


def check_equivalence(
    linen_module: Any,
    variables: Any,
    nnx_module: Any,
    *args: Any,
    rngs: Mapping[str, Any] | Iterable[str] | None = None,
    mutable: Sequence[str] | str = (),
    method: str | None = None,
    rules: Any = None,
    mesh: Any = None,
    gradient: bool = True,
    numbers_if_not_proved: bool = True,
    seeds: int = 3,
    tolerance: float | None = None,
    nnx_args: tuple[Any, ...] | None = None,
    nnx_kwargs: dict[str, Any] | None = None,
    name: str | None = None,
    **kwargs: Any,
) -> EquivalenceReport:
    """Compare a Linen module with the NNX module that is to replace it.

    Nothing is run where the proof succeeds, so it costs a trace, whatever the size of the weights.

    Args:
        linen_module: an unbound Linen module.
        variables: its variables by collection, boxed or not, of the shapes that `init` gives; shapes alone
            (`jax.eval_shape(module.init, …)`) are enough for proofs.
        nnx_module: the NNX module, concrete or abstract, or a function without arguments that makes it; also a model of a
            migrated program that is a `linen_parity.Functional`, or a function that makes one.
        args, kwargs: the call, of both sides; `nnx_args`, `nnx_kwargs` where the NNX call differs. Arrays may be
            `jax.ShapeDtypeStruct`s. Flags such as `train` are arguments like any other.
        rngs: streams that the Linen call draws from: names, or name → key.
        mutable: collections that the Linen call updates.
        method: the method called, `__call__` by default.
        rules: logical axis rules, in force on both sides and used to resolve specs.
        mesh: set with `jax.set_mesh` while both sides are traced; an `AbstractMesh` will do.
        gradient: also compare the vector-Jacobian product with respect to parameters and float arguments.
        numbers_if_not_proved: run both sides on the same random weights where a proof fails.
        seeds: on how many sets of weights and inputs that run is made.
        tolerance: how far apart an output may be, relative to its largest value (1e-5: a hundred-thousandth of it); by
            default it follows from dtype and depth.
        name: what the report calls the pair, the module's class by default.

    Returns:
        A report with the checks `keys`, `shapes`, `forward`, `gradient`, and `specs` where there are any. What raises on
        either side is a check that is `unchecked`, with the error.

    Raises:
        TypeError, ValueError: of `nnx_module()`, where a function is given and does not make a module.
    """
    started = time.perf_counter()
    call = Call(
        args,
        kwargs,
        nnx_args,
        nnx_kwargs,
        (mutable,) if isinstance(mutable, str) else tuple(mutable),
        dict(rngs) if isinstance(rngs, Mapping) else dict.fromkeys(rngs or ()),
        method,
    )
    report = EquivalenceReport(name or type(linen_module).__name__)
    nnx_module = opened(nnx_module, call)
    with in_context(mesh, rules):
        linen = LinenSide(linen_module, variables)
        nnx_side = NnxSide(nnx_module, list(linen.flat))
        if mesh is not None:
            report.mesh = dict(mesh.shape)
        report.checks += _keys_and_shapes(report, linen, nnx_side)
        specs = compare_specs(report, linen, nnx_side, rules, mesh)
        if specs is not None:
            report.checks.append(specs)
        if nnx_side.made_abstract and leaks(nnx_side, call):
            # An array made in the constructor is held where tracing cannot replace it: make the module for real.
            nnx_side = NnxSide(nnx_module(), list(linen.flat))
        for kind in ("forward", "gradient") if gradient else ("forward",):
            report.checks += _compare(kind, linen, nnx_side, call, numbers_if_not_proved, seeds, tolerance)
    report.seconds = time.perf_counter() - started
    return report


def assert_equivalent(*args: Any, at_least: str = "close", **kwargs: Any) -> EquivalenceReport:
    """`check_equivalence`, as an assertion.

    Args:
        args, kwargs: of `check_equivalence`.
        at_least: the worst verdict that passes: `proved`, `bitwise` or `close`.

    Returns:
        The report.

    Raises:
        NotEquivalent: an AssertionError that shows the report and holds it as `report`; also where something is unchecked.
    """
    report = check_equivalence(*args, **kwargs)
    order = list(Verdict)
    if not report.equal or order.index(report.verdict) > order.index(Verdict(at_least)):
        raise NotEquivalent(report)
    return report


def compare_migrated(
    linen_module: Any,
    nnx_factory: Callable[[], Any],
    *args: Any,
    init_rngs: Mapping[str, Any] | None = None,
    init_kwargs: dict[str, Any] | None = None,
    method: str | None = None,
    **options: Any,
) -> EquivalenceReport:
    """`check_equivalence` for a module and example arguments: variables are those of `init`, traced for shapes only.

    Args:
        linen_module: an unbound Linen module.
        nnx_factory: makes the NNX module: `lambda: Net(4, in_features=3, rngs=nnx.Rngs(0))`.
        args, options: as for `check_equivalence`. `init_rngs`: streams needed at init beside `params`.
        init_kwargs: keyword arguments of init where they differ from the call's.

    Returns:
        The report of `check_equivalence`.

    Raises:
        Whatever `linen_module.init` raises on these arguments while it is traced.
    """
    reserved = {
        "rngs", "mutable", "rules", "mesh", "gradient", "numbers_if_not_proved", "seeds", "tolerance", "nnx_args",
        "nnx_kwargs", "name",
    }  # fmt: skip
    kwargs = {k: v for k, v in options.items() if k not in reserved} if init_kwargs is None else init_kwargs
    streams = options.get("rngs") or ()
    keys = {"params": jax.random.key(0), **dict.fromkeys(streams, jax.random.key(1)), **(init_rngs or {})}
    with in_context(options.get("mesh"), None):
        variables = init_shapes(linen_module, keys, args, kwargs, method)
    return check_equivalence(linen_module, variables, nnx_factory, *args, method=method, **options)


def init_shapes(module: Any, keys: Mapping[str, Any], args: Any, kwargs: Any, method: str | None = None) -> Any:
    """`module.init` for shapes only, boxes kept. What is no array is static."""
    flat, structure = jax.tree_util.tree_flatten((args, kwargs))
    at = [i for i, leaf in enumerate(flat) if is_array(leaf)]

    def init(arrays: Sequence[Any]) -> Any:
        filled = list(flat)
        for i, value in zip(at, arrays):
            filled[i] = value
        a, k = jax.tree_util.tree_unflatten(structure, filled)
        return module.init(dict(keys), *a, **({"method": method} if method else {}), **k)

    return jax.eval_shape(init, [abstract(flat[i]) for i in at])


def in_context(mesh: Any, rules: Any) -> Any:
    """The mesh and the rules in force, on both sides alike: Linen's constraints are silently left out without them."""
    import contextlib

    from flax import linen as nn

    stack = contextlib.ExitStack()
    if mesh is not None:
        if isinstance(mesh, jax.sharding.AbstractMesh):
            stack.enter_context(jax.sharding.use_abstract_mesh(mesh))
        else:
            stack.enter_context(jax.set_mesh(mesh))
    if rules is not None:
        stack.enter_context(nn.logical_axis_rules(rules))
    return stack


def _keys_and_shapes(report: EquivalenceReport, linen: LinenSide, nnx_side: NnxSide) -> list[Check]:
    """Every Linen variable has one NNX Variable of its shape and dtype, and the other way about."""
    found = {
        label: (path, leaf)
        for label, path, leaf, kind in zip(nnx_side.labels, nnx_side.paths, nnx_side.leaves, nnx_side.kinds)
        if kind not in ("rng", "array", "intermediates", "perturbations")
    }
    wanted = {k: v for k, v in linen.flat.items() if k[0] not in ("intermediates", "perturbations")}
    missing = [k for k in wanted if k not in found]
    extra = [k for k in found if k not in wanted]
    wrong = []
    for label, leaf in wanted.items():
        row = {
            "linen": "/".join(map(str, label)),
            "linen_shape": f"{leaf.dtype}{list(leaf.shape)}",
            "nnx": "",
            "nnx_shape": "",
        }
        if label in found:
            path, other = found[label]
            row["nnx"], row["nnx_shape"] = "/".join(map(str, path)), f"{other.dtype}{list(other.shape)}"
            if row["nnx_shape"] != row["linen_shape"]:
                wrong.append(f"{row['linen']}: {row['linen_shape']} in Linen, {row['nnx_shape']} in NNX")
        report.variables.append(row)
    for label in extra:
        path, other = found[label]
        report.variables.append(
            {
                "linen": "",
                "linen_shape": "",
                "nnx": "/".join(map(str, path)),
                "nnx_shape": f"{other.dtype}{list(other.shape)}",
            }
        )
    text = [f"missing in NNX: {'/'.join(map(str, k))}" for k in missing] + [
        f"only in NNX: {'/'.join(map(str, k))}" for k in extra
    ]
    return [
        Check(
            "keys",
            Verdict.DIFFERENT if text else Verdict.PROVED,
            "; ".join(text) or f"{len(wanted)} variables",
            causes.of_keys(missing, extra, nnx_side),
        ),
        Check("shapes", Verdict.DIFFERENT if wrong else Verdict.PROVED, "; ".join(wrong) or "shapes and dtypes"),
    ]


def _compare(
    kind: str, linen: LinenSide, nnx_side: NnxSide, call: Call, run: bool, seeds: int, tolerance: float | None
) -> list[Check]:
    try:
        left, right = programs(linen, nnx_side, call, gradient=kind == "gradient")
    except Exception as error:  # whatever the user's program raises belongs in the report
        return [Check(kind, Verdict.UNCHECKED, f"could not be traced: {type(error).__name__}: {str(error)[:300]}")]
    if not any(o is not None for o in left.outputs):
        return [Check(kind, Verdict.PROVED, "nothing to compare: no outputs")]
    given = dict(linen.flat)
    for i, value in enumerate(call.arrays()[0]):
        given[("argument", i)] = value
    given = {k: v for k, v in given.items() if not isinstance(v, jax.ShapeDtypeStruct) and k[0] == "argument"}
    size = numbers.size_of(linen, nnx_side, call)
    checks = judge(kind, left, right, given, run=run, seeds=seeds, tolerance=tolerance, size=size, random=bool(call.rngs))
    if any(check.verdict is Verdict.DIFFERENT for check in checks):
        again = programs(linen, nnx_side, call, gradient=kind == "gradient")
        for side, one, two in zip(("the Linen side", "the NNX side"), (left, right), again):
            if not _same_trace(one, two):
                text = f"{side} {NOT_DETERMINISTIC}: traced twice it gives two programs (numpy's random numbers, the time?)"
                return [dataclasses.replace(checks[0], name=kind, verdict=Verdict.UNCHECKED, detail=text)]
    return checks


def _same_trace(one: Program, two: Program) -> bool:
    """Whether two traces of a program are the same text, addresses apart, with the same constants."""
    texts = {re.sub(r"0x[0-9a-f]+", "", str(p.jaxpr.jaxpr)) for p in (one, two)}
    mine, theirs = ([*p.jaxpr.consts, *_literals(p.jaxpr.jaxpr)] for p in (one, two))
    if len(texts) > 1 or len(mine) != len(theirs):
        return False
    return all(x is y or _bits(x) == _bits(y) for x, y in zip(mine, theirs))


def _literals(jaxpr: Any) -> Iterator[Any]:
    """The constants written into a program, which its text abridges."""
    for equation in jaxpr.eqns:
        yield from (v.val for v in equation.invars if hasattr(v, "val"))
        for inner in drawing.bodies(equation):
            yield from (*getattr(inner, "consts", ()), *_literals(getattr(inner, "jaxpr", inner)))


def _bits(constant: Any) -> bytes:
    typed = jax.dtypes.issubdtype(getattr(constant, "dtype", None), jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(constant) if typed else constant).tobytes()


def judge(
    kind: str,
    left: Program,
    right: Program,
    given: Mapping[Any, Any],
    *,
    run: bool = True,
    seeds: int = 3,
    tolerance: float | None = None,
    size: int = 0,
    random: bool = False,
) -> list[Check]:
    """Prove that two programs are one, and where that fails run both.

    Args:
        kind: what the check is called.
        given: input label → value, where inputs are not to be drawn.
        run: False gives `unchecked` instead of a run.
        seeds, tolerance: as for `check_equivalence`.
        size: bytes of the inputs; beyond `numbers.LIMIT` nothing is run.
        random: the programs may draw random numbers.

    Returns:
        One check; two where the values are proved equal and only annotations differ.
    """
    proof = prove(left, right)
    if proof.proved:
        return [Check(kind, Verdict.PROVED, _size(proof))]
    divergences = [d.to_dict() for d in proof.divergences]
    cause = causes.of_proof(proof, left, right)
    if proof.values_proved:
        note = proof.notes[0] + (f"; likely cause: {cause}" if cause else "")
        return [
            Check(kind, Verdict.PROVED, f"values; {_size(proof)}"),
            Check(f"{kind} annotations", Verdict.DIFFERENT, note, note, divergences),
        ]
    reason = str(proof.divergences[0]).splitlines()[0] if proof.divergences else "other outputs"
    if cause:
        reason = f"{reason}; likely cause: {cause}"
    if proof.missing or proof.extra:
        parts = [f"only Linen has {m}" for m in proof.missing[:5]] + [f"only NNX has {e}" for e in proof.extra[:5]]
        if cause:
            parts.append(f"likely cause: {cause}")
        return [Check(kind, Verdict.DIFFERENT, "; ".join(parts), reason, divergences)]
    if not run:
        return [Check(kind, Verdict.UNCHECKED, "not proved, not run", reason, divergences)]
    if proof.other_streams:
        return [Check(kind, Verdict.DIFFERENT, proof.other_streams, reason, divergences)]
    if any(d.output == "random state" for d in proof.divergences):
        return [Check(kind, Verdict.DIFFERENT, divergences[-1]["reason"], divergences[-1]["reason"], divergences)]
    constant = constants.only_constant(proof, left, right)
    if constant:
        text = f"another constant, else the same computation: {constant}"
        return [Check(kind, Verdict.DIFFERENT, text, text, divergences)]
    if size > numbers.LIMIT:
        return [Check(kind, Verdict.UNCHECKED, f"not proved, and too large to run ({size >> 30} GiB)", reason, divergences)]
    if any(isinstance(v, jax.ShapeDtypeStruct) for v in given.values()):
        return [Check(kind, Verdict.UNCHECKED, "not proved, and no values to run on", reason, divergences)]
    try:
        if random and (drawing.draws_at_all(left.jaxpr) and drawing.draws_at_all(right.jaxpr)):
            return [_with_draws(kind, left, right, given, min(seeds, 2), tolerance, reason, divergences)]
        found = numbers.compare_programs(left, right, given, seeds, tolerance)
    except Exception as error:
        text = f"could not be run: {type(error).__name__}: {str(error)[:300]}"
        return [Check(kind, Verdict.UNCHECKED, text, reason, divergences)]
    return [rated(kind, found, f"{seeds} seeds", reason, divergences)]


def rated(kind: str, found: Sequence[numbers.Difference], how: str, reason: str, divergences: list[dict[str, Any]]) -> Check:
    """The verdict on what was run: the output that is furthest beyond its own tolerance decides, and is the one shown."""
    worst = max(found, key=lambda d: (not d.bitwise, d.maximum / max(d.tolerance * d.scale, 1e-30)))
    verdict = (
        Verdict.BITWISE
        if all(d.bitwise for d in found)
        else Verdict.CLOSE
        if all(d.close for d in found)
        else Verdict.DIFFERENT
    )
    text = f"{how}, furthest apart: {worst.output} by {worst.maximum:.3g}, of {worst.tolerance * worst.scale:.2g} allowed"
    return Check(kind, verdict, text, reason, divergences, [d.to_dict() for d in found])


def _with_draws(
    kind: str,
    left: Program,
    right: Program,
    given: Mapping[Any, Any],
    seeds: int,
    tolerance: float | None,
    reason: str,
    divergences: list[dict[str, Any]],
) -> Check:
    """The verdict on programs that draw random numbers: run with Linen's keys on both sides.

    First with one key for all draws of a kind, which finds any other difference whatever draw answers to which; then
    each draw of NNX with Linen's key of the same turn.
    """

    try:
        first = rated(
            kind,
            numbers.compare_programs(left, right, given, seeds, tolerance, drawing.alike),
            "run on the same draws",
            reason,
            [],
        )
        if first.verdict is Verdict.DIFFERENT:
            return dataclasses.replace(first, divergences=divergences)
        second = rated(
            kind,
            numbers.compare_programs(left, right, given, seeds, tolerance, drawing.handed_over),
            "run with Linen's keys on both sides",
            reason,
            divergences,
        )
    except drawing.OtherDraws as error:
        return Check(kind, Verdict.DIFFERENT, str(error), reason, divergences)
    except drawing.CannotRun as error:
        text = f"random draws, and Linen's keys cannot be handed to NNX: {error}"
        return Check(kind, Verdict.UNCHECKED, text, reason, divergences)
    if second.verdict is Verdict.DIFFERENT:
        return Check(kind, Verdict.UNCHECKED, UNMATCHED, reason, divergences)
    return second


def _size(proof: Proof) -> str:
    keys = f", {proof.keys} random keys matched" if proof.keys else ""
    return f"{len(proof.outputs)} outputs, {proof.terms} terms{keys}"


__all__ = ["abstract_key", "assert_equivalent", "check_equivalence", "compare_migrated", "init_shapes", "judge"]
