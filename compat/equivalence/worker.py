"""One case, in a process of its own: `python -m nnx_migrate.compat.equivalence.worker CASE.json RESULT.json`.

The two trees hold modules of the same names, so the original is imported and traced first, its modules are
forgotten, and then the
migrated one is. What a module does at import happens here and dies with the process.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import math
import re
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import guessing
from .cases import FLAGS
from .surroundings import Surroundings, apply, difference


def load(root: Path, file: str, cls: str) -> Any:
    """Import `file` below `root` under its package name, and return its class."""
    path = root / file
    package = [path.stem] if path.stem != "__init__" else []
    top = path.parent
    while (top / "__init__.py").is_file() and top != top.parent:
        package.insert(0, top.name)
        top = top.parent
    parts = Path(file).with_suffix("").parts
    # A tree without __init__.py may still import itself from its root (namespace packages): put both on the path.
    for entry in {str(root), str(root / "src"), str(top)}:
        if entry not in sys.path:
            sys.path.insert(0, entry)
    names = [".".join(package)]
    if ".".join(parts) != names[0]:
        names.append(".".join(parts))
    importlib.invalidate_caches()
    return getattr(importlib.import_module(names[0]), cls)


def forget(root: Path) -> None:
    """Drop the modules imported from `root`, and root from the path."""
    prefix = str(root.resolve())
    for name, module in list(sys.modules.items()):
        places = [getattr(module, "__file__", None) or "", *map(str, getattr(module, "__path__", []))]
        if any(place and str(Path(place).resolve()).startswith(prefix) for place in places):
            del sys.modules[name]
    sys.path[:] = [p for p in sys.path if not (p and str(Path(p).resolve()).startswith(prefix))]


def run(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The reports of a case, one for each setting of a training flag."""
    import jax
    import jax.numpy as jnp
    from flax import linen as nn

    from .api import NOT_DETERMINISTIC, check_equivalence, in_context, init_shapes
    from .cases import parse_input
    from .costs import module_costs
    from .models import Call, LinenSide
    from .numbers import size_of
    from .report import Verdict
    from .training import check_training

    before = Path(case["before"])
    inputs = []
    for text in case["inputs"]:
        shape, dtype = parse_input(text)
        key = jax.random.key(0).dtype if dtype == "key" else jnp.dtype(dtype)
        inputs.append(jax.ShapeDtypeStruct(shape, key))
    mesh = None
    if case["mesh"]:
        kinds = (jax.sharding.AxisType.Auto,) * len(case["mesh"])
        mesh = jax.sharding.AbstractMesh(tuple(case["mesh"].values()), tuple(case["mesh"]), axis_types=kinds)
    rules = [tuple(tuple(p) if isinstance(p, list) else p for p in r) for r in case["rules"] or []] or None
    surroundings = Surroundings()
    positional, arguments = untuple(case["positional"]), untuple(case["arguments"])
    recipes: dict[str, Any] = {}
    with surroundings.watched(before) as changed:
        linen_class = load(before, case["file"], case["cls"])
        if case.get("guess"):
            found = guessing.example(linen_class, importlib.import_module)
            recipes, inputs = found.arguments, list(found.inputs.values())
            arguments = guessing.realise(recipes, importlib.import_module)
            case = {**case, "call": {k: v for k, v in found.call.items() if k not in FLAGS}, "example": _described(found)}
        linen = linen_class(*positional, **arguments)
    if not isinstance(linen, nn.Module):
        raise TypeError(f"{case['cls']} of the original is no flax.linen.Module, but {linen_class.__mro__[1].__name__}")
    forget(before)
    with surroundings.watched(Path(case["after"])) as changed_too:
        made_class = native_class(case)
        if recipes:
            arguments = guessing.realise(recipes, importlib.import_module)
    unlike = difference(changed, changed_too)
    if unlike:
        raise Unfit(unlike)
    apply(changed, changed)
    method = getattr(linen_class, case["method"] or "__call__")
    sizes = added_arguments(made_class, method, inputs, case["call"], case.get("added") or [])

    def make() -> Any:
        from flax import nnx

        given = dict(sizes)
        if "rngs" in inspect.signature(made_class.__init__).parameters:
            given["rngs"] = nnx.Rngs(0)
        return made_class(*positional, **arguments, **given)

    reports = []
    for flags in variants(method, case["call"], len(inputs)):
        kwargs = {**case["call"], **flags}
        streams, mutable = list(case["rngs"] or []), list(case["mutable"] or [])
        with in_context(mesh, rules):
            keys = {"params": jax.random.key(0), **{s: jax.random.key(1) for s in streams}}
            for _ in range(8):
                try:
                    variables = init_shapes(linen, keys, tuple(inputs), kwargs, case["method"])
                    break
                except Exception as error:
                    stream = re.search(r'PRNG (?:key )?for "(\w+)"|needs PRNG for "(\w+)"', str(error))
                    if stream is None:
                        raise
                    name = stream[1] or stream[2]
                    keys[name] = jax.random.key(1)
            else:
                raise RuntimeError("init keeps asking for more random streams")
        training = flags.get("train", flags.get("training", flags.get("is_training", not flags.get("deterministic", True))))
        if case["mutable"] is None and training:
            mutable = [c for c in variables if c not in ("params", "intermediates")]
        streams = streams or [k for k in keys if k != "params"] or (["dropout"] if training else [])
        label = case["name"] + (f"({', '.join(f'{k}={v}' for k, v in flags.items())})" if flags else "")
        report = check_equivalence(
            linen,
            variables,
            make,
            *inputs,
            rngs=streams,
            mutable=mutable,
            method=case["method"],
            rules=rules,
            mesh=mesh,
            name=label,
            **kwargs,
        )
        same_variables = report["keys"].verdict is Verdict.PROVED and report["shapes"].verdict is Verdict.PROVED
        if same_variables and not any(NOT_DETERMINISTIC in check.detail for check in report.checks):
            given = (linen, variables, make)
            if training and "params" in variables:
                report.checks += check_training(
                    *given, inputs, kwargs, streams=streams, mutable=mutable, method=case["method"], mesh=mesh, rules=rules,
                    losses=report.losses,
                )  # fmt: skip
            call = Call(tuple(inputs), kwargs, None, None, tuple(mutable), dict.fromkeys(streams), case["method"])
            if case.get("costs", True) and size_of(LinenSide(linen, variables), None, call) < _COMPILED:
                report.costs = module_costs(*given, call, mesh=_real(mesh), rules=rules)
        origin = f"{case['origin']} {case.get('example', '')}".strip()
        reports.append({**report.to_dict(), "origin": origin, "text": str(report)})
    return reports


def native_class(case: Mapping[str, Any]) -> Any:
    """The migrated class of a case. Raises Unfit where it is a Linen module still."""
    from flax import linen as nn

    found = load(Path(case["after"]), case["file"], case["cls"])
    if isinstance(found, type) and issubclass(found, nn.Module):
        raise Unfit(f"{case['cls']} is a Linen module still: the migration's report says why it is bridged")
    return found


class Unfit(Exception):
    """There is nothing to compare; the message says why."""


#: Larger models are proved, but not compiled for their costs.
_COMPILED = 1 << 28


def _real(mesh: Any) -> Any:
    """The mesh of this machine's devices that stands for an abstract one, None where they are too few."""
    import jax

    if mesh is None or math.prod(mesh.shape.values()) > len(jax.devices()):
        return None
    kinds = (jax.sharding.AxisType.Auto,) * len(mesh.shape)
    return jax.make_mesh(tuple(mesh.shape.values()), tuple(mesh.axis_names), axis_types=kinds)


def _described(found: guessing.Example) -> str:
    arguments = ", ".join(f"{k}={getattr(v, '__name__', v)}" for k, v in found.arguments.items())
    inputs = ", ".join(f"{k} {'None' if v is None else f'{v.dtype}{list(v.shape)}'}" for k, v in found.inputs.items())
    return f"({arguments}) on {inputs}"


def variants(method: Any, given: dict[str, Any], taken: int) -> list[dict[str, Any]]:
    """Both settings of a training flag that the call leaves open."""
    parameters = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
    for at, parameter in enumerate(parameters):
        if parameter.name in FLAGS and parameter.name not in given and at >= taken:
            return [{parameter.name: False}, {parameter.name: True}]
    return [{}]


def added_arguments(
    cls: Any, method: Any, inputs: list[Any], call: dict[str, Any], added: list[dict[str, str]]
) -> dict[str, Any]:
    """Sizes that the NNX constructor requires, from the example inputs.

    By the expressions of the migration's report where given, else by the naming contract: `in_features` and
    `in_shape` are of the
    first array, `<argument>_features` and `<argument>_shape` of the argument of that name. Raises TypeError for others.
    """
    parameters = {n: p for n, p in inspect.signature(method).parameters.items() if n != "self"}
    defaults = {n: p.default for n, p in parameters.items() if p.default is not p.empty}
    values = {**defaults, **dict(zip(parameters, inputs)), **call}
    known = {a["name"]: a["from"] for a in added}
    sizes: dict[str, Any] = {}
    for name, parameter in inspect.signature(cls.__init__).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY or parameter.default is not parameter.empty or name == "rngs":
            continue
        if name in known:
            sizes[name] = eval(known[name], {"__builtins__": {"len": len, "max": max, "min": min}}, values)
            continue
        stem, _, kind = name.rpartition("_")
        source: Any = inputs[0] if stem == "in" and inputs else values.get(stem)
        if kind == "features" and hasattr(source, "shape"):
            sizes[name] = source.shape[-1]
        elif kind == "shape" and hasattr(source, "shape"):
            sizes[name] = tuple(source.shape)
        elif kind in ("features", "shape") and stem in values and source is None:
            sizes[name] = None  # of an argument that is left out
        else:
            raise TypeError(f"{cls.__name__} requires `{name}`, which the example does not tell: add it to `arguments`")
    return sizes


def untuple(value: Any) -> Any:
    """JSON and TOML have lists where Linen fields want (hashable) tuples."""
    if isinstance(value, list):
        return tuple(untuple(v) for v in value)
    if isinstance(value, dict):
        return {k: untuple(v) for k, v in value.items()}
    return value


def main(argv: list[str]) -> int:
    """Run one case file; whatever goes wrong is the result."""
    case = json.loads(Path(argv[0]).read_text())
    with contextlib.suppress(OSError):  # where memory runs out this process is to end, not what else the machine does
        Path("/proc/self/oom_score_adj").write_text("1000")
    started = time.perf_counter()
    try:
        if case.get("linen_results"):
            from .across_interpreters import reports

            result: Any = {"reports": reports(case)}
        else:
            result = {"reports": run({**case, "positional": list(untuple(case["positional"]))})}
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        lines = traceback.format_exception(error)
        said = str(error).strip()[:500]
        text = said if isinstance(error, (Unfit, guessing.NoExample)) else f"{type(error).__name__}: {said}"
        result = {"error": text, "traceback": "".join(lines)[-4000:]}
    result["seconds"] = time.perf_counter() - started
    Path(argv[1]).write_text(json.dumps(result, default=str))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
