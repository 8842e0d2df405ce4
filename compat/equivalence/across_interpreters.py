"""Comparing a migrated module with Linen code that ran in another interpreter.

An old program may not import on today's stack at all. Its side then runs where it does, in `linen_process`, and leaves
arrays behind; the NNX side is given the same weights and inputs and compared with them. Two versions of jax have no
programs in common, so nothing is proved: the best verdict of what is run is `bitwise`.
"""

from __future__ import annotations

import inspect
import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from ..errors import MismatchError
from ..state import from_linen, to_linen
from .api import rated
from .numbers import Difference, difference, tolerance_of
from .proof import Program
from .report import Check, EquivalenceReport, Verdict
from .worker import added_arguments, native_class, untuple


def reports(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The NNX side of a case, compared with what the Linen side left in `case["linen_results"]`.

    Args:
        case: the fields of a `cases.Case`, with `before`, `after`, `added` and `linen_results`.

    Returns:
        A report for each setting of a training flag, as `worker.run` gives them.
    """
    folder = Path(case["linen_results"])
    said = json.loads((folder / "result.json").read_text())
    arrays = _arrays(folder / "arrays.npz", said["dtypes"])
    cls = native_class(case)
    found = []
    for number, flags in enumerate(said["variants"]):
        label = case["name"] + (f"({', '.join(f'{k}={v}' for k, v in flags.items())})" if flags else "")
        started = time.perf_counter()
        report = EquivalenceReport(label, _Comparison(case, cls, arrays, {**case["call"], **flags}, said).checks(number))
        report.seconds = time.perf_counter() - started
        found.append({**report.to_dict(), "origin": case["origin"], "text": str(report)})
    return found


class _Comparison:
    """One setting of the flags, on every seed of the Linen side."""

    def __init__(
        self, case: Mapping[str, Any], cls: Any, arrays: Mapping[str, Any], call: dict[str, Any], said: Mapping[str, Any]
    ) -> None:
        self.case, self.cls, self.arrays, self.call = case, cls, arrays, call
        self.reason = f"the Linen side ran in another interpreter (jax {said['jax']}, flax {said['flax']})"
        self.found: dict[str, list[Difference]] = {"forward": [], "collections": [], "gradient": []}

    def checks(self, number: int) -> list[Check]:
        seeds = sorted({int(name.split("/")[0]) for name in self.arrays})
        for seed in seeds:
            inputs = list(_tree(self.arrays, f"{seed}/input/").values())
            where = f"{seed}/{number}/"
            variables = _tree(self.arrays, where + "variable/")
            try:
                model = from_linen(variables, self._made(inputs))
            except MismatchError as error:
                return [Check("keys", Verdict.DIFFERENT, str(error))]
            if where + "random" in self.arrays:
                text = "random numbers are drawn, and the keys of another jax cannot be handed over"
                return [_keys(variables), Check("forward", Verdict.UNCHECKED, text, self.reason)]
            wrong = self._run(where, model, inputs)
            if wrong is not None:
                return [_keys(variables), wrong]
        checks = [_keys(variables)]
        if self.case["mesh"] or self.case["rules"]:
            checks.append(Check("specs", Verdict.UNCHECKED, "meshes and rules are not compared across interpreters"))
        return checks + [self._rated(kind, found, len(seeds)) for kind, found in self.found.items() if found]

    def _made(self, inputs: Sequence[Any]) -> Any:
        method = getattr(self.cls, self.case["method"] or "__call__")
        given = added_arguments(self.cls, method, list(inputs), self.call, self.case.get("added") or [])
        if "rngs" in inspect.signature(self.cls.__init__).parameters:
            given["rngs"] = nnx.Rngs(0)
        return self.cls(*untuple(self.case["positional"]), **untuple(self.case["arguments"]), **given)

    def _run(self, where: str, model: Any, inputs: Sequence[Any]) -> Check | None:
        """Run the model on the inputs of one seed, and keep the differences; a check where there is nothing to compare."""
        inputs = [jnp.asarray(value) for value in inputs]
        graphdef, parameters, rest = nnx.split(model, nnx.Param, ...)

        def outputs(parameters: Any) -> tuple[list[Any], Any]:
            merged = nnx.merge(graphdef, parameters, rest, copy=True)
            out = (getattr(merged, self.case["method"]) if self.case["method"] else merged)(*inputs, **self.call)
            nnx.pop(merged, nnx.Intermediate)
            return [jnp.asarray(leaf) for leaf in jax.tree.leaves(out)], nnx.split(merged)

        def score(parameters: Any) -> Any:
            floats = [v for v in outputs(parameters)[0] if jnp.issubdtype(v.dtype, jnp.floating)]
            return sum((jnp.sum(v.astype("float32") ** 2) for v in floats), jnp.zeros(()))

        program = jax.make_jaxpr(lambda p: outputs(p)[0])(parameters)
        # Another version of the compiler may cut its loops otherwise, on either side.
        self.tolerance = 4 * tolerance_of(Program(program, [], []))
        got, after = outputs(parameters)
        wanted = list(_tree(self.arrays, where + "output/").values())
        if len(got) != len(wanted):
            return Check("forward", Verdict.DIFFERENT, f"{len(wanted)} arrays in Linen, {len(got)} in NNX", self.reason)
        self._keep("forward", {str(i): v for i, v in enumerate(wanted)}, {str(i): v for i, v in enumerate(got)})
        updated = _flat(_tree(self.arrays, where + "updated/"))
        self._keep("collections", updated, _flat(to_linen(nnx.merge(*after))))
        gradient = _flat(_tree(self.arrays, where + "gradient/"))
        if gradient:
            slopes = to_linen(nnx.merge(graphdef, jax.grad(score)(parameters), rest, copy=True))
            self._keep("gradient", gradient, _flat(slopes["params"]))
        return None

    def _keep(self, kind: str, wanted: Mapping[str, Any], got: Mapping[str, Any]) -> None:
        for name, value in wanted.items():
            if name in got:
                self.found[kind].append(difference(name, value, got[name], self.tolerance))
            else:
                self.found[kind].append(Difference(name, False, math.inf, 1.0, self.tolerance))

    def _rated(self, kind: str, found: Sequence[Difference], seeds: int) -> Check:
        return rated(kind, found, f"run on both sides, {seeds} seeds", self.reason, [])


def _keys(variables: Mapping[str, Any]) -> Check:
    return Check("keys", Verdict.PROVED, f"{len(_flat(variables))} variables, of the shapes and dtypes of Linen's")


def _arrays(path: Path, dtypes: Mapping[str, str]) -> dict[str, Any]:
    """The arrays of an npz file; it holds no objects, and none would be unpickled."""
    with np.load(path, allow_pickle=False) as loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    return {n: a.view(jnp.dtype(dtypes[n])) if n in dtypes else a for n, a in arrays.items()}


def _tree(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The arrays below `prefix` as nested dicts."""
    tree: dict[str, Any] = {}
    for name, value in arrays.items():
        if name.startswith(prefix):
            *above, last = name.removeprefix(prefix).split("/")
            node = tree
            for step in above:
                node = node.setdefault(step, {})
            node[last] = value
    return tree


def _flat(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in tree.items():
        out.update(_flat(value, (*path, str(key))) if isinstance(value, Mapping) else {"/".join((*path, str(key))): value})
    return out
